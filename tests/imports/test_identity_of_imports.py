"""Files one after the other: bookings that contradict each other stay apart, balances follow, gaps are told."""

from decimal import Decimal
from uuid import uuid4

import pytest

from kontor.domain.errors import InvalidError
from kontor.services.statements.imports import Owner
from statement_files import pack

IBAN = "DE02120300000000202051"


def mt940(sequence, opening, closing, *entries, first="261031", last="261102"):
    """Bookings of 2 November, from one balance to another."""
    lines = "".join(f":61:2611021102{amount}NTRF\n:86:{details}\n" for amount, details in entries)
    return (
        f":20:STARTUMS\n:25:{IBAN}\n:28C:{sequence}\n:60F:C{first}EUR{opening}\n{lines}:62F:C{last}EUR{closing}\n-\n"
    ).encode()


def credit(name, iban, reference, amount="C29,00"):
    return amount, f"166?00GUTSCHRIFT?20EREF+{reference}?21SVWZ+Kurs Yoga im Mai?32{name}?31{iban}"


ANNA = credit("Anna Muster", "DE02500105170137075030", "A-17")
BEN = credit("Ben Beispiel", "DE02100500000054540402", "B-3")
FEE = "D4,50", "808?00ENTGELT?20Kontofuehrung"


@pytest.fixture
async def importer(services, customer):
    """Imports into an access of its own; knows what is shown of it."""
    users = await services.users.list_users_by_operator(customer.tenant.name)
    user = next(user for user in users if user.username == customer.username)
    owner, access_id = Owner(user.id, user.pseudonym, user.tenant_id, "operator"), f"files-{uuid4().hex[:8]}"

    class Importer:
        async def take(self, data, **facts):
            (account,) = await self.take_all(data, **facts)
            return account

        async def take_all(self, data, **facts):
            return (await services.imports.import_file(owner, access_id, data, **facts)).accounts

        @property
        def product(self):
            (product,) = customer.products(access_id)
            return product

        @property
        def names(self):
            rows = customer.transactions(self.product)
            return sorted(row["gegenkontoInhaber"] for row in rows if "gegenkontoInhaber" in row)

    return Importer()


async def test_two_files_with_two_credits_of_one_amount_and_day_store_two(importer):
    """The public case: name, IBAN, reference and purpose differ, amount and day do not."""
    await importer.take(mt940("1", "100,00", "129,00", ANNA))
    second = await importer.take(mt940("2", "129,00", "158,00", BEN))
    assert (len(second.added), second.changed) == (1, 0)
    assert importer.names == ["Anna Muster", "Ben Beispiel"]


async def test_the_balance_follows_a_newer_file_and_never_goes_back(importer):
    await importer.take(mt940("1", "100,00", "129,00", ANNA, last="261102"))
    assert importer.product["saldo"] == 129.0
    await importer.take(mt940("2", "129,00", "158,00", BEN, first="261102", last="261105"))
    newer = importer.product
    assert (newer["saldo"], newer["saldoDatum"][:10]) == (158.0, "2026-11-05")
    await importer.take(mt940("1", "100,00", "129,00", ANNA, last="261102"))
    assert (importer.product["saldo"], importer.product["saldoDatum"]) == (158.0, newer["saldoDatum"])


async def test_balances_that_do_not_add_up_are_told_with_the_difference_until_they_do(importer):
    """A file lacks a booking: the import doubts it, the product says BA1064, and the missing file ends it."""
    lacking = mt940("1", "100,00", "153,50", ANNA, BEN)
    previewed = await importer.take(lacking, is_preview=True)
    assert [(doubt.kind, doubt.difference) for doubt in previewed.doubts] == [("BALANCE_MISMATCH", Decimal("-4.50"))]
    imported = await importer.take(lacking)
    assert imported.doubts == previewed.doubts
    (message,) = importer.product["messages"]
    assert (message["level"], message["code"], message["details"]) == ("INFO", "BA1064", "-4.50 EUR")
    filled = await importer.take(mt940("2", "158,00", "153,50", FEE))
    assert filled.doubts == ()
    assert "messages" not in importer.product


async def test_a_complete_file_has_no_doubts(importer):
    assert (await importer.take(mt940("1", "100,00", "158,00", ANNA, BEN))).doubts == ()
    assert "messages" not in importer.product


# Two accounts in one file

UNNUMBERED = (
    '"Umsätze Girokonto";"Zeitraum: 30 Tage";\n"Neuer Kontostand";"129,00 EUR";\n\n"Buchungstag";'
    '"Wertstellung (Valuta)";"Vorgang";"Buchungstext";"Umsatz in EUR";\n"02.11.2026";"02.11.2026";'
    '"Übertrag / Überweisung";"Auftraggeber: Anna Muster Buchungstext: Kurs Yoga im Mai";"29,00";\n'
).encode("latin-1")


async def test_two_accounts_of_a_file_are_not_put_into_one_product(importer):
    """The named product takes an account by its number and one without any: nobody compared their bookings."""
    first = await importer.take(mt940("1", "100,00", "129,00", ANNA))
    both = pack(**{"a.sta": mt940("2", "129,00", "158,00", BEN), "b.csv": UNNUMBERED})
    with pytest.raises(InvalidError, match=f"two accounts that would go into one product: {IBAN}"):
        await importer.take(both, product_id=first.product_id)
    assert importer.names == ["Anna Muster"]


async def test_a_depot_and_an_account_of_one_number_are_not_made_one_product(importer):
    depot = f":16R:GENL\n:28E:1/ONLY\n:20C::SEME//1\n:23G:NEWM\n:98A::STAT//20261102\n:97A::SAFE//{IBAN}\n:16S:GENL\n"
    both = pack(**{"a.sta": mt940("1", "100,00", "129,00", ANNA), "b.txt": depot.encode()})
    with pytest.raises(InvalidError, match="two accounts that would go into one product"):
        await importer.take(both)


async def test_two_accounts_that_only_one_format_tells_apart_stay_two_when_they_come_again(importer):
    """A number without a bank fits the account at any bank; the product made of it fits better."""
    with_bank = mt940("1", "100,00", "129,00", ANNA).replace(IBAN.encode(), b"12030000/0000202051")
    without = with_bank.replace(b"12030000/", b"").replace(b"Yoga", b"Tanz")
    both = pack(**{"a.sta": with_bank, "b.sta": without})
    first = await importer.take_all(both)
    again = await importer.take_all(both)
    assert [account.product_id for account in again] == [account.product_id for account in first]
    assert [(len(account.added), account.changed, account.known) for account in again] == [(0, 0, 1)] * 2
