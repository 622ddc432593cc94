"""XML can say one thing in many ways. All of them are read the same, and what is no XML is refused."""

import re
from decimal import Decimal

import pytest
from statement_strategies import TODAY

from kontor.connectors.statements import StatementError, read_camt
from kontor.demobank.statements import write_camt052, write_camt053
from statement_files import find_account


@pytest.fixture(scope="module")
def shaped() -> dict[str, bytes]:
    product, rows = find_account("vermoegend")
    rows = [*rows[100:110], *rows[-2:]]
    return {
        "camt052": write_camt052(product, rows, Decimal("1.00"), day=TODAY),
        "camt053": write_camt053(product, rows, Decimal("1.00"), day=TODAY, version="08"),
    }


def _prefix(text: str) -> str:
    closed = text.replace("</", "\0").replace("<", "<p:").replace("\0", "</p:").replace("xmlns=", "xmlns:p=")
    return closed.replace("<p:?xml", "<?xml")


SAME_XML = {
    "indented": lambda text: text.replace("><", ">\r\n  <"),
    "comments": lambda text: text.replace("<Amt ", "<!-- <Ntry> --><Amt "),
    "processing instructions": lambda text: text.replace("<BookgDt>", "<?x <Amt>?><BookgDt>"),
    "CDATA": lambda text: re.sub("<Nm>([^<&]*)</Nm>", r"<Nm><![CDATA[\1]]></Nm>", text),
    "references": lambda text: text.replace("ö", "&#246;").replace("ü", "&#xFC;").replace(".00<", "&#x2E;00<"),
    "prefix": _prefix,
    "bracket in an attribute": lambda text: text.replace("<Ntry>", '<Ntry x="<Amt>">'.replace("<A", "A")),
    "other quotes": lambda text: text.replace('Ccy="EUR"', "Ccy = 'EUR'\n"),
    "empty elements": lambda text: text.replace("<Sts>", '<NtryRef/><Extra a="1" /><Sts>'),
    "elements nobody knows": lambda text: text.replace("<Sts>", "<X><Ustrd>no</Ustrd><Amt>7</Amt></X><Sts>"),
}


@pytest.mark.parametrize("form", SAME_XML)
@pytest.mark.parametrize("name", ["camt052", "camt053"])
def test_camt_means_the_same_however_its_xml_is_written(shaped, name, form):
    text = shaped[name].decode()
    changed = SAME_XML[form](text)
    assert changed != text
    assert read_camt(changed.encode()) == read_camt(text.encode())


def test_text_with_tags_of_its_own_is_text(shaped):
    text = re.sub(
        "<Ustrd>[^<]*</Ustrd>", "<Ustrd>&lt;Ntry&gt; &amp;amp; <b>no</b> more</Ustrd>", shaped["camt053"].decode()
    )
    purposes = [entry.purpose for entry in read_camt(text.encode())[0].entries if entry.purpose]
    assert purposes
    assert [purpose for purpose in purposes if not purpose.endswith("<Ntry> &amp;")] == []


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("</Ntry>", "</Ntri>", 1),
        lambda text: text.replace("<Ntry>", "<Ntry><", 1),
        lambda text: text.replace("</Document>", ""),
        lambda text: text + "<Document/>",
        lambda text: text.replace('Ccy="EUR"', "Ccy=EUR", 1),
        lambda text: text.replace('Ccy="EUR"', 'Ccy="EUR" Ccy="USD"', 1),
        lambda text: text.replace("<Sts>", "<Sts>&nbsp;", 1),
        lambda text: text.replace("<Sts>", "<Sts>&#0;", 1),
    ],
    ids=["other end", "stray bracket", "no end", "second root", "no quotes", "attribute twice", "entity", "zero"],
)
def test_xml_that_is_not_well_formed_is_refused(shaped, change):
    text = shaped["camt053"].decode()
    assert change(text) != text
    with pytest.raises(StatementError):
        read_camt(change(text).encode())
