"""Logos: an operator's own file where there is one, otherwise a drawn monogram.

Bank logos are trademarks and no free collection has those of German banks, so none are shipped. An operator who may
use them puts SVG files into a folder, named by provider id, bank code, BIC or group (`sparkasse.svg`).
"""

import colorsys
import hashlib
import re
from pathlib import Path
from xml.sax.saxutils import escape

from kontor.connectors.catalogue.search import fold
from kontor.connectors.catalogue.svg import MAX_SVG, UnsafeSvgError, sanitise_svg
from kontor.domain.providers import Provider

MIN_CONTRAST = 4.5  # WCAG 2.2, 1.4.3
_WORD = re.compile(r"[^\W_]+")
_SKIPPED_WORDS = frozenset(
    {"ag", "am", "an", "d", "der", "des", "die", "eg", "für", "im", "in", "kg", "u", "und", "von"}
)
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_GROUP_LETTERS = {
    "Demo-Bank": "D",
    "Sparkasse": "S",
    "Volksbanken Raiffeisenbanken": "VR",
    "comdirect": "com",
    "norisbank": "nb",
}


def logo_for(provider: Provider, folder: Path | None = None) -> bytes:
    """A logo in any case."""
    return (folder and find_logo(folder, provider)) or draw_logo(provider)


# Drawing


def draw_logo(provider: Provider) -> bytes:
    letters = monogram(provider)
    size = {1: 36, 2: 28}.get(len(letters), 20)
    title = escape(_NO_XML.sub("", provider.name))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64" role="img">'
        f"<title>{title}</title>"
        f'<rect width="64" height="64" rx="12" fill="{colour(provider.group or provider.name)}"/>'
        '<text x="32" y="32" dy="0.35em" text-anchor="middle" fill="#ffffff" font-weight="600" '
        f'font-size="{size}" font-family="system-ui, Segoe UI, Roboto, Helvetica, Arial, sans-serif">'
        f"{escape(letters)}</text></svg>\n"
    ).encode()


def monogram(provider: Provider) -> str:
    """One to three letters, of the group where there is one, since a group shares its logo."""
    known = _GROUP_LETTERS.get(provider.group or "")
    if known:
        return known
    words = [word for word in _WORD.findall(provider.group or provider.name) if word.lower() not in _SKIPPED_WORDS]
    if not words:
        return "?"
    if len(words[0]) <= 3 and (words[0].isupper() or words[0].isdecimal()):
        return str(words[0])
    capitals = [letter for letter in words[0] if letter.isupper()]
    if len(words) == 1 and 1 < len(capitals) <= 3:
        return "".join(capitals)
    return "".join(word[0].upper() for word in words[:3])[:3]


def colour(text: str) -> str:
    """A colour that white letters can be read on, always the same for the same text."""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    hue = int.from_bytes(digest[:2]) / 0x10000
    saturation = 0.45 + digest[2] / 255 * 0.3
    lightness = 0.5
    while True:
        red, green, blue = colorsys.hls_to_rgb(hue, lightness, saturation)
        shade = f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"
        if contrast_with_white(shade) >= MIN_CONTRAST:
            return shade
        lightness -= 0.02


def contrast_with_white(shade: str) -> float:
    """The contrast ratio of WCAG between `#rrggbb` and white."""
    parts = (int(shade[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


# Finding


def find_logo(folder: Path, provider: Provider) -> bytes | None:
    """The operator's logo for this provider, cleaned; None when there is none, or none that is safe to serve."""
    for name in _file_names(provider):
        data = _read(folder / f"{name}.svg")
        if data is None:
            continue
        try:
            return sanitise_svg(data)
        except UnsafeSvgError:
            continue
    return None


def _file_names(provider: Provider) -> list[str]:
    names = (str(provider.id), provider.bank_code, provider.bic, group_slug(provider.group or ""))
    return [name for name in names if name and name.replace("-", "").isalnum()]


def group_slug(group: str) -> str:
    return "-".join(fold(word) for word in _WORD.findall(group))


def _read(path: Path) -> bytes | None:
    """None for what cannot be read, and for more than a logo could need."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SVG + 1)
    except OSError:
        return None
    return data if len(data) <= MAX_SVG else None
