"""Colours, logos and origins: what a tenant may choose, and that it can always be read."""

import re

import pytest

from kontor.domain.colours import BLACK, MIN_CONTRAST, WHITE, contrast, make_readable, mix, readable_on
from kontor.domain.errors import ConflictError, InvalidError
from kontor.domain.redirects import Branding
from kontor.services.identity.branding import BrandingChange, check_change, check_colours, check_origin, clean_logo
from kontor.webform.theme import make_theme

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1" fill="#123456"/></svg>'
READ_ON = [("text", "background"), ("text", "surface"), ("muted", "surface"), ("muted-out", "background")]


def test_contrast_is_that_of_the_guideline():
    assert contrast(WHITE, BLACK) == pytest.approx(21)
    assert contrast("#767676", WHITE) == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("background", [WHITE, BLACK, "#777777", "#808080", "#ff0000", "#00ff00", "#1f5fbf"])
def test_there_is_a_readable_colour_for_every_background(background):
    assert contrast(readable_on(background), background) >= MIN_CONTRAST
    for colour in ("#ffff00", "#0000ff", "#777777"):
        assert contrast(make_readable(colour, background), background) >= MIN_CONTRAST


def test_mixing():
    assert mix(BLACK, WHITE, 0.5) == "#808080"
    assert mix("#123456", WHITE, 0) == "#123456"


@pytest.mark.parametrize(
    "colours",
    [
        {"primary": "#005ea8"},
        {"primary": "#7a0019", "background": "#fff8f0"},
        {"background": "#101010", "surface": "#202020", "text": "#eeeeee", "primary": "#9ecbff"},
        {"dark-primary": "#ffcc00", "dark-background": "#000000"},
    ],
)
def test_a_theme_can_be_read_in_light_and_dark(colours):
    theme = make_theme(Branding("x", colours=tuple(sorted(check_colours(colours).items()))))
    for block in re.findall(r":root\{([^}]*)\}", theme):
        values = dict(re.findall(r"--([a-z-]+):(#[0-9a-f]{6});", block))
        assert contrast(values["on-primary"], values["primary"]) >= MIN_CONTRAST
        assert contrast(values["primary"], values["surface"]) >= MIN_CONTRAST
        for upper, lower in READ_ON:
            assert contrast(values[upper], values[lower]) >= MIN_CONTRAST, (upper, lower)


def test_without_colours_there_is_no_theme():
    assert make_theme(Branding("x")) == ""


@pytest.mark.parametrize(
    ("colours", "message"),
    [
        ({"primary": "red"}, "must look like"),
        ({"primary": "#fff"}, "must look like"),
        ({"primary": "#005ea8;}body{display:none"}, "must look like"),
        ({"border": "#005ea8"}, "is none of"),
        ({"primary": "#ffff00"}, "contrast of 1.1:1"),
        ({"text": "#cccccc"}, "text on background"),
        ({"dark-text": "#333333"}, "dark-text on dark-background"),
    ],
)
def test_other_colours_are_refused_in_one_sentence(colours, message):
    with pytest.raises(InvalidError, match=message):
        check_colours(colours)


def test_a_logo_is_written_anew_or_refused():
    assert b"#123456" in clean_logo(SVG)
    assert clean_logo(b"\x89PNG\r\n\x1a\nrest") == b"\x89PNG\r\n\x1a\nrest"
    for bad in (
        SVG.replace(b"<rect", b"<script>1</script><rect"),
        b"GIF89a",
        b"",
        b"\x89PNG\r\n\x1a\n" + b"x" * 200_000,
    ):
        with pytest.raises(InvalidError):
            clean_logo(bad)


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://app.example", "https://app.example"),
        ("https://APP.example/", "https://app.example"),
        ("https://app.example:443", "https://app.example"),
        ("https://app.example:8443", "https://app.example:8443"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
    ],
)
def test_an_origin_is_kept_as_browsers_write_it(text, origin):
    assert check_origin(text) == origin


@pytest.mark.parametrize(
    "text",
    [
        "http://app.example",
        "https://app.example/path",
        "https://*.example",
        "*",
        "https://a.example 'none'",
        "app.example",
        "https://a.example;script-src *",
        "https://user@a.example",
        "javascript:alert(1)",
    ],
)
def test_what_is_no_origin_is_refused(text):
    with pytest.raises(InvalidError):
        check_origin(text)


def test_a_new_legal_text_needs_a_new_version():
    before = Branding("x", legal_text="old", legal_version="1")
    check_change(BrandingChange(legal_text="new\n\ntext", legal_version="2"), before)
    check_change(BrandingChange(legal_text="old"), before)
    for version in (None, "1"):
        with pytest.raises(ConflictError):
            check_change(BrandingChange(legal_text="new", legal_version=version), before)
