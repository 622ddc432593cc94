"""The keyword files: every line is well formed, and together they reach everything the trees know."""

import re
from dataclasses import dataclass
from importlib import resources
from itertools import combinations, groupby

import pytest

OPTIONS = {"sign", "insurance", "freelancer", "in", "strength", "not"}
PATTERN = re.compile(r"\*?[a-z0-9]+\*?( (\+ )?\*?[a-z0-9]+\*?)*")
FILES = sorted(
    (
        file
        for file in (resources.files("kontor.analysis") / "data" / "keywords").iterdir()
        if file.name.endswith(".txt")
    ),
    key=lambda file: file.name,
)
MIN_ENTRIES = 2_500


def split_words(text: str) -> set[str]:
    return set(text.split())


def join_names(groups: dict[str, str]) -> set[str]:
    return {f"{group}_{part}" for group, parts in groups.items() for part in parts.split()}


CATEGORIES = join_names(
    {
        "LIVING": "GROCERIES DRUGSTORE CONSUMABLES OTHER",
        "HOUSING": "RENT FINANCING ANCILLARYCOSTS SERVICES FURNISHING OTHER",
        "BILLS": "ELECTRICITY HEATING FIXEDINTERNET MOBILE OTHER TELECOMMUNICATIONS",
        "HEALTH": "SERVICES CONSUMABLES OTHERS",
        "MOBILITY": "VEHICLEACQUISITION BIKEACQUISITION FUEL SERVICES PARKING PUBLICTRANSPORT CARSHARE BIKESHARE TAXI"
        " OTHER",
        "TRAVEL": "ACCOMMODATION TRANSPORT ACTIVITIES INCLUSIVEOFFERS OTHER",
        "FAMILY": "CHILDCARE CHILDNECESSITIES TOYS CHILDACTIVITIES SUPPORT OTHER",
        "EDUCATION": "TRAINING ACADEMIC OTHER",
        "SERVICES": "FINANCIAL ONLINE OFFLINE OTHER",
        "RECREATION": "ENTERTAINMENTFOOD SPORTS CULTURAL HOBBY GARDEN ONLINE PRINTED PETS OTHER",
        "SHOPPING": "CLOTHINGACCESSORIES BEAUTY ELECTRONICS DIGITALCONTENT OTHER",
        "INSURANCE": "VEHICLE LIABILITY HOME HEALTH TRAVEL SPECIAL PROVISIONARY INCAPACITY LIFE OTHER",
        "BANKFINANCE": "ATMDEPOSIT ATMWITHDRAWAL CASHDEPOSIT CASHWITHDRAWAL TRANSFER CREDITINCOME CREDITPAYMENT"
        " INVESTMENT OTHER",
        "SAVINGS": "LIFEINSURANCE LIFEBUILDING ACCOUNT SECURITIES OTHER",
        "INCOME": "SALARY INVESTMENT RENTAL PENSION STATE_FAMILY STATE_EDUCATION OTHER",
        "OTHER": "INCOME SPENDING DONATION SUPPORT",
        "TRANSFER": "OWN OTHER",
    }
) | {"TAXES"}
INSURANCE_TYPES = join_names(
    {
        "VEHICLE": "LIABILITY PARTIALCOVER FULLCOVER BREAKDOWN OTHER",
        "LIABILITY": "PRIVATE PETOWNER PROPERTYOWNER PROFESSIONAL OTHER",
        "HOME": "CONTENTS BUILDING GLASS NATURALHAZARD OTHER",
        "HEALTH": "PRIVATE STATUTORY DENTAL HOSPITAL CARE SICKPAY OTHER",
        "TRAVEL": "HEALTH CANCELLATION OTHER",
        "SPECIAL": "LEGAL CYBER DEVICE PET BIKE OTHER",
        "PROVISIONARY": "RIESTER RUERUP COMPANYPENSION PRIVATEPENSION FUNERAL OTHER",
        "INCAPACITY": "OCCUPATIONAL BASICABILITY CRITICALILLNESS ACCIDENT OTHER",
        "LIFE": "TERM ENDOWMENT UNITLINKED OTHER",
        "OTHER": "OTHER",
        "UNRELATED": "OTHER",
    }
)
FREELANCER_CATEGORIES = split_words(
    "REVENUE VATREFUND ASSETSALE GOODS EXTERNALSERVICES STAFF PREMISES TELECOMMUNICATIONS TRAVEL TRAINING LEGALTAX"
    " INSURANCEFEES ITCOSTS WORKEQUIPMENT ADVERTISING VEHICLE ENTERTAINMENT INTEREST VATPAID TRADETAX"
    " PRIVATEWITHDRAWAL PRIVATEDEPOSIT OTHER UNRELATED"
)


@dataclass(frozen=True)
class Entry:
    place: str
    pattern: str
    category: str
    options: dict[str, str]

    def can_meet(self, other: "Entry") -> bool:
        """Whether both may apply to one booking: neither sign nor field keeps them apart."""
        return all(
            self.options.get(key, other.options.get(key)) == other.options.get(key, self.options.get(key))
            for key in ("sign", "in")
        )


def parse_line(place: str, line: str) -> Entry:
    pattern, category, options = line.split(" | ")
    pairs = [option.split("=") for option in options.split("; ")]
    assert len(dict(pairs)) == len(pairs), f"{place}: an option is given twice"
    return Entry(place, pattern, category, dict(pairs))


def read_entries() -> list[Entry]:
    return [
        parse_line(f"{file.name}:{number}", line)
        for file in FILES
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if line and not line.startswith("#")
    ]


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return read_entries()


def places_of(entries: list[Entry]) -> list[str]:
    return [f"{entry.place} {entry.pattern}" for entry in entries]


def test_patterns_are_written_folded_and_well_formed(entries):
    assert places_of([entry for entry in entries if not PATTERN.fullmatch(entry.pattern)]) == []


def test_only_known_options_with_known_values_are_used(entries):
    wrong = [
        entry
        for entry in entries
        if not entry.options.keys() <= OPTIONS
        or entry.options.get("sign", "+") not in ("+", "-")
        or entry.options.get("in", "name") not in ("name", "purpose", "text")
        or not re.fullmatch(r"[1-9]", entry.options.get("strength", "5"))
        or not re.fullmatch(r"\*?[a-z0-9 ]+\*?(,\*?[a-z0-9 ]+\*?)*", entry.options.get("not", "x"))
    ]
    assert places_of(wrong) == []


def test_an_entry_does_not_exclude_its_own_pattern(entries):
    wrong = [entry for entry in entries if set(entry.pattern.split()) & set(entry.options.get("not", "").split(","))]
    assert places_of(wrong) == []


def test_categories_are_valid_and_all_are_reached(entries):
    assert {entry.category for entry in entries} == CATEGORIES


def test_insurance_types_are_valid_and_all_are_reached(entries):
    assert {entry.options["insurance"] for entry in entries if "insurance" in entry.options} == INSURANCE_TYPES


def test_freelancer_categories_are_valid_and_all_are_reached(entries):
    assert {entry.options["freelancer"] for entry in entries if "freelancer" in entry.options} == FREELANCER_CATEGORIES


def test_insurance_type_and_category_never_contradict_each_other(entries):
    def fits(entry: Entry) -> bool:
        insurance = entry.options.get("insurance", "UNRELATED_OTHER")
        division = insurance.partition("_")[0]
        is_insurance = entry.category.startswith("INSURANCE_")
        return not is_insurance if division == "UNRELATED" else entry.category == f"INSURANCE_{division}"

    assert places_of([entry for entry in entries if not fits(entry)]) == []


def test_income_is_never_found_in_outgoing_money(entries):
    wrong = [entry for entry in entries if entry.category.startswith("INCOME_") and entry.options.get("sign") != "+"]
    assert places_of(wrong) == []


def test_there_are_enough_entries(entries):
    assert len(entries) >= MIN_ENTRIES


def test_no_pattern_is_written_twice_for_the_same_money_and_field(entries):
    ordered = sorted(entries, key=lambda entry: entry.pattern)
    doubles = [
        f"{first.place} and {second.place}: {pattern}"
        for pattern, same in groupby(ordered, key=lambda entry: entry.pattern)
        for first, second in combinations(list(same), 2)
        if first.can_meet(second)
    ]
    assert doubles == []


@pytest.mark.parametrize(
    ("line", "is_wrong"),
    [
        ("bäckerei | LIVING_GROCERIES | strength=8", True),
        ("*baecker*ei | LIVING_GROCERIES | strength=8", True),
        ("abschlag + strom | BILLS_ELECTRICITY | strength=8", False),
        ("*baeckerei* | LIVING_GROCERIES | strength=8", False),
    ],
)
def test_the_pattern_rule_itself_tells_right_from_wrong(line, is_wrong):
    assert (PATTERN.fullmatch(parse_line("here", line).pattern) is None) == is_wrong
