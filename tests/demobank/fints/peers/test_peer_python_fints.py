"""python-fints, bare: accounts, balances, transactions, depots, TANs of every kind, payments, payee checks."""

from decimal import Decimal

import pytest
from fints.client import FinTS3PinTanClient, NeedTANResponse, NeedVOPResponse
from fints.exceptions import FinTSClientPINError, FinTSClientTemporaryAuthError
from fints.formals import Confirmation, StatementFormat
from fints.models import SEPAAccount
from peers_books import SHOP, SINCE, Books

from fints_banks import BANK_CODE, FintsBankUnderTest
from kontor.demobank.fints import parameters

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("default")]
TANS = {"900": "12", "901": "2", "902": "8534842", "913": "936086", "923": ""}


def make_client(bank: FintsBankUnderTest, login: str, pin: str = "demo") -> FinTS3PinTanClient:
    client = FinTS3PinTanClient(BANK_CODE, login, pin, bank.url, product_id="KONTORTEST")
    client.connection.session.trust_env = False  # no bundle of the machine
    client.connection.session.verify = str(bank.authority)
    client.fetch_tan_mechanisms()
    if client.is_tan_media_required():
        _, media = client.get_tan_media()
        if media:
            client.set_tan_medium(media[0])
    return client


def settle(client: FinTS3PinTanClient, response, challenges: list):
    """Answers every challenge that comes."""
    while isinstance(response, NeedTANResponse):
        challenges.append(response)
        response = client.send_tan(response, TANS[client.get_current_tan_mechanism()])
    return response


def test_accounts_balances_and_transactions_are_those_of_the_books(fints_bank: FintsBankUnderTest):
    books = Books(fints_bank, "test_student+python")
    client = make_client(fints_bank, books.login)
    with client:
        accounts = client.get_sepa_accounts()
        assert [account.iban for account in accounts] == [account.product.iban for account in books.accounts]
        for place, account in enumerate(accounts):
            assert client.get_balance(account).amount.amount == books.accounts[place].product.balance
            rows = client.get_transactions(account, SINCE)
            seen = sorted((str(row.data["entry_date"]), row.data["amount"].amount) for row in rows)
            assert seen == books.list_days(place)
        booked, _ = client.get_transactions_xml(accounts[0], SINCE)
        assert sum(document.count(b"<Ntry>") for document in booked) == len(books.list_days(0))


def test_a_card_is_listed(fints_bank: FintsBankUnderTest):
    books = Books(fints_bank, "test_products+python")
    place, card = next(
        (place, account) for place, account in enumerate(books.accounts) if account.product.category.is_card
    )
    client = make_client(fints_bank, books.login)
    number = card.product.account_number
    with client:
        account = SEPAAccount(None, "KONTDEFFXXX", number, "", BANK_CODE)
        pages = client.get_credit_card_transactions(account, number, SINCE)
    rows = [group for page in pages for group in page._additional_data[5:]]
    seen = sorted((f"{row[2][:4]}-{row[2][4:6]}-{row[2][6:]}", read_money(row[8], row[10])) for row in rows)
    assert seen == books.list_days(place)
    assert read_money(pages[0]._additional_data[2][1], pages[0]._additional_data[2][0]) == card.product.balance


def read_money(number: str, sign: str) -> Decimal:
    amount = Decimal(number.replace(",", ".").rstrip("."))
    return -amount if sign == "D" else amount


def test_a_depot_is_listed(fints_bank: FintsBankUnderTest):
    books = Books(fints_bank, "test_products+py")
    depot = next(account for account in books.accounts if account.positions)
    assert all(position.name.isascii() for position in depot.positions), "python-fints decodes ISO 8859-1 as UTF-8"
    client = make_client(fints_bank, books.login)
    with client:
        account = SEPAAccount(None, "KONTDEFFXXX", depot.product.account_number, "", BANK_CODE)
        holdings = client.get_holdings(account)
    assert {holding.ISIN[:12] for holding in holdings} == {position.isin for position in depot.positions}


@pytest.mark.parametrize("version", [3, 4, 5])
def test_statements_are_listed_and_fetched(
    fints_bank: FintsBankUnderTest, monkeypatch: pytest.MonkeyPatch, version: int
):
    """Their numbers and files are the bank's. Without a format it is PDF; a format that is not offered is refused."""
    offered = {"HKEKA": ((version,), False), "HKKAU": ((1 if version == 3 else 2,), False)}
    monkeypatch.setattr(parameters, "BUSINESSES", parameters.BUSINESSES | offered)
    monkeypatch.setattr("kontor.connectors.demo.account_statements.MAX_MONTHS", 4)
    books = Books(fints_bank, f"test_student+py-files{version}")
    expected = books.list_statements()
    client = make_client(fints_bank, books.login)
    with client:
        account = client.get_sepa_accounts()[0]
        listed = client.get_statements(account)
        assert [(item.year, item.statement_number) for item in listed] == [(i.year, i.number) for i in expected]
        assert {(item.confirmation, item.collection_possible) for item in listed} == {
            (Confirmation.AWAITING_CONFIRMATION, True)
        }
        newest = expected[0]
        for form in (StatementFormat.PDF, None):
            file = client.get_statement(account, newest.number, newest.year, form)
            assert file.data == newest.content
            assert file.statement_format == StatementFormat.PDF
            assert (file.statement_period.start_date, file.statement_period.end_date) == (
                newest.starts_on, newest.ends_on,
            )  # fmt: skip
        if version == 5:
            assert (file.statement_year, file.statement_number, file.date_created) == (
                newest.year, newest.number, newest.created_on,
            )  # fmt: skip
        assert file.account_iban == account.iban
        assert file.confirmation_code
        assert client.get_statement(account, newest.number, newest.year, StatementFormat.MT_940) is None


@pytest.mark.parametrize(
    "login", ["test_sca_method", "test_sca_method_media", "test_phototan", "test_chiptan", "test_decoupled"]
)
def test_every_kind_of_challenge_opens_the_dialogue(fints_bank: FintsBankUnderTest, login: str):
    client = make_client(fints_bank, f"{login}+python")
    challenges: list[NeedTANResponse] = []
    with client:
        settle(client, client.init_tan_response, challenges)
        assert len(client.get_sepa_accounts()) == 2
    first = challenges[0]
    assert (first.challenge_matrix is not None) == (login == "test_phototan")
    assert (first.challenge_hhduc is not None) == (login == "test_chiptan")
    assert first.decoupled == (login == "test_decoupled")


@pytest.mark.parametrize("is_instant", [False, True])
def test_a_transfer_with_its_tan_is_booked(fints_bank: FintsBankUnderTest, is_instant: bool):
    books = Books(fints_bank, f"test_products+pypay{is_instant}")
    client = make_client(fints_bank, books.login)
    with client:
        account = client.get_sepa_accounts()[0]
        response = client.simple_sepa_transfer(
            account, SHOP, None, "Erika Muster", Decimal("4.56"), "Ich", "Gruss", instant_payment=is_instant
        )
        result = settle(client, response, [])
    assert result.status.name == "SUCCESS"
    assert books.list_paid() == [(Decimal("-4.56"), SHOP)]


def test_a_payee_that_does_not_fit_is_approved_first(fints_bank: FintsBankUnderTest):
    books = Books(fints_bank, "test_vop_close+python")
    client = make_client(fints_bank, books.login)
    with client:
        account = client.get_sepa_accounts()[0]
        response = client.simple_sepa_transfer(account, SHOP, None, "Erika Muster", Decimal(1), "Ich", "Gruss")
        assert isinstance(response, NeedVOPResponse)
        assert response.vop_result.vop_single_result.result == "RVMC"
        assert response.vop_result.vop_single_result.close_match_name == "Erika Maria Muster"
        assert books.list_paid() == []
        result = settle(client, client.approve_vop_response(response), [])
    assert result.status.name == "SUCCESS"
    assert books.list_paid() == [(Decimal("-1.00"), SHOP)]


def test_wrong_pins_and_locks_are_understood(fints_bank: FintsBankUnderTest):
    for _ in range(2):
        with pytest.raises(FinTSClientPINError):
            make_client(fints_bank, "test_student+pylock", "wrong")
    with pytest.raises(FinTSClientTemporaryAuthError):
        make_client(fints_bank, "test_student+pylock", "wrong")
