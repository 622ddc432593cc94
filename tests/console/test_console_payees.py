"""The console's page of payees: whom the user has paid, with a limit and a hold, and what refused orders say."""

import pytest
from test_console_payments import TRANSFER, follow, order, send, sign_up

from kontor.console.rendering import load_texts
from kontor.console.views.payees import PAGE, PAYEES

DE = load_texts()["de"]
TOO_MUCH = "Der Betrag übersteigt das Limit, das Sie für diesen Empfänger gesetzt haben."


@pytest.fixture(scope="module")
def payer(console_site):
    """A user who has paid one payee."""
    customer = sign_up(console_site, "test_bank_message+console-payees")
    with console_site.visit(customer) as visitor:
        url = order(visitor, TRANSFER).headers["location"]
        follow(visitor, send(visitor, url, "answer", step="tan", answer="12"))
    return customer


def read_rules(customer):
    [payee] = customer.read(PAYEES)
    return payee["id"], payee.get("limit"), payee.get("sperrfristStunden")


def test_rules_are_set_shown_obeyed_and_removed(console_site, payer):
    with console_site.visit(payer) as visitor:
        assert f'href="{PAGE}"' in visitor.get("/console/payments").text
        page = visitor.get(PAGE).text
        assert TRANSFER["recipient"] in page
        assert DE("payees.verified.MATCH") in page
        payee_id, *rules = read_rules(payer)
        assert rules == [None, None]
        saved = follow(visitor, send(visitor, PAGE, "save", payee=payee_id, limit="20,50", hours=""))
        assert DE("notices.payees_saved") in saved
        assert 'value="20,50"' in saved
        assert read_rules(payer) == (payee_id, 20.50, None)
        refused = order(visitor, TRANSFER | {"purpose": "Rechnung 2"})
        assert refused.status_code == 422
        assert TOO_MUCH in refused.text
        follow(visitor, send(visitor, PAGE, "save", payee=payee_id, limit="", hours="0"))
        assert read_rules(payer) == (payee_id, None, None)


def test_a_changed_iban_is_told_before_it_is_paid(console_site, payer):
    with console_site.visit(payer) as visitor:
        answer = order(visitor, TRANSFER | {"iban": "DE02500105170137075030", "purpose": "Rechnung 3"})
        page = follow(visitor, answer)
        assert "Name oder IBAN des Empfängers sind anders als bei früheren Aufträgen." in page
        assert 'id="accept-payee"' in page
        assert 'id="step-tan"' in follow(visitor, send(visitor, answer.headers["location"], "accept_payee"))


@pytest.mark.parametrize(
    "wrong", [{"limit": "viel"}, {"limit": "0"}, {"hours": "721"}, {"hours": "-1"}, {"hours": "x"}]
)
def test_what_is_no_rule_is_refused(console_site, payer, wrong):
    with console_site.visit(payer) as visitor:
        payee_id, *before = read_rules(payer)
        answer = send(visitor, PAGE, "save", **({"payee": payee_id, "limit": "", "hours": ""} | wrong))
        assert answer.status_code == 422
        assert DE("payees.wrong", hours=720) in answer.text
        assert read_rules(payer) == (payee_id, *before)


def test_somebody_elses_payee_is_not_changed(console_site, payer):
    with console_site.visit(sign_up(console_site, "leer+console-payees")) as visitor:
        assert DE("payees.none") in visitor.get(PAGE).text
        send(visitor, PAGE, "save", payee=read_rules(payer)[0], limit="1", hours="")
    assert read_rules(payer)[1] is None
