"""The console's page for files, in a browser without scripts: preview, import, and columns that are described."""

import html
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from banking import ACCESSES, BankCustomer, new_customer
from console_site import ConsoleSite, read_token
from kontor.console.imports import guess_description
from kontor.console.views.imports import MAX_FILE

PAGE = "/console/imports"
FORMS = "/customer/v2/imports/forms"
KNOWN = (
    b'"Buchungstag";"Wertstellung (Valuta)";"Vorgang";"Buchungstext";"Umsatz in EUR";\n'
    b'"02.11.2026";"02.11.2026";"Lastschrift";"Auftraggeber: Laden Buchungstext: Kauf";"-12,00";\n'
    b'"offen";"--";"Lastschrift";"Auftraggeber: Verein Buchungstext: Beitrag";"-20,00";\n'
)
UNKNOWN = b"Datum;Was;Umsatz;Kontostand\n02.11.2026;<b>Kino</b>;-9,00;91,00\n03.11.2026;=1+1;1.000,00;1.091,00\n"
PART = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'


class Desk:
    """A customer at the page. What it answers is shown as text."""

    def __init__(self, customer: BankCustomer, client: httpx.Client) -> None:
        self.customer, self.client = customer, client
        self.token = read_token(client.get(PAGE).text)

    def send(self, action: str, data: bytes | None, **fields: str) -> httpx.Response:
        form = {"token": self.token, "action": action, "target": ""} | fields
        files = {"file": ("umsätze.csv", b"" if data is None else data)}
        return self.client.post(PAGE, data=form, files=files)

    def describe(self, data: bytes = UNKNOWN, **fields: str) -> httpx.Response:
        columns = {"Datum": "buchungsdatum", "Was": "verwendungszweck", "Umsatz": "betrag", "Kontostand": "saldo"}
        described = {
            key: value
            for number, (name, field) in enumerate(columns.items())
            for key, value in {f"name-{number}": name, f"example-{number}": "x", f"field-{number}": field}.items()
        }
        chosen = {"day_format": "dd.mm.yyyy", "decimal_sign": ",", "name": "Hausbank", "form": ""}
        return self.send("describe", data, **described | chosen | fields)


def read_counts(page: str) -> dict[str, int]:
    return {key: int(count) for key, count in re.findall(r'data-count="(\w+)">(\d+)<', page)}


@pytest.fixture
def import_page(console_site: ConsoleSite) -> Iterator[Desk]:
    customer = new_customer(console_site.regulated)
    with console_site.visit(customer) as client:
        yield Desk(customer, client)


def test_a_known_file_is_previewed_and_then_imported(import_page):
    preview = import_page.send("preview", KNOWN)
    assert preview.status_code == 200
    assert read_counts(preview.text) == {"gelesen": 1, "neu": 1, "bekannt": 0, "geaendert": 0, "abgelehnt": 1}
    assert "Zeile 3: Es fehlt das Datum." in preview.text
    assert "neues Konto" in preview.text
    assert import_page.customer.read(ACCESSES) == {}
    stored = import_page.send("import", KNOWN)
    assert stored.status_code == 303
    result = import_page.client.get(stored.headers["location"]).text
    assert "Die Datei ist importiert." in result
    assert read_counts(result)["neu"] == 1
    product = import_page.customer.products("dateien")[0]
    assert f'href="/console/accounts/dateien/{product["id"]}"' in result
    again = import_page.send("preview", KNOWN, target=product["id"]).text
    assert read_counts(again)["bekannt"] == 1
    assert "neues Konto" not in again


def test_an_unknown_file_is_described_previewed_and_imported(import_page):
    asked = import_page.send("preview", UNKNOWN)
    assert asked.status_code == 200
    chosen = re.findall(r'<option value="(\w+)" selected>', asked.text)
    assert chosen == ["buchungsdatum", "betrag", "saldo"]
    assert "&lt;b&gt;Kino&lt;/b&gt;" in asked.text
    assert import_page.customer.read(FORMS) == []
    preview = import_page.describe()
    assert preview.status_code == 200, preview.text
    assert read_counts(preview.text)["neu"] == 2
    assert "Die Salden stimmen: Anfang 100,00 €, Ende 1.091,00 €." in html.unescape(preview.text)
    assert [form["name"] for form in import_page.customer.read(FORMS)] == ["Hausbank"]
    assert import_page.customer.read(ACCESSES) == {}
    assert import_page.send("import", UNKNOWN, form="Hausbank").status_code == 303
    assert len(import_page.customer.transactions(import_page.customer.products("dateien")[0])) == 2


def test_a_description_can_be_corrected_under_its_name_and_takes_no_other(import_page):
    assert import_page.describe(decimal_sign=".").status_code == 200
    assert "Eine Zuordnung mit diesem Namen gibt es schon." in import_page.describe().text
    assert import_page.describe(form="Hausbank").status_code == 200
    assert [form["dezimalzeichen"] for form in import_page.customer.read(FORMS)] == [","]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"field-0": ""}, "dem Buchungsdatum oder der Wertstellung"),
        ({"field-2": ""}, "eine Spalte dem Betrag"),
        ({"name": " "}, "einen Namen"),
        ({"name": "a/b"}, "kann die Datei nicht gelesen werden"),
        ({"field-1": "betrag"}, "kann die Datei nicht gelesen werden"),
    ],
)
def test_a_description_that_does_not_do_is_shown_again_with_what_is_wrong(import_page, fields, text):
    answer = import_page.describe(**fields)
    assert answer.status_code == 422
    assert text in answer.text
    assert 'id="description"' in answer.text
    assert import_page.customer.read(FORMS) == []


def test_a_deleted_form_is_no_longer_used(import_page):
    import_page.describe()
    assert "Gespeicherte Zuordnungen" in import_page.client.get(PAGE).text
    form = {"token": import_page.token, "action": "delete_form", "form": "Hausbank"}
    assert import_page.client.post(PAGE, data=form).status_code == 303
    assert import_page.client.post(PAGE, data=form).status_code == 303
    assert import_page.customer.read(FORMS) == []
    assert 'id="description"' in import_page.send("preview", UNKNOWN).text


@pytest.mark.parametrize("action", ["preview", "import"])
@pytest.mark.parametrize(
    ("data", "text"),
    [(None, "Bitte wählen Sie eine Datei aus."), (b"%PDF-1.7 \x00", "Diese Datei kann nicht importiert werden.")],
)
def test_what_cannot_be_imported_is_told_on_the_page(import_page, action, data, text):
    answer = import_page.send(action, data)
    assert answer.status_code == 422
    assert text in answer.text


def test_a_file_that_is_too_large_gets_a_page_that_says_so(import_page):
    answer = import_page.send("preview", b"x" * (MAX_FILE + 100_000))
    assert (answer.status_code, "höchstens 16 MB" in answer.text) == (413, True)


def test_a_form_without_the_pages_token_is_refused(import_page):
    assert import_page.send("import", KNOWN, token="x").status_code == 403
    assert import_page.customer.read(ACCESSES) == {}


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"nonsense", "multipart/form-data; boundary=x"),
        (b"--x\r\n\r\n", "multipart/form-data"),
        (PART * 2 + b"--x--\r\n", "multipart/form-data; boundary=x"),
        (b"a=b", "text/plain"),
    ],
    ids=["garbage", "no boundary", "a field twice", "another type"],
)  # fmt: skip
def test_a_body_that_no_page_sends_is_refused(import_page, body, content_type):
    answer = import_page.client.post(PAGE, content=body, headers={"Content-Type": content_type})
    assert answer.status_code == 400


def test_pages_without_files_take_no_multipart(import_page):
    answer = import_page.client.post("/console/data", data={"token": import_page.token}, files={"file": ("x", b"x")})
    assert answer.status_code == 400


def test_another_users_result_is_not_shown(import_page, console_site):
    other = new_customer(console_site.regulated)
    stored = import_page.send("import", KNOWN).headers["location"]
    with console_site.visit(other) as client:
        assert client.get(stored).status_code == 404


def test_the_calls_behind_the_page_name_the_file_and_do_not_show_it(import_page):
    page = html.unescape(import_page.send("preview", KNOWN).text)
    assert '--data-binary "@$file"' in page
    assert "/customer/v2/imports?preview=true" in page


# Guesses


def describe_columns(*columns: tuple[str, str]) -> Any:
    return guess_description([{"name": name, "beispiel": example} for name, example in columns])


def test_columns_are_guessed_by_their_names_and_each_field_once():
    guessed = describe_columns(
        ("Buchungsdatum", "2026-11-02"), ("Wertstellung", ""), ("Empfänger", ""), ("Verwendungszweck", ""),
        ("Betrag in EUR", "1,234.50"), ("Betrag in USD", ""), ("Haben", ""), ("Nr", ""),
    )  # fmt: skip
    assert [column.field for column in guessed.columns] == [
        "buchungsdatum", "wertstellungsdatum", "gegenkontoInhaber", "verwendungszweck", "betrag", "", "", "",
    ]  # fmt: skip
    assert (guessed.day_format, guessed.decimal_sign) == ("yyyy-mm-dd", ".")


def test_without_an_amount_debit_and_credit_are_guessed():
    guessed = describe_columns(("Tag", "20261102"), ("Soll", "1.234,50"), ("Haben", ""))
    assert [column.field for column in guessed.columns] == ["buchungsdatum", "soll", "haben"]
    assert (guessed.day_format, guessed.decimal_sign) == ("yyyymmdd", ",")
