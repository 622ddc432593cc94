"""What each field is worth: every field is filled by a connector, and the page that says by which is up to date."""

from pathlib import Path

import pytest
from field_sources import RESOURCES, Sources, find_sources, find_unfilled, render

PAGE = Path(__file__).parents[3] / "docs" / "fields.md"


@pytest.fixture(scope="module")
def sources() -> Sources:
    return find_sources()


def test_every_field_is_filled_by_a_connector_or_by_kontor(sources):
    assert find_unfilled(sources) == []


def test_a_field_that_nobody_fills_is_named(sources):
    unfilled = sources | {"Position": sources["Position"] | {"wkn": set()}}
    assert "Position.wkn" in find_unfilled(unfilled)
    assert "Position.wkn" not in find_unfilled(sources)


def test_fields_of_kontor_are_fields_of_their_resource():
    for name, (shape, own) in RESOURCES.items():
        assert own <= set(shape.__struct_fields__), name


def test_the_page_about_fields_is_up_to_date(sources, request):
    """Write it again: `./dev fields`."""
    if request.config.getoption("--write-fields"):
        PAGE.write_text(render(sources), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == render(sources)
