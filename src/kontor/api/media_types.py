"""Which of several forms of an answer the caller prefers (RFC 9110, section 12.5.1)."""

from collections.abc import Sequence

from kontor.api.answers import PROBLEM_JSON, HttpError


def choose_media_type(accept: str | None, offered: Sequence[str]) -> str:
    """The first of `offered` without a wish, or where several are wished for alike. 406 where none is accepted."""
    if not accept or not accept.strip():
        return offered[0]
    ranges = [_read_range(part) for part in accept.split(",")]
    best, chosen = 0.0, None
    for media_type in offered:
        weight = _find_weight(media_type, ranges)
        if weight > best:
            best, chosen = weight, media_type
    if chosen is None:
        raise HttpError(406, f"Only {', '.join(offered)} are served.")
    return chosen


def _read_range(text: str) -> tuple[str, float]:
    name, *parameters = (part.strip().lower() for part in text.split(";"))
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "q":
            try:
                return name, float(value)
            except ValueError:
                return name, 0.0
    return name, 1.0


def _find_weight(media_type: str, ranges: Sequence[tuple[str, float]]) -> float:
    """That of the most precise range; a caller of problem details takes JSON too."""
    main = media_type.partition("/")[0]
    names = [media_type, *([PROBLEM_JSON] if media_type == "application/json" else []), f"{main}/*", "*/*"]
    for name in names:
        found = [weight for range_name, weight in ranges if range_name == name]
        if found:
            return max(found)
    return 0.0
