"""Statement files over the API: looked at first, then stored, into accounts of files or into a named product."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from importing import IMPORTS, Importer
from test_identity_of_imports import ANNA, BEN, FEE, IBAN, mt940

from banking import ACCESSES, href, narrow, new_customer, rels
from kontor.domain.scopes import CUSTOMER_MODIFY, CUSTOMER_READ
from statement_files import find_account, pack, write, write_bank_csv

MIB = 1024 * 1024


def test_a_file_is_stored_and_its_result_can_be_read_again(sender):
    answer = sender.send(mt940("1", "100,00", "158,00", ANNA, BEN), media_type="text/plain")
    assert answer.status_code == 201
    stored = answer.json()
    (account,) = stored["konten"]
    counts = [account[name] for name in ("gelesen", "neu", "geaendert", "bekannt")]
    assert (account["form"], counts, account["abgelehnt"], account["doubts"]) == ("MT940", [2, 2, 0, 0], [], [])
    assert (account["saldoAnfang"], account["saldoEnde"]) == (100.0, 158.0)
    assert answer.headers["location"] == href(stored, "self")
    assert answer.headers["location"].endswith(f"{IMPORTS}/{stored['id']}")
    assert sender.customer.read(answer.headers["location"]) == stored
    (product,) = sender.customer.products("dateien")
    assert (product["id"], product["iban"], product["saldo"]) == (account["produktId"], IBAN, 158.0)
    assert len(sender.customer.transactions(product)) == 2


def test_a_preview_stores_nothing_and_shows_bookings(sender):
    data = mt940("1", "100,00", "158,00", ANNA, BEN)
    preview = sender.preview(data)
    (account,) = preview["konten"]
    assert set(preview) == {"konten"}
    assert "produktId" not in account
    assert (account["neu"], account["iban"]) == (2, IBAN)
    assert sorted(row["gegenkontoInhaber"] for row in account["beispiele"]) == ["Anna Muster", "Ben Beispiel"]
    assert sender.customer.read(ACCESSES) == {}
    stored = sender.take(data)["konten"][0]
    again = sender.preview(data)["konten"][0]
    assert (again["produktId"], again["neu"], again["bekannt"], again["beispiele"]) == (stored["produktId"], 0, 2, [])


def test_a_preview_shows_five_bookings_at_most(sender):
    account, rows = find_account()
    assert len(sender.preview(write("camt.053", account, rows[:20]))["konten"][0]["beispiele"]) == 5


def test_the_access_for_files_can_be_named(sender):
    sender.take(write_bank_csv("dkb", "Laden", "-12,00"), zugang="archiv")
    (product,) = sender.customer.products("archiv")
    assert product["kreditinstitut"] == "DKB"
    assert sender.customer.get(f"{ACCESSES}/dateien").status_code == 404


@pytest.mark.parametrize("access_id", ["a/b", "", "x" * 65, "consent", "ä"])
def test_a_word_that_is_no_access_id_is_refused(sender, access_id):
    assert sender.refuse(write_bank_csv("dkb", "Laden", "-12,00"), zugang=access_id).startswith("zugang: ")


def test_a_file_of_a_banks_account_makes_a_product_of_its_own(bank_server, shared):
    """With produkt it goes into the bank's; without, its deletion must not take the file along."""
    sender = Importer(new_customer(shared))
    access = sender.customer.add_complete(f"leer+{uuid4().hex[:8]}")
    product = sender.customer.products(access)[0]
    data = mt940("1", "100,00", "129,00", ANNA).replace(IBAN.encode(), product["iban"].encode())
    assert sender.take(data)["konten"][0]["produktId"] != product["id"]
    assert sender.refuse(data, zugang=access).endswith("is an account of a bank: name the product, or another access")
    named = sender.take(data, produkt=product["id"])["konten"][0]
    assert (named["produktId"], named["neu"]) == (product["id"], 1)
    assert "zugang: cannot be named" in sender.refuse(data, produkt=product["id"], zugang=access)
    assert sender.customer.delete(f"{ACCESSES}/{access}").status_code == 200
    assert len(sender.customer.products("dateien")) == 1


def test_balances_that_do_not_add_up_are_told_until_they_do(sender):
    sender.take(mt940("1", "100,00", "153,50", ANNA, BEN))
    product = sender.customer.products("dateien")[0]
    assert [(message["code"], message["level"], message["details"]) for message in product["messages"]] == [
        ("BA1064", "INFO", "-4.50 EUR")
    ]
    lacking = sender.preview(mt940("1", "100,00", "153,50", ANNA, BEN))["konten"][0]
    assert lacking["doubts"] == [{"art": "BALANCE_MISMATCH", "differenz": -4.5}]
    sender.take(mt940("2", "158,00", "153,50", FEE))
    assert "messages" not in sender.customer.products("dateien")[0]


def test_a_bad_row_is_told_with_its_line_and_the_rest_is_stored(sender):
    good = write_bank_csv("comdirect", "Laden", "-12,00").decode()
    bad = '"offen";"--";"Lastschrift";"Auftraggeber: Verein Buchungstext: Beitrag";"-20,00";\n'
    (account,) = sender.take((good + bad).encode())["konten"]
    assert account["neu"] == 1
    assert [(row["zeile"], "no day" in row["grund"]) for row in account["abgelehnt"]] == [(3, True)]


# What cannot be taken


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "body: the file is empty"),
        (b"\x00" * 1000, "body: This is no statement file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "body: This is no statement file"),
        (b"PK\x03\x04garbage", "body: The zip cannot be read"),
        (pack(**{"a.txt": b"hello"}), "body: This is no statement file that Kontor knows. (field a.txt)"),
        (pack(**{"b.zip": pack(**{"a.sta": mt940("1", "1,00", "1,00")})}), "(field b.zip)"),
    ],
    ids=["empty", "zeros", "picture", "broken zip", "zip of text", "zip in a zip"],
)
@pytest.mark.parametrize("preview", ["true", "false"])
def test_what_is_no_statement_file_is_refused_also_in_a_preview(sender, data, reason, preview):
    assert reason in sender.refuse(data, preview=preview)
    assert sender.customer.read(ACCESSES) == {}


def test_a_file_of_more_than_16_mib_is_refused(sender):
    assert "no statement file" in sender.refuse(b"x" * (16 * MIB))
    assert "16777216" in sender.refuse(b"x" * (16 * MIB + 1), status=413)
    assert "16777216" in sender.refuse(b"x" * (17 * MIB), status=413)


def test_multipart_is_refused_and_any_other_type_is_taken(sender):
    data = write_bank_csv("dkb", "Laden", "-12,00")
    assert sender.send(data, media_type="multipart/form-data; boundary=x").status_code == 415
    for media_type in (None, "image/png", "application/json", "application/x-www-form-urlencoded", "text/csv"):
        assert sender.send(data, media_type=media_type, preview="true").status_code == 200, media_type


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"since": "x"}, "since: is unknown"),
        ({"preview": "perhaps"}, "preview: expected bool"),
        ({"produkt": "x"}, "produkt: invalid UUID"),
        ({"form": "keine"}, "form: there is no form of this name"),
        ({"form": "n26"}, "form: the file lacks these columns of N26: booking date"),
    ],
)
def test_a_wrong_parameter_is_named(sender, query, reason):
    assert reason in sender.refuse(write_bank_csv("dkb", "Laden", "-12,00"), **query)


def test_a_form_is_for_csv_files_only(sender):
    data = mt940("1", "100,00", "129,00", ANNA)
    assert sender.refuse(data, form="dkb") == "form: is for CSV files, and this is MT940"


def test_token_scope_and_object_are_checked_before_the_file(sender, shared):
    answer = sender.customer.http.post(IMPORTS, content=b"x")
    assert answer.status_code == 401
    reader, writer = narrow(sender.customer, CUSTOMER_READ), narrow(sender.customer, CUSTOMER_MODIFY)
    assert Importer(reader).send(b"").status_code == 403
    assert sender.send(b"", produkt=str(uuid4())).status_code == 404
    assert "add_import" in rels(sender.customer.read("/customer/v2"))
    assert "add_import" not in rels(reader.read("/customer/v2"))
    assert Importer(writer).send(write_bank_csv("dkb", "Laden", "-12,00")).status_code == 201


def test_another_users_product_and_result_are_not_found(sender, shared):
    stored = sender.take(mt940("1", "100,00", "129,00", ANNA))
    other = Importer(new_customer(shared))
    product_id = stored["konten"][0]["produktId"]
    missing = other.refuse(mt940("1", "100,00", "129,00", ANNA), status=404, produkt=str(uuid4()))
    assert other.refuse(mt940("1", "100,00", "129,00", ANNA), status=404, produkt=product_id) == missing
    assert other.customer.get(f"{IMPORTS}/{stored['id']}").status_code == 404
    assert other.customer.get(f"{IMPORTS}/unsinn").status_code == 404


# Results


def test_a_result_goes_with_its_access(sender):
    stored = sender.take(mt940("1", "100,00", "129,00", ANNA))
    assert sender.customer.delete(f"{ACCESSES}/dateien").status_code == 200
    assert sender.customer.get(f"{IMPORTS}/{stored['id']}").status_code == 404


async def test_a_result_is_shown_for_30_days_and_then_deleted(sender, owner, services):
    old, new = (sender.take(mt940("1", "100,00", "129,00", ANNA))["id"] for _ in range(2))
    owner.execute("update file_imports set imported_at = now() - interval '30 days 1 minute' where id = %s", [old])
    assert sender.customer.get(f"{IMPORTS}/{old}").status_code == 404
    assert sender.customer.get(f"{IMPORTS}/{new}").status_code == 200
    await services.housekeeping.clean()
    found = owner.execute("select id::text from file_imports where user_id = %s", [sender.customer.reference])
    assert [row[0] for row in found] == [new]


def test_forms_and_results_are_part_of_the_export(sender):
    sender.describe()
    stored = sender.take(b"Tag;Was;Umsatz\n02.11.2026;Brot;-3,50\n")
    export = sender.customer.read("/customer/v2/export")
    assert [form["name"] for form in export["import_forms"]] == ["Hausbank"]
    assert [(kept["id"], kept["accounts"][0]["added"]) for kept in export["file_imports"]] == [(stored["id"], 1)]


# Much, and at once


def test_two_imports_of_one_file_at_once_store_each_booking_once(sender):
    account, rows = find_account()
    data = write("camt.053", account, rows[:200])
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: sender.send(data), range(2)))
    assert sorted(answer.status_code for answer in answers) == [201, 201]
    assert sorted(answer.json()["konten"][0]["neu"] for answer in answers) == [0, 200]
    assert len(sender.customer.transactions(sender.customer.products("dateien")[0])) == 200


@pytest.mark.long
def test_ten_thousand_rows_are_imported(sender):
    sender.describe()
    rows = [f"{1 + number % 28:02d}.{1 + number % 12:02d}.2025;Nr. {number};-{number},10" for number in range(10_000)]
    (account,) = sender.take("\n".join(["Tag;Was;Umsatz", *rows]).encode())["konten"]
    assert (account["neu"], account["abgelehnt"]) == (10_000, [])


def test_texts_that_a_spreadsheet_would_calculate_are_stored_as_they_are(sender):
    sender.describe()
    sender.take(b'Tag;Was;Umsatz\n02.11.2026;"=HYPERLINK(""http://x"")";-3,50\n03.11.2026;@SUM(A1);1,00\n')
    (product,) = sender.customer.products("dateien")
    texts = sorted(row["verwendungszweck"] for row in sender.customer.transactions(product))
    assert texts == ['=HYPERLINK("http://x")', "@SUM(A1)"]
