"""Amounts, numbers and pictures as pages show them; assets that stay small and load nothing from elsewhere."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from kontor.domain.login_formats import compile_format
from kontor.domain.redirects import Branding
from kontor.pages.formatting import embed_picture, format_amount, format_bank_code, format_iban, is_numeric
from kontor.webform import rendering
from kontor.webform.rendering import load_assets, make_policy
from page_rules import find_unsafe

TEMPLATES = sorted((Path(rendering.__file__).parent / "templates").glob("*.html"))


@pytest.mark.parametrize(
    ("amount", "currency", "german", "english"),
    [
        ("1234.5", "EUR", "1.234,50 €", "€1,234.50"),
        ("-295.98", None, "−295,98 €", "−\u2060€295.98"),
        ("0", "CHF", "0,00 CHF", "CHF 0.00"),
        ("1000000", "USD", "1.000.000,00 $", "$1,000,000.00"),
    ],
)
def test_amounts(amount, currency, german, english):
    assert format_amount(Decimal(amount), currency, "de") == german
    assert format_amount(Decimal(amount), currency, "en") == english


def test_numbers_are_grouped():
    assert format_iban("DE50999999997788611701") == "DE50 9999 9999 7788 6117 01"
    assert format_bank_code("37050198") == "370 501 98"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("#8", True), ("#~11", True), ("^[0-9]{5,10}$", True), ("|8", False), ("##-##", False), (r"^\S.{0,63}$", False)],
)
def test_number_keys_are_shown_for_digits_only(text, expected):
    assert is_numeric(compile_format(text).html_pattern()) is expected


@pytest.mark.parametrize(
    ("data", "kind"),
    [(b"\x89PNG\r\n\x1a\nx", "png"), (b"\xff\xd8\xff\xe0", "jpeg"), (b"GIF89a..", "gif"), (b"GIF87a..", "gif")],
)
def test_pictures_are_told_by_their_first_bytes(data, kind):
    picture = embed_picture(data)
    assert picture is not None
    assert picture.startswith(f"data:image/{kind};base64,")


@pytest.mark.parametrize(
    "data", [None, b"", b"<svg onload=x()>", b"<html>", b"RIFF....WEBP", b"\x89PNG\r\n\x1a\n" * 99_999]
)
def test_no_other_picture_is_shown(data):
    assert embed_picture(data) is None


def test_frames_are_allowed_for_listed_origins_only():
    assert "frame-ancestors 'none'" in make_policy(Branding("x"))
    assert make_policy(Branding("x", frame_origins=("https://a.example", "https://b.example"))).endswith(
        "frame-ancestors https://a.example https://b.example"
    )


def test_the_policy_has_no_inline_code_and_no_other_host():
    policy = make_policy(Branding("x"))
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "http" not in policy


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_templates_have_nothing_inline_nothing_unescaped_and_nothing_from_elsewhere(template):
    assert find_unsafe(template.read_text(encoding="utf-8")) == []


def test_assets_are_small_and_load_nothing():
    assets = {name: load_assets().read(name) for name in load_assets().names()}
    assert set(assets) == {"palette.css", "form.css", "form.js", "flicker.js", "embed.js"}
    assert len(assets["form.css"]) < 20_000
    assert sum(map(len, assets.values())) < 60_000
    for name, content in assets.items():
        assert not re.search(rb"url\(|@import|https?://|eval\(|innerHTML|document\.write", content), name
