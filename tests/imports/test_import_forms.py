"""CSV forms that users describe over the API."""

from urllib.parse import quote

import pytest
from importing import IMPORTS, Importer

from banking import narrow, new_customer
from kontor.domain.import_forms import MAX_FORMS
from kontor.domain.scopes import CUSTOMER_READ
from statement_files import write_bank_csv

FORMS = f"{IMPORTS}/forms"
TABLE = "Mein Konto;DE02120300000000202051\n\nTag;Was;Umsatz\n02.11.2026;Brötchen;-3,50\n03.11.2026;Bus;-2,40\n".encode(
    "cp1252"
)


def test_an_unknown_csv_is_refused_and_a_preview_tells_its_columns(sender):
    assert sender.refuse(TABLE) == (
        "body: The columns of this CSV are those of no form that Kontor knows: Tag, Was, Umsatz"
    )
    assert sender.preview(TABLE) == {
        "form": None,
        "trennzeichen": ";",
        "kodierung": "windows-1252",
        "spalten": [
            {"name": "Tag", "beispiel": "02.11.2026"},
            {"name": "Was", "beispiel": "Brötchen"},
            {"name": "Umsatz", "beispiel": "-3,50"},
        ],
    }


def test_a_described_csv_is_imported_and_its_account_is_the_same_again(sender):
    answer = sender.describe(kennzeichen=["Was"])
    assert (answer.status_code, answer.content) == (201, b"")
    assert answer.headers["location"].endswith("/imports/forms/Hausbank")
    (previewed,) = sender.preview(TABLE)["konten"]
    assert (previewed["form"], previewed["neu"], previewed["kreditinstitut"]) == ("CSV Hausbank", 2, "Hausbank")
    first = sender.take(TABLE)["konten"][0]
    more = sender.take(TABLE + b"04.11.2026;Kino;-9,00\n", form="Hausbank")["konten"][0]
    assert (more["produktId"], more["neu"], more["bekannt"]) == (first["produktId"], 1, 2)


def test_a_form_is_listed_read_replaced_and_deleted(sender):
    sender.describe(kennzeichen=["Was"])
    shown = sender.customer.read(FORMS)
    assert shown == [
        {
            "name": "Hausbank",
            "kennzeichen": ["Was"],
            "spalten": {"Tag": "buchungsdatum", "Was": "verwendungszweck", "Umsatz": "betrag"},
            "datumsformat": "dd.mm.yyyy",
            "dezimalzeichen": ",",
            "relations": [{"rel": "self", "href": shown[0]["relations"][0]["href"]}],
        }
    ]
    assert sender.customer.read(shown[0]["relations"][0]["href"]) == shown[0]
    assert sender.describe(dezimalzeichen=".").status_code == 201
    (replaced,) = sender.customer.read(FORMS)
    assert (replaced["dezimalzeichen"], replaced["kennzeichen"]) == (".", [])
    assert sender.customer.delete(f"{FORMS}/Hausbank").status_code == 200
    assert sender.customer.read(FORMS) == []
    assert sender.customer.delete(f"{FORMS}/Hausbank").status_code == 404


def test_columns_keep_their_order(sender):
    columns = {"Zweck 2": "verwendungszweck", "Zweck 1": "verwendungszweck", "B": "betrag", "A": "buchungsdatum"}
    sender.describe(spalten=columns)
    assert list(sender.customer.read(FORMS)[0]["spalten"].items()) == list(columns.items())


@pytest.mark.parametrize("name", ["Bank & Söhne", "50% + #1?", "a b", "日本", "=1+1", "x" * 100, "forms", "'"])
def test_a_name_with_signs_leads_to_its_form(sender, name):
    location = sender.describe(name=name).headers["location"]
    assert location.endswith(f"/imports/forms/{quote(name, safe='')}")
    assert sender.customer.read(location)["name"] == name
    (account,) = sender.preview(TABLE, form=name)["konten"]
    assert account["form"] == f"CSV {name}"
    assert sender.customer.delete(location).status_code == 200


@pytest.mark.parametrize("name", ["", "a/b", "..", ".", " a", "a\n", "a\u0000", "x" * 101, "dkb", 7, None])
def test_a_name_that_cannot_be_one_is_refused(sender, name):
    answer = sender.describe(name=name)
    assert answer.status_code == 400
    assert answer.json()["message"].startswith("name: ")


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"spalten": {}}, "spalten: "),
        ({"spalten": {"Tag": "buchungsdatum"}}, "spalten: a column must be betrag, or two of them soll and haben"),
        ({"spalten": {"Umsatz": "betrag"}}, "spalten: a column must be buchungsdatum or wertstellungsdatum"),
        ({"spalten": {"Tag": "buchungsdatum", "A": "betrag", "B": "betrag"}}, "spalten: only one column can be betrag"),
        ({"spalten": {"Tag": "buchungsdatum", "A": "betrag", "B": "soll"}}, "spalten: a column must be betrag, or"),
        ({"spalten": {"Tag": "hash", "A": "betrag"}}, "spalten: hash is no field; expected one of buchungsdatum"),
        ({"spalten": {"Tag": "buchungsdatum", "A": "betrag", " a ": "waehrung"}}, "spalten: the column a occurs twice"),
        ({"spalten": {"Tag": "buchungsdatum", "": "betrag"}}, "spalten"),
        ({"spalten": {f"c{number}": "verwendungszweck" for number in range(101)}}, "spalten: "),
        ({"spalten": {"Tag": "buchungsdatum", "B\u0000": "betrag"}}, "spalten: expected names of columns in printable"),
        ({"spalten": {"Tag": "buchungsdatum", "  ": "betrag"}}, "spalten: expected names of columns in printable"),
        ({"kennzeichen": ["a\u0000"]}, "kennzeichen: expected names of columns in printable"),
        ({"datumsformat": "%d.%m.%Y"}, "datumsformat: expected dd, mm and yyyy or yy"),
        ({"datumsformat": "tt", "spalten": {"A": "betrag"}}, "wertstellungsdatum; datumsformat: expected"),
        ({"dezimalzeichen": ";"}, "dezimalzeichen: "),
        ({"kennzeichen": "Was"}, "kennzeichen: expected array"),
    ],
)
def test_a_form_that_cannot_be_read_with_is_refused(sender, facts, reason):
    answer = sender.describe(**facts)
    assert answer.status_code == 400
    assert reason in answer.json()["message"]
    assert sender.customer.read(FORMS) == []


def test_a_form_with_a_column_that_the_file_lacks_is_named_with_it(sender):
    sender.describe(spalten={"Tag": "buchungsdatum", "Umsatz": "betrag", "Notiz": "verwendungszweck"})
    assert sender.refuse(TABLE, form="Hausbank") == "form: the file lacks these columns of Hausbank: notiz"
    assert "spalten" in sender.preview(TABLE)


def test_a_form_is_its_users_only(sender, shared):
    sender.describe()
    other = Importer(new_customer(shared))
    assert other.customer.read(FORMS) == []
    assert other.customer.get(f"{FORMS}/Hausbank").status_code == 404
    assert other.customer.delete(f"{FORMS}/Hausbank").status_code == 404
    assert other.refuse(TABLE).startswith("body: The columns")
    assert other.refuse(TABLE, form="Hausbank") == "form: there is no form of this name"
    assert len(sender.customer.read(FORMS)) == 1


def test_reading_needs_no_right_to_modify_and_changing_does(sender):
    sender.describe()
    reader = Importer(narrow(sender.customer, CUSTOMER_READ))
    assert len(reader.customer.read(FORMS)) == 1
    assert reader.describe().status_code == 403
    assert reader.customer.delete(f"{FORMS}/Hausbank").status_code == 403


def test_unknown_parameters_are_refused(sender):
    sender.describe()
    for path in (FORMS, f"{FORMS}/Hausbank"):
        answer = sender.customer.get(path, params={"limit": 1})
        assert (answer.status_code, answer.json()["message"]) == (400, "limit: is unknown")


def test_the_number_of_forms_is_limited(sender, owner):
    owner.execute(
        "insert into import_forms (user_id, name, marks, columns, fields, day_format, decimal_sign)"
        " select %s, 'n' || n, '{}', '{a}', '{amount}', 'dd.mm.yyyy', ',' from generate_series(1, %s) n",
        [sender.customer.reference, MAX_FORMS],
    )
    assert sender.describe().json()["message"] == f"name: a user has at most {MAX_FORMS} forms"
    assert sender.describe(name="n1").status_code == 201


def test_the_same_form_serves_files_pushed_into_a_product(sender):
    sender.describe()
    product_id = sender.take(TABLE)["konten"][0]["produktId"]
    (product,) = sender.customer.products("dateien")
    more = TABLE + b"04.11.2026;Kino;-9,00\n"
    answer = sender.customer.http.post(
        f"{product['relations'][0]['href']}/kontoumsaetze",
        content=more,
        headers=sender.customer.headers | {"Content-Type": "text/csv"},
    )
    assert answer.status_code == 201
    assert [(account["produktId"], account["neu"]) for account in answer.json()["konten"]] == [(product_id, 1)]


def test_a_banks_form_can_be_wanted_by_its_name(sender):
    (account,) = sender.preview(write_bank_csv("dkb", "Laden", "-12,00"), form="dkb")["konten"]
    assert account["form"] == "CSV dkb"
