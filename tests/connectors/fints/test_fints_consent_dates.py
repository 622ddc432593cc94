"""What a fetch says about the end of the consent."""

from datetime import timedelta
from uuid import uuid4

import pytest
from fints_payer import TODAY, Payer, know_bank, tan

from kontor.connectors.base import Continue, Done, Fetch
from kontor.connectors.fints.dialogues import CONSENT_DAYS


@pytest.mark.parametrize(("days", "is_told"), [(-1, False), (0, True), (30, True)])
def test_a_date_that_has_passed_is_not_told_once_the_bank_has_let_us_in(bank, days, is_told):
    payer = Payer(bank, f"test_bank_message+{uuid4().hex[:8]}")
    day = TODAY + timedelta(days=days)
    progress = payer.begin(Fetch(), {"knowledge": know_bank(bank), "consent_until": day.isoformat()})
    done = payer.resume(progress, Continue())
    assert isinstance(done, Done)
    assert done.result.consent_until == (day if is_told else None)


@pytest.mark.parametrize(
    ("login", "answers", "is_told"),
    [("test_phototan", (tan("8534842"), tan("8534842")), True), ("test_bank_message", (tan("24"),), False)],
    ids=["authenticated at the login", "let in without"],
)
def test_a_payment_tells_of_the_consent_that_its_login_has_renewed(bank, login, answers, is_told):
    payer = Payer(bank, f"{login}+{uuid4().hex[:8]}")
    done = payer.drive(payer.make(), answers)[-1]
    assert isinstance(done, Done)
    assert done.result.consent_until == (TODAY + timedelta(days=CONSENT_DAYS) if is_told else None)
    if is_told:
        assert done.connector_state["consent_until"] == done.result.consent_until.isoformat()
