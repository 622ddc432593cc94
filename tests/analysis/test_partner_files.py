"""The partner tables: every line can be read, says what is allowed, and names nobody twice."""

import importlib.util
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT / "src" / "kontor" / "analysis" / "data"
BY_HAND = sorted((DATA / "partners").glob("*.txt"))
BUILT = DATA / "partners_nsi.txt"
OPTIONS = {
    "income", "insurance", "freelancer", "group", "web", "creditor", "street", "zip", "city", "country", "phone",
    "intermediary", "kinds",
}  # fmt: skip
CATEGORIES = """
LIVING: GROCERIES DRUGSTORE CONSUMABLES OTHER
HOUSING: RENT FINANCING ANCILLARYCOSTS SERVICES FURNISHING OTHER
BILLS: ELECTRICITY HEATING FIXEDINTERNET MOBILE OTHER TELECOMMUNICATIONS
HEALTH: SERVICES CONSUMABLES OTHERS
MOBILITY: VEHICLEACQUISITION BIKEACQUISITION FUEL SERVICES PARKING PUBLICTRANSPORT CARSHARE BIKESHARE TAXI OTHER
TRAVEL: ACCOMMODATION TRANSPORT ACTIVITIES INCLUSIVEOFFERS OTHER
FAMILY: CHILDCARE CHILDNECESSITIES TOYS CHILDACTIVITIES SUPPORT OTHER
EDUCATION: TRAINING ACADEMIC OTHER
SERVICES: FINANCIAL ONLINE OFFLINE OTHER
RECREATION: ENTERTAINMENTFOOD SPORTS CULTURAL HOBBY GARDEN ONLINE PRINTED PETS OTHER
SHOPPING: CLOTHINGACCESSORIES BEAUTY ELECTRONICS DIGITALCONTENT OTHER
INSURANCE: VEHICLE LIABILITY HOME HEALTH TRAVEL SPECIAL PROVISIONARY INCAPACITY LIFE OTHER
BANKFINANCE: ATMDEPOSIT ATMWITHDRAWAL CASHDEPOSIT CASHWITHDRAWAL TRANSFER CREDITINCOME CREDITPAYMENT INVESTMENT OTHER
SAVINGS: LIFEINSURANCE LIFEBUILDING ACCOUNT SECURITIES OTHER
INCOME: SALARY INVESTMENT RENTAL PENSION STATE_FAMILY STATE_EDUCATION OTHER
OTHER: INCOME SPENDING DONATION SUPPORT
TRANSFER: OWN OTHER
"""
INSURANCE_TYPES = """
VEHICLE: LIABILITY PARTIALCOVER FULLCOVER BREAKDOWN
LIABILITY: PRIVATE PETOWNER PROPERTYOWNER PROFESSIONAL
HOME: CONTENTS BUILDING GLASS NATURALHAZARD
HEALTH: PRIVATE STATUTORY DENTAL HOSPITAL CARE SICKPAY
TRAVEL: HEALTH CANCELLATION
SPECIAL: LEGAL CYBER DEVICE PET BIKE
PROVISIONARY: RIESTER RUERUP COMPANYPENSION PRIVATEPENSION FUNERAL
INCAPACITY: OCCUPATIONAL BASICABILITY CRITICALILLNESS ACCIDENT
LIFE: TERM ENDOWMENT UNITLINKED
OTHER:
"""
FREELANCER = {
    "REVENUE",
    "VATREFUND",
    "ASSETSALE",
    "GOODS",
    "EXTERNALSERVICES",
    "STAFF",
    "PREMISES",
    "TELECOMMUNICATIONS",
    "TRAVEL",
    "TRAINING",
    "LEGALTAX",
    "INSURANCEFEES",
    "ITCOSTS",
    "WORKEQUIPMENT",
    "ADVERTISING",
    "VEHICLE",
    "ENTERTAINMENT",
    "INTEREST",
    "VATPAID",
    "TRADETAX",
    "PRIVATEWITHDRAWAL",
    "PRIVATEDEPOSIT",
    "OTHER",
    "UNRELATED",
}


def expand(text: str, *extra: str) -> set[str]:
    found = set(extra)
    for line in text.split("\n"):
        main, _, subs = line.partition(":")
        found |= {f"{main}_{sub}" for sub in subs.split()}
    return found


VALID_CATEGORIES = expand(CATEGORIES, "TAXES")
VALID_TYPES = expand(INSURANCE_TYPES) | {f"{line.partition(':')[0]}_OTHER" for line in INSURANCE_TYPES.split()}


def load_builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_partners", ROOT / "scripts" / "build_partners.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


builder = load_builder()


@dataclass(frozen=True)
class Line:
    where: str
    name: str
    aliases: tuple[str, ...]
    category: str
    options: dict[str, str]

    def matched_texts(self) -> set[str]:
        """Folded texts that lead to this partner, the whole-name ones marked as such."""
        texts = {("=" if alias.startswith("=") else "") + builder.fold(alias) for alias in self.aliases if alias != "!"}
        return texts if "!" in self.aliases else texts | {builder.fold(self.name)}


def parse(path: Path) -> list[Line]:
    lines = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not text.strip() or text.startswith("#"):
            continue
        where = f"{path.name}:{number}"
        fields = text.split(" | ")
        assert len(fields) in (3, 4), f"{where}: {len(fields)} fields"
        assert "|" not in "".join(fields), f"{where}: a bar without blanks"
        name, aliases, category = (field.strip() for field in fields[:3])
        pairs = [
            option.strip().partition("=")
            for option in (fields[3] if len(fields) == 4 else "").split(";")
            if option.strip()
        ]
        assert all(sign and value for _, sign, value in pairs), f"{where}: an option without a value"
        listed = tuple(alias.strip() for alias in aliases.split(";")) if aliases else ()
        lines.append(Line(where, name, listed, category, {key: value for key, _, value in pairs}))
    return lines


HAND_LINES = [line for path in BY_HAND for line in parse(path)]
BUILT_LINES = parse(BUILT)
ALL_LINES = HAND_LINES + BUILT_LINES


def test_the_lists_are_as_long_as_promised() -> None:
    assert len(HAND_LINES) >= 1_500
    assert len(ALL_LINES) >= 5_000


def test_every_line_has_a_name_a_valid_category_and_known_options() -> None:
    wrong = [
        line.where
        for line in ALL_LINES
        if not line.name or line.category not in VALID_CATEGORIES or not line.options.keys() <= OPTIONS
    ]
    assert not wrong


def test_every_option_has_an_allowed_value() -> None:
    allowed = {"income": VALID_CATEGORIES, "insurance": VALID_TYPES, "freelancer": FREELANCER, "intermediary": {"yes"}}
    wrong = [
        f"{line.where}: {key}={line.options[key]}"
        for line in ALL_LINES
        for key, values in allowed.items()
        if key in line.options and line.options[key] not in values
    ]
    assert not wrong


def test_an_insurance_category_always_comes_with_a_type_of_its_division() -> None:
    wrong = [
        line.where
        for line in HAND_LINES
        if line.category.startswith("INSURANCE_") != ("insurance" in line.options)
        or line.options.get("insurance", "OTHER_OTHER").partition("_")[0]
        not in (line.category.removeprefix("INSURANCE_"), "OTHER")
    ]
    assert not wrong


def test_no_name_is_written_twice() -> None:
    names = Counter(builder.fold(line.name) for line in ALL_LINES)
    assert [name for name, uses in names.items() if uses > 1] == []


def test_no_text_leads_to_two_partners() -> None:
    owners: dict[str, set[str]] = defaultdict(set)
    for line in ALL_LINES:
        for text in line.matched_texts():
            owners[text.removeprefix("=")].add(line.name)
    assert {text: names for text, names in owners.items() if len(names) > 1} == {}


def test_no_text_is_too_short_to_tell_a_partner() -> None:
    wrong = [
        f"{line.where}: {text}"
        for line in ALL_LINES
        for text in line.matched_texts()
        if not text.startswith("=") and (len(text) < 3 or all(len(word) == 1 for word in text.split()))
    ]
    assert not wrong


def test_a_partner_that_is_not_matched_by_its_name_has_another_text() -> None:
    assert [line.where for line in ALL_LINES if "!" in line.aliases and len(line.aliases) == 1] == []


def test_creditor_ids_are_well_formed_and_belong_to_one_partner() -> None:
    ids = [
        creditor_id for line in ALL_LINES for creditor_id in line.options.get("creditor", "").split(",") if creditor_id
    ]
    assert len(ids) > 40
    assert len(ids) == len(set(ids))
    for creditor_id in ids:
        assert re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{3}[A-Z0-9]{8,28}", creditor_id), creditor_id
        digits = "".join(str(int(letter, 36)) for letter in creditor_id[7:] + creditor_id[:4])
        assert int(digits) % 97 == 1, creditor_id


def test_websites_are_plain_domains() -> None:
    domains = [line.options["web"] for line in ALL_LINES if "web" in line.options]
    assert [domain for domain in domains if not re.fullmatch(r"([a-z0-9-]+\.)+[a-z]{2,}", domain)] == []


def test_the_built_table_is_sorted_and_names_its_source_and_licence() -> None:
    names = [builder.fold(line.name) for line in BUILT_LINES]
    assert names == sorted(names)
    header = BUILT.read_text(encoding="utf-8").split("\n", 3)[:3]
    assert f"{builder.NPM_PACKAGE} {builder.NPM_VERSION}" in "".join(header)
    assert "BSD-3-Clause" in "".join(header)
    assert "CC0" in "".join(header)


def test_every_mapped_tag_has_a_valid_category() -> None:
    mapped = builder.read_categories(DATA / "osm_categories.txt")
    assert len(mapped) > 150
    assert {tag: category for tag, category in mapped.items() if category not in VALID_CATEGORIES} == {}


@pytest.mark.parametrize(
    ("places", "is_covered"),
    [
        ({"include": ["de"]}, True),
        ({"include": ["001"]}, True),
        ({"include": ["de-nw.geojson"]}, True),
        ({"include": ["001"], "exclude": ["de"]}, False),
        ({"include": ["fr", [10.0, 50.0]]}, False),
        ({}, False),
    ],
)
def test_a_brand_counts_when_it_covers_germany(places: dict[str, list[object]], is_covered: bool) -> None:
    assert builder.covers_germany(places) is is_covered


def test_what_is_written_by_hand_wins_over_what_is_built() -> None:
    items = [
        {"id": "1", "displayName": "Rewe", "locationSet": {"include": ["de"]}, "tags": {}},
        {"id": "2", "displayName": "Nagelneu", "locationSet": {"include": ["de"]}, "tags": {"alt_name": "Rewe"}},
        {"id": "3", "displayName": "Haus", "locationSet": {"include": ["de"]}, "tags": {}},
    ]
    tree = {"brands/shop/supermarket": {"properties": {}, "items": items}}
    categories = {"shop/supermarket": "LIVING_GROCERIES"}
    assert [partner.line() for partner in builder.choose(tree, categories, {"rewe"}, {"haus"}, [])] == []
    chosen = builder.choose(tree, categories, set(), {"haus"}, [])
    assert [partner.line() for partner in chosen] == ["Nagelneu |  | LIVING_GROCERIES", "Rewe |  | LIVING_GROCERIES"]


@pytest.mark.parametrize(
    ("tag", "name", "category"),
    [
        ("amenity/charging_station", "Stadtwerke Musterstadt", "BILLS_ELECTRICITY"),
        ("amenity/charging_station", "Schnellader", "MOBILITY_FUEL"),
        ("amenity/fuel", "Stadtwerke Musterstadt", "MOBILITY_FUEL"),
    ],
)
def test_a_supplier_with_charging_points_is_paid_for_electricity(tag: str, name: str, category: str) -> None:
    categories = {"amenity/charging_station": "MOBILITY_FUEL", "amenity/fuel": "MOBILITY_FUEL"}
    assert builder.find_category(tag, name, categories) == category


def test_a_town_is_no_partner_of_one_category() -> None:
    assert not builder.is_telling("Stadt Musterhausen", set(), [])
    assert builder.is_telling("Stadtbäckerei Musterhausen", set(), [])


@pytest.mark.parametrize(
    ("official", "name"),
    [
        ("Stadtwerke Muster GmbH & Co. KG", "Stadtwerke Muster"),
        ("Kinderhaus Muster e. V.", "Kinderhaus Muster"),
        ("Muster (Berlin)", "Muster"),
        ("Agag", "Agag"),
    ],
)
def test_the_legal_form_is_no_part_of_the_name_but_an_alias(official: str, name: str) -> None:
    texts = builder.find_texts({"displayName": official, "tags": {}})
    assert texts[0] == name
    assert set(texts) == {name, official}
