"""Names of payees, and what becomes of limits and holds that are changed."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.domain import payees
from kontor.domain.payees import (
    PayeeSettings,
    PayeeUse,
    change_settings,
    find_warnings,
    fold_name,
    gather_payees,
    name_payee,
)
from kontor.domain.payments import Order

USER = UUID(int=1)
NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)
IBAN = "DE89370400440532013000"
amounts = st.none() | st.decimals(min_value=1, max_value=1000, places=2)
hours = st.none() | st.integers(min_value=0, max_value=720)
settings = st.builds(PayeeSettings, amounts, hours, st.none() | st.just(NOW + timedelta(hours=3)))


@pytest.mark.parametrize(
    "name", ["Müller GmbH", "MUELLER GMBH", "Mueller - GmbH.", "GmbH, Müller", "Herr Dr. Müller GmbH"]
)
def test_spellings_of_one_name_are_equal(name):
    assert fold_name(name) == fold_name("Müller GmbH")


@pytest.mark.parametrize("name", ["Müller AG", "Miller GmbH", "Müller", "Müller GmbH Köln"])
def test_other_names_are_not(name):
    assert fold_name(name) != fold_name("Müller GmbH")


def test_a_name_that_is_a_title_alone_keeps_it():
    assert fold_name("Dr.") == "dr"


@given(st.text())
def test_a_folded_name_stays_as_it_is(name):
    assert fold_name(fold_name(name)) == fold_name(name)


def use(name, first, last, iban=IBAN):
    return PayeeUse(name, iban, NOW + timedelta(days=first), NOW + timedelta(days=last))


def test_a_payee_is_an_iban_with_its_latest_name():
    uses = [use("Erika", 0, 2), use("Erika Muster", 3, 9), use("ERIKA MUSTER", 5, 5), use("Max", 1, 1, "DE02")]
    first, second = gather_payees(USER, uses, {})
    assert (first.id, first.name, first.iban) == (name_payee(USER, IBAN), "Erika Muster", IBAN)
    assert (first.first_at, first.last_at) == (NOW, NOW + timedelta(days=9))
    assert first.changed_at == NOW + timedelta(days=3), "of the name as it is now, in whatever spelling"
    assert second.name == "Max"
    assert name_payee(UUID(int=2), IBAN) != first.id


@given(settings, settings)
def test_who_loosens_a_rule_waits_as_long_as_the_hold_was(known, wanted):
    changed = change_settings(known, wanted, NOW)
    assert (changed.max_amount, changed.hold_hours) == (wanted.max_amount, wanted.hold_hours)
    is_looser = (
        known.max_amount is not None and (wanted.max_amount is None or wanted.max_amount > known.max_amount)
    ) or ((wanted.hold_hours or 0) < (known.hold_hours or 0))
    if known.hold_hours and is_looser:
        assert changed.held_until is not None
        assert changed.held_until >= NOW + timedelta(hours=known.hold_hours)
    else:
        assert changed.held_until == known.held_until


def test_the_hold_ends_hours_after_the_payee_was_used_first_or_changed():
    [payee] = gather_payees(USER, [use("Erika", 0, 9)], {name_payee(USER, IBAN): PayeeSettings(Decimal(5), 24)})
    assert payee.find_hold_end() == NOW + timedelta(hours=24)
    [free] = gather_payees(USER, [use("Erika", 0, 9)], {})
    assert free.find_hold_end() is None


def test_warnings_of_many_orders_fold_each_known_name_once(monkeypatch):
    folded = []
    fold = payees.fold_name
    monkeypatch.setattr(payees, "fold_name", lambda name: folded.append(name) or fold(name))
    uses = [use(f"Name {number}", 0, number, f"IBAN{number}") for number in range(50)]
    orders = [Order(recipient=f"Name {number}", iban="DE02", amount=Decimal(1)) for number in range(40)]
    warnings = find_warnings(orders, uses)
    assert [(warning.number, warning.known) for warning in warnings] == [(n + 1, f"IBAN{n}") for n in range(40)]
    assert len(folded) == len(uses) + len(orders)


def test_a_warning_names_the_latest_use():
    uses = [use("Erika", 0, 9), use("Max", 0, 3), use("Erika", 0, 5, "DE02"), use("Max", 0, 4, "DE03")]

    def warn(name, iban):
        found = find_warnings([Order(recipient=name, iban=iban, amount=Decimal(1))], uses)
        return [warning.known for warning in found]

    assert (warn("Otto", IBAN), warn("MAX", "DE09"), warn("max", IBAN), warn("Otto", "DE09")) == (
        ["Erika"],
        ["DE03"],
        [],
        [],
    )
