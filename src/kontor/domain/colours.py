"""Colours as `#rrggbb`, and how well one can be read on another (WCAG 2.2, 1.4.3)."""

import re

MIN_CONTRAST = 4.5
WHITE, BLACK = "#ffffff", "#000000"
# The web form's own, where a tenant has chosen none.
PRIMARY = "#1f5fbf"
LIGHT = {"background": "#f4f6f9", "surface": "#ffffff", "text": "#1b2430"}
DARK = {"background": "#12161c", "surface": "#1b2129", "text": "#e9edf2"}
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def is_colour(text: str) -> bool:
    return _COLOUR.fullmatch(text) is not None


def contrast(left: str, right: str) -> float:
    lighter, darker = sorted((_luminance(left), _luminance(right)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def mix(colour: str, other: str, share: float) -> str:
    """`share` of the other colour in this one."""
    parts = zip(_parts(colour), _parts(other), strict=True)
    return "#" + "".join(f"{round((1 - share) * left + share * right):02x}" for left, right in parts)


def readable_on(background: str) -> str:
    """White or black: one of the two can be read on anything."""
    return WHITE if contrast(WHITE, background) >= MIN_CONTRAST else BLACK


def make_readable(colour: str, background: str) -> str:
    """The colour, moved towards white or black until it can be read."""
    towards = WHITE if contrast(WHITE, background) > contrast(BLACK, background) else BLACK
    for step in range(20):
        shade = mix(colour, towards, step / 20)
        if contrast(shade, background) >= MIN_CONTRAST:
            return shade
    return towards


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _luminance(colour: str) -> float:
    shares = (part / 255 for part in _parts(colour))
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
