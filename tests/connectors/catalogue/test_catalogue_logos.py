"""Logos: the drawn ones are valid and readable, foreign ones are cleaned or refused."""

import re
from collections import defaultdict
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from catalogue_view import EVERYTHING

from kontor.connectors.catalogue import DEMO_PROVIDER, draw_logo, find_logo, logo_for
from kontor.connectors.catalogue.logos import colour, contrast_with_white, group_slug, monogram
from kontor.connectors.catalogue.svg import MAX_SVG, UnsafeSvgError, sanitise_svg

PROVIDERS = EVERYTHING.list()
# One of each group, and some of those that belong to none: they differ in name only.
SOME = [*{provider.group: provider for provider in PROVIDERS}.values(), *PROVIDERS[::9]]
SPARKASSE = next(provider for provider in PROVIDERS if provider.bank_code == "37050198")
NS = "{http://www.w3.org/2000/svg}"


def svg(inside="", root=""):
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"{root}>{inside}</svg>'.encode()


def test_logos_are_valid_and_have_the_name_as_title_and_readable_letters():
    for provider in SOME:
        root = ElementTree.fromstring(draw_logo(provider))
        assert [child.tag for child in root] == [f"{NS}title", f"{NS}rect", f"{NS}text"]
        assert root.find(f"{NS}title").text == provider.name
        assert re.fullmatch(r"[^\W_]{1,3}", root.find(f"{NS}text").text), provider.name
        assert contrast_with_white(root.find(f"{NS}rect").get("fill")) >= 4.5


def test_every_provider_has_a_monogram_of_letters():
    assert all(re.fullmatch(r"[^\W_]{1,3}", monogram(provider)) for provider in PROVIDERS)


def test_drawn_logos_pass_their_own_check():
    for provider in PROVIDERS[::50]:
        sanitise_svg(draw_logo(provider))


def test_a_group_shares_colour_and_letters_and_big_groups_differ():
    drawn = defaultdict(set)
    for provider in PROVIDERS:
        if provider.group:
            drawn[provider.group].add((monogram(provider), colour(provider.group)))
    assert all(len(looks) == 1 for looks in drawn.values())
    big = ("Sparkasse", "Volksbanken Raiffeisenbanken", "Deutsche Bank", "Commerzbank", "Postbank", "ING", "DKB")
    assert len({colour(group) for group in big}) == len(big)


def test_the_logo_is_the_same_every_time():
    assert draw_logo(SPARKASSE) == draw_logo(replace(SPARKASSE))
    assert monogram(SPARKASSE) == "S"


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "A & B \"quoted\" 'Bank'", "]]>", "\x00\x07\ud800Bank", "", "!!!", "ẞ😀"]
)
def test_hostile_names_are_drawn_as_text(name):
    root = ElementTree.fromstring(draw_logo(replace(DEMO_PROVIDER, name=name, group=None)))
    assert [child.tag for child in root] == [f"{NS}title", f"{NS}rect", f"{NS}text"]


def test_colours_of_any_text_are_readable():
    assert all(contrast_with_white(colour(str(number))) >= 4.5 for number in range(500))


def test_contrast_is_that_of_the_standard():
    assert contrast_with_white("#000000") == pytest.approx(21)
    assert contrast_with_white("#ffffff") == pytest.approx(1)
    assert contrast_with_white("#767676") == pytest.approx(4.54, abs=0.01)


# Operators' own files


@pytest.mark.parametrize("name", [str(SPARKASSE.id), "37050198", "COLSDE33XXX", "sparkasse"])
def test_own_logos_are_found_by_id_bank_code_bic_or_group(tmp_path, name):
    (tmp_path / f"{name}.svg").write_bytes(svg('<circle r="4"/>'))
    assert find_logo(tmp_path, SPARKASSE) == logo_for(SPARKASSE, tmp_path)
    assert b"circle" in logo_for(SPARKASSE, tmp_path)


def test_the_most_specific_own_logo_wins(tmp_path):
    (tmp_path / "sparkasse.svg").write_bytes(svg('<circle r="4"/>'))
    (tmp_path / "37050198.svg").write_bytes(svg('<rect width="4"/>'))
    assert b"rect" in find_logo(tmp_path, SPARKASSE)


def test_an_unsafe_file_gives_way_to_the_next_and_at_last_to_the_monogram(tmp_path):
    (tmp_path / "37050198.svg").write_bytes(svg("<script/>"))
    assert find_logo(tmp_path, SPARKASSE) is None
    assert logo_for(SPARKASSE, tmp_path) == draw_logo(SPARKASSE)
    (tmp_path / "sparkasse.svg").write_bytes(svg('<circle r="4"/>'))
    assert b"circle" in logo_for(SPARKASSE, tmp_path)


@pytest.mark.parametrize("content", [b"", b"no svg", b"\x89PNG\r\n\x1a\n", b"\xff\xfe<\x00", b" " * (MAX_SVG + 1)])
def test_files_that_are_no_svg_fall_back_to_the_monogram(tmp_path, content):
    (tmp_path / "37050198.svg").write_bytes(content)
    assert logo_for(SPARKASSE, tmp_path) == draw_logo(SPARKASSE)


def test_folders_and_missing_folders_fall_back_to_the_monogram(tmp_path):
    (tmp_path / "37050198.svg").mkdir()
    assert logo_for(SPARKASSE, tmp_path) == draw_logo(SPARKASSE)
    assert logo_for(SPARKASSE, tmp_path / "missing") == draw_logo(SPARKASSE)
    assert logo_for(SPARKASSE) == draw_logo(SPARKASSE)


def test_a_group_cannot_name_a_file_outside_of_the_folder(tmp_path):
    (tmp_path / "secret.svg").write_bytes(svg('<circle r="4"/>'))
    (tmp_path / "logos").mkdir()
    sly = replace(SPARKASSE, group="../secret", bank_code="../secret", bic="..\\secret")
    assert find_logo(tmp_path / "logos", sly) is None
    assert group_slug("Volksbanken Raiffeisenbanken") == "volksbanken-raiffeisenbanken"


NASTY = {
    "script": svg("<script>alert(1)</script>"),
    "script in capitals": svg("<SCRIPT/>"),
    "script with a prefix": svg("<s:script/>", ' xmlns:s="http://www.w3.org/2000/svg"'),
    "script in a dropped part": svg('<m:x xmlns:m="urn:m"><script/></m:x>'),
    "script in metadata": svg("<metadata><script/></metadata>"),
    "foreign object": svg('<foreignObject><b xmlns="http://www.w3.org/1999/xhtml">x</b></foreignObject>'),
    "html": svg('<img xmlns="http://www.w3.org/1999/xhtml" src="x" onerror="alert(1)"/>'),
    "event on the root": svg("", ' onload="alert(1)"'),
    "event in capitals": svg('<path ONCLICK="alert(1)"/>'),
    "event with a prefix": svg('<path m:onclick="alert(1)"/>', ' xmlns:m="urn:m"'),
    "link": svg('<a href="javascript:alert(1)"><path d="M0 0"/></a>'),
    "image": svg('<image href="https://tracker.example/x.png"/>'),
    "embedded image": svg('<image href="data:image/svg+xml;base64,PHN2Zy8+"/>'),
    "use of another file": svg('<use href="https://elsewhere.example/x.svg#a"/>'),
    "use, which multiplies": svg('<g id="a"/><use href="#a"/>'),
    "gradient from elsewhere": svg('<linearGradient href="//elsewhere.example/#a"/>'),
    "gradient by script": svg(
        '<linearGradient xl:href="javascript:alert(1)"/>', ' xmlns:xl="http://www.w3.org/1999/xlink"'
    ),
    "animation": svg('<set attributeName="href" to="javascript:alert(1)"/>'),
    "animation of a gradient": svg("<linearGradient><animate/></linearGradient>"),
    "style sheet": svg("<style>@import url(https://tracker.example/x.css)</style>"),
    "style that loads": svg('<path style="fill:url(https://tracker.example/x)"/>'),
    "style with escapes": svg(r'<path style="fill:u\72l(https://tracker.example/x)"/>'),
    "fill that loads": svg("<path fill=\"url( 'https://tracker.example/x#a' )\"/>"),
    "filter that loads": svg('<path filter="url(//tracker.example/x)"/>'),
    "document type": b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/x.dtd">' + svg(),
    "entity": b'<!DOCTYPE svg [<!ENTITY a "x">]>' + svg("<title>&a;</title>"),
    "outer entity": b'<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + svg("<title>&a;</title>"),
    "entities that multiply": b'<!DOCTYPE svg [<!ENTITY a "xxxxxxxx"><!ENTITY b "&a;&a;&a;&a;">]>' + svg("&b;"),
    "undeclared entity": svg("<title>&nbsp;</title>"),
    "style sheet instruction": b'<?xml-stylesheet href="https://tracker.example/x.css"?>' + svg(),
    "no namespace": b"<svg><path/></svg>",
    "another root": b'<g xmlns="http://www.w3.org/2000/svg"/>',
    "html root": b'<html xmlns="http://www.w3.org/1999/xhtml"/>',
    "nested root": svg(svg().decode()),
    "two roots": svg() + svg(),
    "unclosed": b'<svg xmlns="http://www.w3.org/2000/svg"><path>',
    "too deep": svg("<g>" * 40 + "</g>" * 40),
    "too many": svg("<path/>" * 3_000),
    "too large": svg("<!--" + "x" * MAX_SVG + "-->"),
    "another encoding": svg("<script/>").decode().encode("utf-16"),
    "encoding that lies": b'<?xml version="1.0" encoding="utf-7"?>' + svg("+ADw-script/+AD4-") + b"+",
}


@pytest.mark.parametrize("data", NASTY.values(), ids=NASTY.keys())
def test_nasty_files_are_refused(data):
    with pytest.raises(UnsafeSvgError):
        sanitise_svg(data)


def test_what_editors_leave_behind_is_dropped_and_the_drawing_kept():
    cleaned = sanitise_svg(
        b'<?xml version="1.0" encoding="UTF-8"?><!-- made by hand -->'
        + svg(
            '<metadata><r:RDF xmlns:r="urn:r"><r:x/>words</r:RDF></metadata><i:view i:z="1"/>'
            '<defs><linearGradient id="a"><stop offset="0" stop-color="red"/></linearGradient>'
            '<linearGradient id="b" x:href="#a"/></defs>'
            '<path i:label="p" d="M0 0h8v8z" style="fill:url(#b);-inkscape-font:x;stroke:none" data-x="1"/>'
            "<title>A &amp; &lt;B&gt;</title>",
            ' xmlns:i="urn:i" xmlns:x="http://www.w3.org/1999/xlink"',
        )
    ).decode()
    assert cleaned == (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">'
        '<defs><linearGradient id="a"><stop offset="0" stop-color="red"></stop></linearGradient>'
        '<linearGradient id="b" href="#a"></linearGradient></defs>'
        '<path d="M0 0h8v8z" fill="url(#b)" stroke="none"></path>'
        "<title>A &amp; &lt;B&gt;</title></svg>\n"
    )
    assert sanitise_svg(cleaned.encode()).decode() == cleaned.removesuffix("\n") + "\n"


def test_text_cannot_become_markup_again():
    cleaned = sanitise_svg(
        svg("<title><![CDATA[<script>alert(1)</script>]]></title>", ' aria-label="&quot;&gt;&lt;script&gt;"')
    )
    root = ElementTree.fromstring(cleaned)
    assert root.find(f"{NS}title").text == "<script>alert(1)</script>"
    assert root.find(f".//{NS}script") is None
