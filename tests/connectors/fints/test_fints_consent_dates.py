"""What a fetch says about the end of the consent."""

from datetime import timedelta
from uuid import uuid4

import pytest
from fints_payer import TODAY, Payer, know_bank

from kontor.connectors.base import Continue, Done, Fetch


@pytest.mark.parametrize(("days", "is_told"), [(-1, False), (0, True), (30, True)])
def test_a_date_that_has_passed_is_not_told_once_the_bank_has_let_us_in(bank, days, is_told):
    payer = Payer(bank, f"test_bank_message+{uuid4().hex[:8]}")
    day = TODAY + timedelta(days=days)
    progress = payer.begin(Fetch(), {"knowledge": know_bank(bank), "consent_until": day.isoformat()})
    done = payer.resume(progress, Continue())
    assert isinstance(done, Done)
    assert done.result.consent_until == (day if is_told else None)
