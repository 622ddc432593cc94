"""Holds a model against the answer it was made of."""

from typing import Any


def find_lost(said: Any, known: Any, place: str = "") -> list[str]:
    """What is in an answer and not, or not the same, in the model made of it."""
    if isinstance(said, dict):
        missing = [f"{place}.{name}" for name in said if name not in known]
        return missing + [
            path for name in said if name in known for path in find_lost(said[name], known[name], f"{place}.{name}")
        ]
    if isinstance(said, list):
        assert len(said) == len(known), place
        return [path for left, right in zip(said, known, strict=True) for path in find_lost(left, right, f"{place}[]")]
    if isinstance(said, str) and isinstance(known, str):
        return [] if said in (known, known.replace("T", " ")) else [f"{place}: {said} is not {known}"]
    return [] if said == known else [f"{place}: {said} is not {known}"]
