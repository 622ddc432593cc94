"""Which rule decides: more conditions before fewer, then the newer; every condition that is given must hold."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.domain.tagging_rules import RuleBook, RuleConditions, RuledTransaction, Sign, TaggingRule, split_words
from kontor.domain.tags import fits_sign, fold_iban, fold_name
from kontor.domain.transactions import Transaction
from many_examples import many_examples

NOON = datetime(2026, 11, 2, 11, tzinfo=UTC)
GIRO, SAVINGS = UUID(int=1), UUID(int=2)
IBAN = "DE02120300000000202051"
WORDS = ("Miete", "Strom", "Köln")
NAMES = ("Meier", "Hausverwaltung Meier")


def make_row(amount="-10.00", name=None, iban=None, purpose=None, partner="UNKNOWN", product_id=GIRO, **past):
    booked = Transaction(
        Decimal(amount), "EUR", NOON, counterparty_name=name, counterparty_iban=iban, purpose=purpose
    )  # fmt: skip
    return RuledTransaction(product_id, booked, partner, **past)


def make_rule(number=1, category="SHOPPING_OTHER", iban="", name="", is_active=True, is_for_all=True, **conditions):
    return TaggingRule(
        UUID(int=number), category, iban, name, RuleConditions(**conditions), is_active=is_active, is_for_all=is_for_all
    )


amounts = st.integers(-3000, 3000).map(lambda cents: Decimal(cents * 100) / 100)
unsigned = st.none() | st.integers(0, 3000).map(lambda units: Decimal(units))
rows = st.builds(
    make_row,
    amount=amounts,
    name=st.sampled_from((None, *NAMES, "MEIER ")),
    iban=st.sampled_from((None, IBAN, "DE02 1203 0000 0000 2020 51")),
    purpose=st.lists(st.sampled_from((*WORDS, "koeln", "MIETE")), max_size=3).map(" ".join),
    partner=st.sampled_from(("UNKNOWN", "REWE")),
    product_id=st.sampled_from((GIRO, SAVINGS)),
    is_settled=st.booleans(),
    rule_id=st.sampled_from((None, UUID(int=1), UUID(int=2))),
)
rules = st.lists(
    st.builds(
        make_rule,
        category=st.sampled_from(("SHOPPING_OTHER", "INCOME_OTHER", "TRANSFER_OTHER")),
        iban=st.sampled_from(("", "", IBAN)),
        name=st.sampled_from(("", "", *NAMES)),
        is_active=st.booleans() | st.just(True),
        is_for_all=st.booleans() | st.just(True),
        text=st.sampled_from(("", "", *WORDS, "Miete Köln")),
        partner=st.sampled_from(("", "", "REWE")),
        amount_from=unsigned,
        amount_to=unsigned,
        sign=st.none() | st.sampled_from(Sign),
        product_id=st.sampled_from((None, None, GIRO, SAVINGS)),
    ),
    max_size=8,
)


def number_rules(drawn, start):
    return [
        TaggingRule(UUID(int=start + place), *(getattr(rule, name) for name in TaggingRule.__slots__[1:]))
        for place, rule in enumerate(drawn)
    ]


def holds(rule, row):
    """Condition by condition, as the documentation says it."""
    booked, conditions = row.transaction, rule.conditions
    text = " ".join(filter(None, (booked.counterparty_name, booked.purpose, booked.counterparty_iban)))
    checks = [
        rule.is_active,
        fits_sign(rule.category, booked.amount),
        rule.is_for_all or not row.is_settled or row.rule_id == rule.id,
        not rule.counterparty_iban or fold_iban(rule.counterparty_iban) == fold_iban(booked.counterparty_iban),
        not rule.counterparty_name or fold_name(rule.counterparty_name) == fold_name(booked.counterparty_name),
        all(word in split_words(text) for word in split_words(conditions.text)),
        not conditions.partner or conditions.partner == row.partner,
        conditions.amount_from is None or abs(booked.amount) >= conditions.amount_from,
        conditions.amount_to is None or abs(booked.amount) <= conditions.amount_to,
        conditions.sign is None or ((booked.amount > 0) == (conditions.sign == "+") and booked.amount != 0),
        conditions.product_id in (None, row.product_id),
    ]
    return all(checks)


def has_some(rule):
    return rule.count > 0


@many_examples(800)
@given(rules, rules, rows)
def test_the_first_group_wins_then_more_conditions_then_the_newer(first, second, row):
    first = list(filter(has_some, number_rules(first, 1)))
    second = list(filter(has_some, number_rules(second, 101)))
    expected = None
    for group in (first, second):
        fitting = [(rule.count, age, rule) for age, rule in enumerate(group) if holds(rule, row)]
        if fitting:
            expected = max(fitting, key=lambda entry: entry[:2])[2]
            break
    assert RuleBook(first, second).find(row) == expected


@pytest.mark.parametrize(
    ("text", "purpose", "is_fitting"),
    [
        ("miete", "Miete November", True),
        ("Miete", "Mieterverein", False),
        ("Köln Müller", "MUELLER, KOELN", True),
        ("strasse", "Hauptstraße 7", False),
        ("Hauptstrasse 7", "Hauptstraße 7", True),
        ("November Miete", "Miete November", True),
        ("Miete Dezember", "Miete November", False),
        (".*", "Miete", False),
        ("KFN-1", "KFN 1", True),
    ],
)
def test_text_is_whole_words_that_all_occur(text, purpose, is_fitting):
    rule = make_rule(text=text, sign=Sign.OUTGOING) if split_words(text) else make_rule(text=text, partner="REWE")
    assert (RuleBook([rule]).find(make_row(purpose=purpose)) is not None) == is_fitting


def test_a_decomposed_umlaut_is_the_same_letter():
    rule = make_rule(text="Ko\u0308ln")
    assert RuleBook([rule]).find(make_row(purpose="Köln")) == rule


def test_an_amount_of_zero_has_no_sign():
    rule = make_rule(category="TRANSFER_OTHER", sign=Sign.OUTGOING)
    assert RuleBook([rule]).find(make_row("0.00")) is None
    assert RuleBook([rule]).find(make_row("-0.01")) == rule


def test_a_rule_for_transactions_to_come_keeps_what_it_has_decided_and_takes_nothing_else():
    rule = make_rule(name="Meier", is_for_all=False)
    book = RuleBook([rule])
    assert book.find(make_row(name="Meier")) == rule
    assert book.find(make_row(name="Meier", is_settled=True)) is None
    assert book.find(make_row(name="Meier", is_settled=True, rule_id=rule.id)) == rule
    assert book.find(make_row(name="Meier", is_settled=True, rule_id=UUID(int=9))) is None
