"""What the browser gets of every page: compressed, with names of files of their own."""

import gzip
import re

PAGE = "/console/cashflow"


def test_pages_are_compressed_for_who_takes_it_and_hide_how_well(visitor):
    plain = visitor.get(PAGE, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    sizes = set()
    for _ in range(8):
        with visitor.stream("GET", PAGE, headers={"Accept-Encoding": "gzip"}) as answer:
            packed = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == "gzip"
        assert "Accept-Encoding" in answer.headers["vary"]
        assert len(packed) == int(answer.headers["content-length"]) < len(plain.content) / 3
        assert b'<main id="content"' in gzip.decompress(packed)
        sizes.add(len(packed))
    assert len(sizes) > 1


def test_both_tables_of_transactions_can_lie_in_one_folder(visitor):
    links = re.findall(r'href="(/console/data/export[^"]*)"', visitor.get("/console/data").text)
    names = [visitor.get(link.replace("&amp;", "&")).headers["content-disposition"] for link in links]
    assert len(names) == len(set(names)) == 6
    assert any(re.search(r'"kontor-umsaetze-[0-9-]+\.csv"', name) for name in names)


def test_tables_beside_charts_are_open_without_scripts(visitor):
    page = visitor.get(PAGE).text
    assert page.count('<details class="twin" open>') == page.count("<canvas") > 1
