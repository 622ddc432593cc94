"""The tagger against the demo bank's ground truth, on logins that no model was trained with."""

from datetime import date
from itertools import groupby

import pytest

from kontor.analysis.tagging import OwnAccounts, list_partners, load_tagger
from kontor.analysis.tagging.partners import make_system_name
from kontor.connectors.demo.people import person_for

LOGINS = ("familie+gate", "rente+gate", "freiberuf+gate", "schulden+gate", "student+gate")
TODAY = date(2026, 10, 15)
SAVINGS = ("SAVINGS", "CALL", "FIXED")


@pytest.fixture(scope="module")
def judged():
    """Pairs of truth and tagging."""
    pairs = []
    for login in LOGINS:
        person = person_for(login, TODAY)
        products = [account.product for account in person.accounts if account.product.iban]
        own = OwnAccounts(
            frozenset(product.iban for product in products),
            frozenset(product.iban for product in products if product.category.name.startswith(SAVINGS)),
            (person.name,),
        )
        entries = [entry for account in person.accounts for entry in account.entries]
        found = load_tagger().tag([entry.transaction for entry in entries], own)
        pairs += [(entry.truth, tagging) for entry, tagging in zip(entries, found, strict=True)]
    return pairs


def share(results):
    results = list(results)
    assert results
    return sum(results) / len(results)


def read_main(category):
    return category.partition("_")[0]


def test_categories_are_right(judged):
    assert share(tagging.category == truth.category for truth, tagging in judged) > 0.94
    assert share(read_main(tagging.category) == read_main(truth.category) for truth, tagging in judged) > 0.96


def test_insurance_is_found_and_nothing_else_is_called_insurance(judged):
    insured = [pair for pair in judged if pair[0].insurance_type != "UNRELATED_OTHER"]
    others = [pair for pair in judged if pair[0].insurance_type == "UNRELATED_OTHER"]
    assert (
        share(read_main(tagging.insurance_type) == read_main(truth.insurance_type) for truth, tagging in insured) > 0.96
    )
    assert share(tagging.insurance_type != "UNRELATED_OTHER" for _, tagging in others) < 0.01


def test_partners_that_the_table_knows_are_found(judged):
    known = {partner.system_name for partner in list_partners()}
    named = [
        (make_system_name(truth.partner), tagging)
        for truth, tagging in judged
        if truth.partner and make_system_name(truth.partner) in known
    ]
    assert share(name == tagging.partner for name, tagging in named) > 0.92


def test_confidences_mean_what_they_say(judged):
    samples = sorted((tagging.category_confidence, tagging.category == truth.category) for truth, tagging in judged)
    error = 0.0
    for _, group in groupby(samples, key=lambda sample: int(sample[0] * 10)):
        part = list(group)
        error += abs(sum(confidence for confidence, _ in part) - sum(is_right for _, is_right in part))
    assert error / len(samples) < 0.06
    # And they tell right from wrong: the surer half errs less.
    half = len(samples) // 2
    assert share(is_right for _, is_right in samples[half:]) > share(is_right for _, is_right in samples[:half])


def test_a_freelancers_books_are_sorted(judged):
    business = [pair for pair in judged if pair[0].freelancer_category != "UNRELATED"]
    assert share(tagging.freelancer_category == truth.freelancer_category for truth, tagging in business) > 0.6
