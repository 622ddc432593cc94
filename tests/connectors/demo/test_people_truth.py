"""What is said to be true about the bookings: words, contracts, life events, the two sides of transfers."""

from collections import defaultdict
from datetime import date, timedelta
from itertools import pairwise

from people_labels import (
    CATEGORIES,
    FREELANCER_CATEGORIES,
    INSURANCE_TYPES,
    LIFE_EVENTS,
    MAIN_CATEGORIES,
    PERIODS,
)
from people_view import find_person, list_entries, list_finals, read_day

from kontor.connectors.demo.people import PERSONAS, Person
from kontor.connectors.demo.people.banking_days import is_banking_day
from kontor.connectors.demo.people.words import load_merchants, load_partners

LENGTHS = {"MONTH_ONE": 31, "MONTH_TWO": 62, "MONTH_THREE": 92, "MONTH_SIX": 184, "YEAR_ONE": 366, "YEAR_TWO": 731}
LENGTHS |= {"WEEK_ONE": 7, "WEEK_TWO": 14, "WEEK_FOUR": 28}


def test_labels_are_words_of_the_interface(person: Person) -> None:
    for _, entry in list_entries(person):
        assert entry.truth.category in CATEGORIES
        assert entry.truth.insurance_type in INSURANCE_TYPES
        assert entry.truth.freelancer_category in FREELANCER_CATEGORIES
    for contract in person.contracts:
        assert contract.category in CATEGORIES
        assert contract.insurance_type in INSURANCE_TYPES
        assert contract.period in PERIODS
    assert {event.name for event in person.life_events} <= LIFE_EVENTS


def test_insurance_type_and_category_agree(person: Person) -> None:
    for _, entry in list_entries(person):
        division = entry.truth.insurance_type.partition("_")[0]
        if division == "UNRELATED":
            assert not entry.truth.category.startswith("INSURANCE")
        else:
            assert entry.truth.category == f"INSURANCE_{division}"


def test_every_main_category_and_most_others_are_reached(everybody: list[Person]) -> None:
    reached = {entry.truth.category for person in everybody for _, entry in list_entries(person)}
    assert {category.partition("_")[0] for category in reached} == MAIN_CATEGORIES
    assert reached == CATEGORIES
    types = {entry.truth.insurance_type for person in everybody for _, entry in list_entries(person)}
    # Nobody's text would say so little about a pension or a life insurance.
    assert INSURANCE_TYPES - types == {"PROVISIONARY_OTHER", "LIFE_OTHER"}


def test_most_life_events_happen_to_somebody(everybody: list[Person]) -> None:
    happened = {event.name for person in everybody for event in person.life_events}
    assert len(LIFE_EVENTS - happened) <= 2, LIFE_EVENTS - happened


def test_contracts_and_entries_name_each_other(person: Person) -> None:
    named = {entry.truth.contract for _, entry in list_entries(person)} - {None}
    assert named == {contract.id for contract in person.contracts}
    assert len(person.contracts) == len(named)


def test_contracts_fit_their_bookings(person: Person) -> None:
    bookings = defaultdict(list)
    for _, entry in list_entries(person):
        bookings[entry.truth.contract].append(entry)
    for contract in person.contracts:
        entries = sorted(bookings[contract.id], key=read_day)
        entries = [entry for entry in entries if not entry.transaction.is_pending] or entries
        regular = [entry for entry in entries if entry.truth.is_regular]
        assert contract.first == read_day(entries[0])
        assert contract.ended is None or contract.ended == read_day(entries[-1])
        assert {entry.truth.category for entry in regular} <= {contract.category}
        assert {entry.truth.insurance_type for entry in regular} <= {contract.insurance_type}
        assert {entry.truth.partner for entry in regular} <= {contract.partner}
        gaps = [(read_day(next_entry) - read_day(entry)).days for entry, next_entry in pairwise(regular)]
        missed = [gap for gap in gaps if abs(gap - LENGTHS[contract.period]) > 8]
        assert all(abs(gap - 2 * LENGTHS[contract.period]) <= 8 for gap in missed), (contract, missed)
        assert len(missed) * 12 <= len(gaps), contract
        for number in (*contract.contract_numbers, *contract.customer_numbers):
            text = (regular[0].transaction.purpose or "").replace(" ", "")
            assert not regular or number.replace(" ", "") in text


def test_contracts_that_have_not_ended_were_paid_lately(person: Person) -> None:
    newest = max((read_day(entry) for _, entry in list_entries(person)), default=None)
    last: dict[str, date] = {}
    for _, entry in list_entries(person):
        if entry.truth.contract and entry.truth.is_regular:
            last[entry.truth.contract] = max(read_day(entry), last.get(entry.truth.contract, read_day(entry)))
    for contract in person.contracts:
        if contract.ended is None and contract.id in last and newest is not None:
            # One payment may have been missed.
            assert newest - last[contract.id] <= timedelta(days=2 * LENGTHS[contract.period] + 8), contract


def test_salaries_and_all_other_bookings_fall_on_banking_days(person: Person) -> None:
    for account in person.accounts:
        for entry in list_finals(account):
            assert is_banking_day(read_day(entry))


def test_own_transfers_have_both_sides(person: Person) -> None:
    by_iban = {account.product.iban: account for account in person.accounts if account.product.iban}
    sides = {
        (account.product.iban, entry.transaction.counterparty_iban, read_day(entry), entry.transaction.amount)
        for account in by_iban.values()
        for entry in list_finals(account)
        if entry.transaction.counterparty_iban in by_iban
    }
    assert all((target, iban, day, -amount) in sides for iban, target, day, amount in sides)
    assert sides or len(person.accounts) == 1


def test_card_settlements_collect_the_charges_of_the_month_before() -> None:
    for login in ("familie", "vermoegend", "demo1"):
        person = find_person(login)
        main = next(account for account in person.accounts if account.key == "main")
        card = next(account for account in person.accounts if account.key == "card")
        charges = defaultdict(int)
        for entry in list_finals(card):
            if entry.truth.category != "BANKFINANCE_TRANSFER":
                day = read_day(entry)
                charges[day.year * 12 + day.month] += entry.transaction.amount
        months = sorted(charges)
        for entry in list_finals(main):
            if entry.truth.category == "BANKFINANCE_TRANSFER" and "Kreditkartenabrechnung" in (
                entry.transaction.purpose or ""
            ):
                month = read_day(entry).year * 12 + read_day(entry).month - 1
                if month >= months[0] + 1:
                    assert entry.transaction.amount == charges[month]


def test_life_events_have_bookings_on_their_day_or_in_their_month(everybody: list[Person]) -> None:
    for person in everybody:
        months = {(read_day(entry).year, read_day(entry).month) for _, entry in list_entries(person)}
        for event in person.life_events:
            assert (event.date.year, event.date.month) in months


def test_freelancers_business_account_is_labelled_after_the_tax_statement() -> None:
    person = find_person("freiberuf")
    business = next(account for account in person.accounts if account.key == "business")
    labels = {entry.truth.freelancer_category for entry in business.entries}
    assert {"REVENUE", "VATPAID", "ITCOSTS", "LEGALTAX", "PREMISES", "PRIVATEWITHDRAWAL", "TRAVEL"} <= labels


def test_debtor_has_returned_debits_charges_collection_seizure_and_gambling() -> None:
    purposes = " ".join(entry.transaction.purpose or "" for _, entry in list_entries(find_person("schulden"))).upper()
    for word in ("RETOURE", "RUECKLASTSCHRIFT", "MAHN", "INKASSO", "PFAENDUNG", "SPIELKONTO", "SOLLZINSEN"):
        assert word in purposes


def test_signs_fit_the_categories(person: Person) -> None:
    for _, entry in list_entries(person):
        amount, category = entry.transaction.amount, entry.truth.category
        if category.startswith("INCOME") or category in ("OTHER_INCOME", "BANKFINANCE_CREDITINCOME"):
            assert amount > 0, entry
        if category.startswith(("LIVING", "HOUSING", "BILLS", "SHOPPING", "TRAVEL", "MOBILITY", "FAMILY", "TAXES")):
            assert amount < 0, entry


def test_the_bank_knows_hundreds_of_merchants_and_partners() -> None:
    merchants = {shop.partner for shops in load_merchants().values() for shop in shops}
    partners = {words.brand for pool in load_partners().values() for words in pool}
    assert len(merchants | partners) >= 650
    met = {entry.truth.partner for login in PERSONAS for _, entry in list_entries(find_person(login))}
    assert len(met) >= 500
