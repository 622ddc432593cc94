"""Which of the partners found in a booking is the one it was made with, and what that says about it."""

from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.knowledge import LEGAL_FORMS, NOBODY, Alias, Knowledge
from kontor.analysis.tagging.lexicons import Rules, find_main, name_insurance_category
from kontor.analysis.tagging.partners import Partner
from kontor.analysis.tagging.persons import FAMILY, OWN, OWN_SAVINGS, PERSON
from kontor.analysis.tagging.readings import TILLS, Reading
from kontor.analysis.tagging.taggings import NO_INSURANCE, Evidence
from kontor.analysis.tagging.tallies import BY_CREDITOR, BY_PARTNER, Tally

# Where a partner was found, from the surest place down.
AT_CREDITOR, AT_START, AT_NAME, AT_UNNAMED, AT_PURPOSE = "creditor", "start", "name", "unnamed", "purpose"
RANKS = {AT_CREDITOR: 100.0, AT_START: 60.0, AT_NAME: 50.0, AT_UNNAMED: 45.0, AT_PURPOSE: 20.0}
# What a partner's category weighs by that place, and which share of it is left for broad ones.
WEIGHTS = {AT_CREDITOR: 5.5, AT_START: 4.9, AT_NAME: 3.8, AT_UNNAMED: 4.2, AT_PURPOSE: 2.0}
SHARES = {AT_CREDITOR: 1.2, AT_START: 1.0, AT_NAME: 0.9, AT_UNNAMED: 0.9, AT_PURPOSE: 0.5}
WHOLE_NAME = 15.0
BUILT_SHARE = 0.8
# Money from a shop is most often paid back, but may be a wage.
REFUND_SHARE = 0.6
MIN_IN_PURPOSE_LENGTH = 5
# Where the kind of shop before it tells that a common word is a brand.
NAMED_AFTER_TRADE = ("SHOPPING_", "MOBILITY_", "HOUSING_FURNISHING", "LIVING_DRUGSTORE")
# The number of a branch behind a brand; and how much its further words must weigh to tell the same trade.
MIN_BRANCH_LENGTH, TELLING_WEIGHT = 3, 1.5
# What a shop's address is made of: words that are too short to be another name, and streets.
MIN_NAME_WORD_LENGTH = 3
STREETS = ("str", "strasse", "weg", "allee", "platz", "ring", "damm", "ufer", "chaussee", "gasse")
# A brand in the midst of a name whose other words tell another trade counts this much: `Tagespflege Lichtblick`.
STRANGE_SHARE = 0.3
# What a partner says about the product. A health fund has but one.
PRODUCT_TYPE, GENERAL_TYPE, ONLY_TYPE = 2.0, 0.0, 6.0
ONLY_PRODUCTS = frozenset({"HEALTH_STATUTORY"})
# Where others sell: who is named behind them is the partner (`GOOGLE *DUOLINGO`).
STAGES = frozenset({"GOOGLE", "GOOGLE_PLAY"})
# What a transfer to a person is for where its purpose names such a partner.
INVESTED = frozenset({"BANKFINANCE_INVESTMENT", "SAVINGS_SECURITIES"})
# What the names of districts and towns begin with.
DISTRICTS = frozenset({"kreis", "landkreis", "lkr", "stadt", "gemeinde", "regionalverband"})
OFFICES = frozenset(
    {"kreiskasse", "kasse", "hauptkasse", "stadtkasse", "landrat", "landratsamt", "kreisverwaltung", "verwaltung"}
    | {"buergerbuero", "rathaus", "bussgeldstelle", "steueramt", "zulassungsstelle", "strassenverkehrsamt"}
)
# Behind these another's house is named, a town, or who owns the brand in front.
INSIDE = frozenset({"im", "beim", "neben", "gegenueber"})
LOCAL = frozenset({"stadtwerke", "stadt", "gemeinde", "amtsgericht", "finanzamt", "klinikum", "landratsamt", "bahnhof"})
OF_OTHERS = (
    *(" marke der", " niederlassung der", " zweigniederlassung der", " ndl der", " branch of"),
    *(" tochter der", " unternehmen der"),
)
# Banks are named in purposes for many reasons.
PASSED_OVER = frozenset({"BANKFINANCE", "SERVICES"})


class Choice:
    # Written out, as it is made for nearly every booking: what `dataclass` would write is not compiled.
    def __init__(self, partner: Partner, place: str, letters: int, rivals: int, text: str) -> None:
        self.partner, self.place, self.letters = partner, place, letters
        self.rivals, self.text = rivals, text


class PartnerChooser:
    def __init__(self, knowledge: Knowledge, rules: Rules) -> None:
        self._partners, self._creditors = knowledge.partners, knowledge.creditors
        self._rules = rules
        self._meanings: dict[str, tuple[str, str]] = {}

    def _mean(self, partner: Partner) -> tuple[str, str]:
        """The category of money coming from a partner, and of money going there."""
        rules, category = self._rules, partner.category
        if partner.insurance_type:
            category = name_insurance_category(partner.insurance_type)
        incoming = partner.income or rules.mirror(category, True)
        if not partner.income and (incoming != category or partner.insurance_type in ONLY_PRODUCTS):
            incoming = "INCOME_OTHER"
        return incoming, rules.mirror(category, False)

    def choose(self, reading: Reading, relation: str, tally: Tally) -> Choice | None:
        """The best find, or nothing."""
        number = self._creditors.get(reading.creditor_id) if reading.creditor_id else None
        if not tally.places and number is None:
            return None
        if relation in (OWN, OWN_SAVINGS):
            return None
        best_rank, best, count = 0.0, None, 0
        for alias, start, _ in tally.places:
            place = "" if alias.partner == NOBODY else self._locate(alias, start, tally, reading, relation)
            if not place:
                continue
            partner = self._partners[alias.partner]
            # Behind a collector another one may be the merchant: Digistore24 behind PayPal.
            if partner.is_intermediary and (place == AT_NAME or (reading.has_merchant and place != AT_START)):
                continue
            rank = RANKS[place] + min(alias.letters, 20) - find_handicap(partner)
            if place == AT_START and alias.text == reading.name:
                # Nobody else who is named beside it is meant.
                rank += WHOLE_NAME
            count += 1
            if rank > best_rank:
                best_rank, best = rank, (alias, place)
        is_told = best is not None and is_plain(best[0], best[1], self._partners[best[0].partner], reading)
        if number is not None and not is_told and (best is None or not self._is_kin(best[0].partner, number)):
            known = self._partners[number]
            if not (known.is_intermediary and (reading.has_merchant or best is not None)):
                return Choice(known, AT_CREDITOR, 20, 0, reading.creditor_id)
        if best is None:
            return None
        alias, place = best
        if len(tally.places) > 1:
            alias = self._specify(alias, tally, has_rivals=count > 1)
        return Choice(self._partners[alias.partner], place, alias.letters, count - 1, alias.text)

    def _specify(self, chosen: Alias, tally: Tally, *, has_rivals: bool) -> Alias:
        """The brand of the same house that the purpose names: Audible behind Amazon. Or the one that is called by its
        name where a company of several brands stands in front: WEB.DE behind 1&1 Mail & Media."""
        house = self._partners[chosen.partner]
        for alias, start, _ in tally.places:
            if alias.partner == NOBODY or alias.is_whole or alias.letters < MIN_IN_PURPOSE_LENGTH:
                continue
            brand = self._partners[alias.partner]
            if not brand.group or brand is house:
                continue
            if is_head_of(house, brand.group):
                if has_rivals and start >= tally.head:
                    return alias
            elif brand.group == house.group and is_sibling_meant(brand, alias.text, house, chosen.text):
                return alias
        return chosen

    def _is_kin(self, number: int, other: int) -> bool:
        """A creditor may collect for several brands of its group; the name then knows better."""
        first, second = self._partners[number], self._partners[other]
        return (
            number == other
            or (bool(first.group) and first.group in (second.group, second.name))
            or (bool(second.group) and second.group == first.name)
        )

    def _locate(self, alias: Alias, start: int, tally: Tally, reading: Reading, relation: str) -> str:
        """Where an alias stands, or an empty text if it does not count there."""
        is_person = relation in (PERSON, FAMILY)
        if start < tally.head:
            if alias.is_whole and not self._is_whole(alias, start, reading, tally):
                return ""
            if is_person and alias.words == 1:
                return ""
            if start == 0:
                return AT_START
            return "" if is_part_of_another(alias.text, reading.name[:start].rstrip()) else AT_NAME
        if is_person and not alias.is_whole and self._partners[alias.partner].category in INVESTED:
            # Who sends money to an account of their own at a broker writes the broker into the purpose.
            return AT_UNNAMED
        if is_person or (alias.is_whole and not self._begins(alias, reading, tally)):
            return ""
        if reading.is_unnamed:
            return AT_UNNAMED
        if alias.letters < MIN_IN_PURPOSE_LENGTH or find_main(self._partners[alias.partner].category) in PASSED_OVER:
            return ""
        return AT_PURPOSE

    def _is_whole(self, alias: Alias, start: int, reading: Reading, tally: Tally) -> bool:
        """Whether a name is that alias, but for what tills add and for places; or goes on with words that tell the same
        kind of shop: `THALIA BUCHHAUS`."""
        if alias.text == reading.ultimate:
            return True
        if start > 0:
            return self._follows_trade(alias, start, reading, tally)
        if not reading.name.startswith(alias.text):
            return False
        rest = reading.name[len(alias.text) :].split()
        if rest and rest[0] in self._rules.places and reading.channel in TILLS:
            # `SATURN KOELN HANSARING`
            return True
        if all(word.isdigit() or word in NAME_FILLERS or word in self._rules.places for word in rest):
            return True
        if rest[0].isdigit() and len(rest[0]) >= MIN_BRANCH_LENGTH:
            return True
        if reading.channel in TILLS and self._is_address(rest):
            return True
        category = self._partners[alias.partner].category
        main = find_main(category)
        return any(
            weight >= TELLING_WEIGHT and find_main(category) == main for category, weight in tally.scores.items()
        )

    def _begins(self, alias: Alias, reading: Reading, tally: Tally) -> bool:
        """Whether a purpose without a counterparty begins with a common word that is a name there: `O2 GMBH RECHNUNG`,
        or words of the same trade follow."""
        if not reading.is_unnamed or not reading.purpose.startswith(f"{alias.text} "):
            return False
        if reading.purpose[len(alias.text) + 1 :].partition(" ")[0] in LEGAL_FORMS:
            return True
        main = find_main(self._partners[alias.partner].category)
        return any(
            weight >= TELLING_WEIGHT and find_main(category) == main for category, weight in tally.scores.items()
        )

    def _is_address(self, words: list[str]) -> bool:
        """Whether words behind a shop's name tell where it is: `JET BAHNHOFSTR 12`, `STAR TS WIESBADEN`."""
        return all(
            word.isdigit()
            or len(word) < MIN_NAME_WORD_LENGTH
            or word in NAME_FILLERS
            or word in self._rules.places
            or word.endswith(STREETS)
            for word in words
        )

    def _follows_trade(self, alias: Alias, start: int, reading: Reading, tally: Tally) -> bool:
        """Whether a name is the kind of shop and then the brand: `JUWELIER CHRIST`."""
        category = self._partners[alias.partner].category
        if not category.startswith(NAMED_AFTER_TRADE) or not reading.name.endswith(alias.text):
            return False
        return " " not in reading.name[: start - 1] and tally.scores.get(category, 0.0) >= TELLING_WEIGHT

    def weigh(self, choice: Choice, reading: Reading, tally: Tally) -> None:
        """Adds what the partner says about category and insurance type."""
        partner, place = choice.partner, choice.place
        name = partner.system_name
        meaning = self._meanings.get(name) or self._meanings.setdefault(name, self._mean(partner))
        category = meaning[not reading.is_incoming]
        if not category or partner.is_intermediary:
            return
        kind = BY_CREDITOR if place == AT_CREDITOR else BY_PARTNER
        broad = self._rules.find_broad(category)
        share = BUILT_SHARE if partner.is_built else 1.0
        if place == AT_NAME and " " not in choice.text and is_strange(partner, tally):
            share *= STRANGE_SHARE
        if reading.is_incoming and category == "INCOME_OTHER" and not partner.income:
            share *= REFUND_SHARE
            broad = None
        if broad is None:
            weight = WEIGHTS[place] * share
        else:
            weight = broad[0] * SHARES[place] * share
            tally.support(category, broad[1] * SHARES[place] * share)
        tally.add(category, weight, kind)
        if category.startswith("INSURANCE_"):
            insurance_type = partner.insurance_type or _name_other(category)
            tally.add_type(insurance_type, weigh_type(insurance_type))
        if partner.freelancer_category:
            tally.add_freelancer(category, partner.freelancer_category, weight, place != AT_PURPOSE)
        if tally.trace is not None:
            kind_name = "creditor-id" if place == AT_CREDITOR else "partner"
            tally.trace.append(Evidence(kind_name, choice.text, f"{partner.system_name}: {category}", round(weight, 2)))


# What tills and registers add to a shop's name.
NAME_FILLERS = frozenset(
    [
        "sagt",
        "danke",
        "dankt",
        "fil",
        "filiale",
        "gmbh",
        "ag",
        "kg",
        "co",
        "se",
        "&",
        "mbh",
        "deutschland",
        "de",
        "markt",
        "nr",
        "store",
        "shop",
        "station",
        "ltd",
        "limited",
        "inc",
        "bv",
        "sarl",
        "sa",
        "ohg",
        "eg",
        "ek",
        "ug",
        "llc",
        "srl",
        "spa",
        "ab",
        "as",
        "europe",
        "germany",
        "international",
        "online",
        "onlineshop",
        "com",
        "dtl",
        "deutschl",
    ]
)


def is_plain(alias: Alias, place: str, partner: Partner, reading: Reading) -> bool:
    """Whether the name tells plainly who it was. A house may collect for brands that are no kin of it in any table, so
    that its creditor id says less then."""
    is_long = alias.letters >= MIN_IN_PURPOSE_LENGTH or alias.text == reading.name
    return place == AT_START and is_long and not partner.is_intermediary


def is_part_of_another(text: str, before: str) -> bool:
    """Whether what stands in the midst of a name tells but where somebody is or whose they are: `Postagentur im Edeka`,
    `Musikschule Kreis Pinneberg`. A district's own offices are the district: `Kreiskasse Landkreis Kassel`."""
    last = before[before.rfind(" ") + 1 :]
    if last in INSIDE or last in LOCAL or before.endswith(OF_OTHERS) or (last == "fuer" and text.startswith("die ")):
        return True
    if text.partition(" ")[0] not in DISTRICTS and not text.endswith("kreis"):
        return False
    return last not in OFFICES


def is_strange(partner: Partner, tally: Tally) -> bool:
    main = find_main(partner.category)
    return any(
        weight >= TELLING_WEIGHT and find_main(category) not in (main, "OTHER")
        for category, weight in tally.scores.items()
    )


def find_handicap(partner: Partner) -> float:
    """How much others are preferred to it."""
    if partner.is_intermediary:
        return 45.0
    return 15.0 if partner.system_name in STAGES else 2.5 * partner.is_built


def is_sibling_meant(brand: Partner, text: str, house: Partner, company: str) -> bool:
    """Whether a brand is called by its name while its sibling was found by the name of their company only. The head of
    the group is no more special than a brand: `Xbox Game Pass Microsoft`."""
    if fold(brand.name) != text or is_head_of(brand, house.group):
        return False
    return not company.startswith(fold(house.name))


def is_head_of(house: Partner, group: str) -> bool:
    """Whether a group is called by that partner's name: Amazon, but not Deutsche Bahn for Call a Bike."""
    return group == house.name or (group == house.group and group.startswith(house.name))


def weigh_type(insurance_type: str) -> float:
    if insurance_type in ONLY_PRODUCTS:
        return ONLY_TYPE
    return GENERAL_TYPE if insurance_type.endswith("_OTHER") else PRODUCT_TYPE


def _name_other(category: str) -> str:
    """The type without a product of an insurance category."""
    return f"{category.partition('_')[2]}_OTHER" if category.startswith("INSURANCE_") else NO_INSURANCE
