"""A tenant's branding on the command line."""

from kontor.domain.errors import InvalidError
from kontor.domain.redirects import Branding


def list_branding_facts(branding: Branding) -> dict[str, object]:
    return {
        "name": branding.tenant_name,
        "displayName": branding.display_name,
        "logo": branding.has_logo,
        "colours": [f"{name}={value}" for name, value in branding.colours],
        "legalText": branding.legal_text,
        "legalVersion": branding.legal_version,
        "frameOrigins": list(branding.frame_origins),
        "imprintUrl": branding.find_note("imprint"),
        "privacyUrl": branding.find_note("privacy"),
        "licence": branding.find_note("licence"),
    }


def split_colour(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidError(f"expected a name and a colour such as primary=#005ea8, not {text!r}", "--colour")
    return name.strip(), value.strip()
