"""White label: what a tenant may choose for its web form, and what is refused."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from kontor.connectors.catalogue.svg import MAX_SVG, UnsafeSvgError, sanitise_svg
from kontor.domain.callbacks import parse_callback
from kontor.domain.colours import DARK, LIGHT, MIN_CONTRAST, PRIMARY, contrast, is_colour
from kontor.domain.errors import ConflictError, InvalidError
from kontor.domain.redirects import Branding
from kontor.domain.tenants import check_text

COLOUR_NAMES = ("primary", "background", "surface", "text")
MAX_NAME_LENGTH = 60
MAX_LEGAL_LENGTH = 20_000
MAX_LINK_LENGTH = 500
MAX_LICENCE_LENGTH = 200
_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class BrandingChange:
    """What is to change; None stays as it is. `is_reset` begins from Kontor's own design."""

    display_name: str | None = None
    logo: bytes | None = None
    colours: dict[str, str] | None = None
    legal_text: str | None = None
    legal_version: str | None = None
    frame_origins: tuple[str, ...] | None = None
    imprint_url: str | None = None
    privacy_url: str | None = None
    licence: str | None = None
    is_reset: bool = False


def check_change(change: BrandingChange, before: Branding) -> None:
    if change.display_name is not None:
        if not change.display_name.strip():
            raise InvalidError("must not be empty", "--display-name")
        check_text(change.display_name, "--display-name", MAX_NAME_LENGTH)
    if change.legal_version is not None:
        check_text(change.legal_version, "--legal-version", 40)
    if change.legal_text is not None:
        _check_legal_text(change, before)


def _check_legal_text(change: BrandingChange, before: Branding) -> None:
    """Users agreed to a version: another text under the same number would be one they never saw."""
    assert change.legal_text is not None
    if not change.legal_text.strip():
        raise InvalidError("must not be empty", "--legal-text")
    check_text(
        change.legal_text.replace("\r", "").replace("\n", " ").replace("\t", " "), "--legal-text", MAX_LEGAL_LENGTH
    )
    if change.legal_text != before.legal_text and change.legal_version in (None, before.legal_version):
        raise ConflictError("A new legal text needs a new --legal-version, so that users are asked again.")


def merge_notes(change: BrandingChange, before: dict[str, str]) -> dict[str, str]:
    """What stands at the foot of every page. An empty text removes it."""
    given = {
        "imprint": _check_link(change.imprint_url, "--imprint-url"),
        "privacy": _check_link(change.privacy_url, "--privacy-url"),
        "licence": _check_licence(change.licence),
    }
    merged = before | {name: value for name, value in given.items() if value is not None}
    return {name: value for name, value in merged.items() if value}


def _check_link(text: str | None, option: str) -> str | None:
    """An address that people can be led to."""
    if not text:
        return text
    check_text(text, option, MAX_LINK_LENGTH)
    split = urlsplit(text)
    if split.scheme != "https" or not split.hostname or split.username is not None or not text.isascii():
        raise InvalidError("expected an https address, such as https://app.example/imprint", option)
    return text


def _check_licence(text: str | None) -> str | None:
    if text:
        check_text(text, "--licence", MAX_LICENCE_LENGTH)
    return None if text is None else text.strip()


def clean_logo(data: bytes) -> bytes:
    """An SVG written anew from what is harmless in it, or a PNG as it is."""
    if data.startswith(_PNG):
        if len(data) > MAX_SVG:
            raise InvalidError(f"at most {MAX_SVG // 1024} kB are allowed", "--logo")
        return data
    try:
        return sanitise_svg(data)
    except UnsafeSvgError as error:
        raise InvalidError(f"expected a PNG or a plain SVG; {error}", "--logo") from None


def check_colours(colours: dict[str, str]) -> dict[str, str]:
    """Known names, hexadecimal, and readable on each other in light and in dark mode."""
    for name, value in colours.items():
        if name.removeprefix("dark-") not in COLOUR_NAMES:
            known = ", ".join((*COLOUR_NAMES, *(f"dark-{known_name}" for known_name in COLOUR_NAMES)))
            raise InvalidError(f"{name} is none of {known}", "--colour")
        if not is_colour(value):
            raise InvalidError(f"{name} must look like #005ea8, and {value[:20]!r} does not", "--colour")
    _check_contrast({"primary": PRIMARY} | LIGHT | colours, "")
    dark = {name.removeprefix("dark-"): value for name, value in colours.items() if name.startswith("dark-")}
    if dark:
        # Without a colour of its own the dark mode's primary is made readable when it is drawn.
        _check_contrast(DARK | dark, "dark-")
    return {name: value.lower() for name, value in colours.items()}


def _check_contrast(colours: dict[str, str], prefix: str) -> None:
    for upper, lower in (
        ("text", "background"),
        ("text", "surface"),
        ("primary", "surface"),
        ("primary", "background"),
    ):
        if upper not in colours:
            continue
        ratio = contrast(colours[upper], colours[lower])
        if ratio < MIN_CONTRAST:
            pair = f"{prefix}{upper} on {prefix}{lower}"
            raise InvalidError(f"{pair} has a contrast of {ratio:.1f}:1, and {MIN_CONTRAST}:1 is needed", "--colour")


def check_origin(text: str) -> str:
    """An origin as browsers write it: `https://app.example`, without a path."""
    parts = parse_callback(text, "--frame-origin")
    split = urlsplit(text)
    if parts.path or split.query or (parts.scheme == "http" and not parts.is_loopback):
        raise InvalidError("expected an https origin without a path, such as https://app.example", "--frame-origin")
    host = f"[{parts.host}]" if ":" in parts.host else parts.host
    is_default = split.port in (None, {"https": 443, "http": 80}[parts.scheme])
    return f"{parts.scheme}://{host}" + ("" if is_default else f":{split.port}")
