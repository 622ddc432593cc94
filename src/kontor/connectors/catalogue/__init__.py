"""The provider catalogue: every German bank with its login form, a search over them, and their logos."""

from kontor.connectors.catalogue.banks import list_groups
from kontor.connectors.catalogue.catalogue import Catalogue
from kontor.connectors.catalogue.logos import draw_logo, find_logo, logo_for
from kontor.connectors.catalogue.providers import (
    DEMO_PROVIDER,
    DEMO_PROVIDER_ID,
    find_aspsps,
    load_catalogue,
    provider_id,
)

__all__ = [
    "DEMO_PROVIDER",
    "DEMO_PROVIDER_ID",
    "Catalogue",
    "draw_logo",
    "find_aspsps",
    "find_logo",
    "list_groups",
    "load_catalogue",
    "logo_for",
    "provider_id",
]
