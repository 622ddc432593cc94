"""Languages that a caller accepts (RFC 9110, 12.5.4)."""

from collections.abc import Collection

DEFAULT_LANGUAGE = "de"
FALLBACK_LANGUAGE = "en"  # of what a language has no text for
REVIEWED_LANGUAGES = ("de", "en")  # the others were not yet read by a native speaker


def choose_language(header: str, known: Collection[str]) -> str:
    """The first known language that the header accepts, by its weights; else the default one."""
    return next((name for name in list_accepted(header) if name in known), DEFAULT_LANGUAGE)


def list_accepted(header: str) -> list[str]:
    """Languages without their regions, the best first; `*` is among them as it is."""
    weighted = []
    for place, part in enumerate(header.split(",")[:20]):
        name, _, weight = part.strip().partition(";")
        try:
            quality = float(weight.strip().removeprefix("q=") or 1)
        except ValueError:
            quality = 0.0
        if quality > 0:
            weighted.append((-quality, place, name.strip().lower().partition("-")[0]))
    return [name for _, _, name in sorted(weighted)]
