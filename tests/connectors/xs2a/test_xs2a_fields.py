"""What a bank tells over XS2A, field by field: holders, names, cards, TAN media, the consent's end."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest
from bad_banks import ACCOUNT, BadBank, fail

from asgi_servers import serve_app
from kontor.connectors.base import (
    ChooseMethod,
    Continue,
    NeedMethod,
    Problem,
    ProblemKind,
    Progress,
    Tan,
)
from kontor.connectors.demo.people import person_for
from kontor.connectors.xs2a import Xs2aConnector, read_profile
from kontor.connectors.xs2a.rows import CHANNEL
from kontor.domain.products import ProductCategory
from kontor.domain.sca import MediumClass, ScaMedium
from kontor.domain.secrets import Secret
from kontor.domain.transactions import mark_channel
from xs2a_dialogues import PROVIDER, TODAY, Caller, Dialogue, new_login

BY_TAN = [Tan(Secret("24"))]
CARD = "4871********5871"


def test_a_card_arrives_as_the_bank_has_it(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(has_card_accounts=True), new_login("demo1"))
    *_, progress, done = dialogue.drive(BY_TAN)
    accounts = person_for(dialogue.login, TODAY).accounts
    known = next(account for account in accounts if account.product.category is ProductCategory.CREDIT_CARD)
    card = next(product for product in progress.partial.products if product.category is ProductCategory.CREDIT_CARD)
    told = ("name", "holder", "currency", "account_number", "balance", "balance_at", "credit_limit", "category")
    assert [getattr(card, name) for name in told] == [getattr(known.product, name) for name in told]
    assert (card.iban, card.can_transfer) == (None, False)
    # A card's bookings have neither account numbers nor GV codes.
    missing = {"counterparty_iban": None, "counterparty_bic": None, "gv_code": None, "prima_nota": None}
    rows = [
        replace(row, counterparty_name=row.counterparty_name and row.counterparty_name[:35], **missing)
        for row in mark_channel([entry.transaction for entry in known.entries], CHANNEL)
    ]
    assert sorted(map(repr, done.result.transactions[card.key])) == sorted(map(repr, rows))
    assert done.result.problems == ()


def test_cards_are_not_asked_for_unless_the_profile_says_so(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("demo1"))
    progress = dialogue.resume(dialogue.begin(), BY_TAN[0])
    assert not any(product.category.is_card for product in progress.partial.products)


def fetch(**answers):
    bank = BadBank()
    bank.wrong |= {f"GET /v1/{path}": answer for path, answer in answers.items()}
    with serve_app(bank) as url:
        facts = {"base_url": url, "has_card_accounts": True}
        dialogue = Dialogue(Xs2aConnector(lambda provider: read_profile(facts, "1")), "somebody")
        progress = dialogue.begin()
        assert isinstance(progress, Progress), progress
        return progress.partial.products, dialogue.resume(progress, Continue()).result


@pytest.mark.parametrize("is_debt", [False, True])
def test_where_a_card_is_kept_like_a_debt_what_is_spent_is_positive(is_debt):
    sign = "" if is_debt else "-"
    money = {"currency": "EUR", "amount": f"{sign}12.30"}
    use = {"transactionAmount": money, "transactionDate": "2026-11-02", "cardAcceptorId": "Kiosk"}
    place = {"cardAcceptorAddress": {"townName": "Bremen", "country": "DE"}}
    card = {
        "maskedPan": CARD,
        "currency": "EUR",
        "debitAccounting": is_debt,
        "creditLimit": {"currency": "EUR", "amount": 2000},
        "balances": [{"balanceType": "nonInvoiced", "balanceAmount": money}],
        "_links": {"transactions": {"href": "/v1/card-accounts/7/transactions"}},
    }
    pages = {"card-accounts": {"cardAccounts": [card]}}
    pages["card-accounts/7/transactions"] = {"cardTransactions": {"booked": [], "pending": [use | place], "_links": {}}}
    (_, product), fetched = fetch(**pages)
    assert (product.balance, product.credit_limit, product.name) == (Decimal("-12.30"), Decimal(2000), CARD)
    (row,) = fetched.transactions[CARD]
    assert (row.amount, row.counterparty_name, row.purpose) == (Decimal("-12.30"), "Kiosk", "Kiosk Bremen DE")
    assert (row.is_pending, row.bank_id, row.booked_at) == (True, None, None)
    assert row.value_at is not None


@pytest.mark.parametrize(
    ("product", "category"),
    [
        ("Visa Gold", ProductCategory.CREDIT_CARD),
        (None, ProductCategory.CREDIT_CARD),
        ("Visa Debitkarte", ProductCategory.OTHER_CARD),
        ("Mastercard Prepaid", ProductCategory.OTHER_CARD),
    ],
)
def test_a_card_that_the_bank_calls_no_credit_card_is_another_card(product, category):
    card = {"maskedPan": CARD, "currency": "EUR", "balances": []} | ({} if product is None else {"product": product})
    (_, shown), _ = fetch(**{"card-accounts": {"cardAccounts": [card]}})
    assert shown.category is category


def test_a_bank_that_refuses_cards_shows_its_accounts_all_the_same():
    refusal = b'{"tppMessages": [{"category": "ERROR", "code": "SERVICE_INVALID", "text": "Keine Karten."}]}'
    products, fetched = fetch(**{"card-accounts": fail(405, refusal)})
    assert [product.key for product in products] == [ACCOUNT["iban"]]
    assert fetched.problems == (Problem(ProblemKind.PRODUCT, detail="Keine Karten."),)


def test_two_cards_with_one_number_are_not_mixed_up():
    card = {"maskedPan": CARD, "currency": "EUR", "balances": []}
    products, fetched = fetch(**{"card-accounts": {"cardAccounts": [card, card | {"name": "other"}]}})
    assert [product.key for product in products] == [ACCOUNT["iban"], CARD]
    assert Problem(ProblemKind.PRODUCT) in fetched.problems


def test_media_are_the_named_methods_of_the_customer_and_stay_at_the_next_fetch(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("test_sca_method_media"))
    question = dialogue.begin()
    assert isinstance(question, NeedMethod)
    names = [method.name for method in question.methods if method.name.startswith("mockTAN")]
    progress = dialogue.resume(dialogue.resume(question, ChooseMethod("901.1")), Tan(Secret("0")))
    media = progress.partial.media
    assert media == tuple(ScaMedium(name, MediumClass.MOBILE) for name in names)
    done = dialogue.resume(progress, Continue())
    again = dialogue.begin(connector_state=done.connector_state, customer_ip=None)
    assert (again.partial.media, again.partial.methods) == (media, progress.partial.methods)


def test_media_of_states_that_an_earlier_version_wrote_are_not_told(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("test_sca_method_media"))
    done = dialogue.drive([ChooseMethod("901.1"), Tan(Secret("0"))])[-1]
    for method in done.connector_state["methods"]:
        del method["is_named"]
    assert dialogue.begin(connector_state=done.connector_state).partial.media == ()


def test_holders_are_asked_for_where_the_profile_says_so(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(asks_for_holders=True), new_login("test_bank_message"))
    progress = dialogue.resume(dialogue.begin(), BY_TAN[0])
    caller = Caller(xs2a_bank.url)
    consent = caller.call("GET", progress.state["resource"]["self"]).json()
    caller.close()
    assert consent["access"] == {"allPsd2": "allAccountsWithOwnerName"}
    assert all(product.holder for product in progress.partial.products)


def test_the_institution_is_the_provider_and_the_consent_ends_when_the_bank_says(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(consent_days=30), new_login("test_bank_message"))
    *_, progress, done = dialogue.drive(BY_TAN)
    assert {product.institution for product in progress.partial.products} == {PROVIDER.name}
    assert done.result.consent_until == date(2026, 12, 13)
