"""Rules that every template and script of the console keeps."""

import re
from pathlib import Path

import pytest

import kontor.console
from kontor.console.rendering import load_assets
from page_rules import find_unsafe

PACKAGE = Path(kontor.console.__file__).parent
TEMPLATES = sorted((PACKAGE / "templates").glob("*.html"))
SCRIPTS = [name for name in load_assets().names() if name.endswith(".js") and name != "chart.js"]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_templates_have_nothing_inline_nothing_unescaped_and_nothing_from_elsewhere(template):
    assert find_unsafe(template.read_text(encoding="utf-8"), allows_data=True) == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_small_and_make_no_markup_from_texts(name):
    content = load_assets().read(name)
    assert len(content) < 15_000
    assert not re.search(
        rb"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|https?://", content
    )


def test_the_room_knows_nothing_but_the_api():
    """The console has no way to data of its own. `kontor.services.runtime` is the business date alone."""
    allowed = ("kontor.console", "kontor.pages", "kontor.config", "kontor.domain", "kontor.services.runtime")
    for file in PACKAGE.rglob("*.py"):
        for module in re.findall(
            r"^(?:from|import) (kontor\.[a-z_.]+)", file.read_text(encoding="utf-8"), re.MULTILINE
        ):
            assert module.startswith(allowed), f"{file.name} imports {module}"
