"""Evidence of one booking, added up."""

from collections.abc import Mapping, Sequence

from kontor.analysis.tagging.knowledge import NOT_LOCAL, NOTHING, Alias, Clue, Knowledge, Pattern
from kontor.analysis.tagging.lexicons import IN_NAME, IN_PURPOSE, IN_TEXT, MAINS
from kontor.analysis.tagging.matching import MIN_MENDED_NAME_LENGTH, Match, Matcher
from kontor.analysis.tagging.readings import CARD, Reading
from kontor.analysis.tagging.taggings import NO_INSURANCE, Evidence

# Kinds of evidence behind a category, as bits.
BY_PARTNER, BY_KEYWORD, BY_CODE, BY_CREDITOR, BY_RELATION, BY_MODEL = 1, 2, 4, 8, 16, 32
# How much of an insurance word in a name speaks for its product, and of any word there for a line of the income-surplus
# statement: a name tells who it was, the purpose what it was for.
NAME_SHARE = 0.4
# What is lighter is too faint to count as a hint that agrees.
HINT_WEIGHT = 1.0
# A general category this many times as heavy as the special one is meant itself: banks for mortgages give other loans.
OUTWEIGHS = 10
# A word behind these tells where a shop is or what it is called: `Gasthaus zur Apotheke`, `Kita am Theater`, or whose
# it is: `Kleintierpraxis Dr. Backhaus`.
OF_PLACE = (
    *(" am", " zum", " zur", " im", " beim", " an der", " an den", " in der", " alte", " alten", " alter"),
    *(" dr", " inh", " familie"),
)
PLACE_SHARE = 0.35
INSURANCE = "versich"
# What may stand behind a city that ends an organisation's name.
LOCAL_ENDS = frozenset(
    [
        *("|", "eg", "ag", "e", "gmbh", "finanzkasse", "am", "a", "an", "i", "im", "ga", "saale", "de", "ev"),
        *("zentrale", "zahlstelle", "gerichtszahlstelle", "gerichtskasse", "zentralkasse", "erhebung", "kasse"),
        *("grundbuchamt", "familiengericht", "nachlassgericht", "registergericht"),
    ]
)
DIRECTIONS = frozenset(["nord", "sued", "ost", "west", "mitte", "nordwest", "nordost", "suedwest", "suedost"])
SURROUNDINGS = (" und umgebung", " & umgebung", " u umgebung")
# What a word is part of when it goes on so, or is followed so: `Kindergartenweg`, `Apotheker Str.`
STREET_ENDINGS = ("strasse", "strass", "stras", "stra", "str", "gasse", "weg", "allee", "chaussee")
# `WEG` alone are the owners of a house.
STREETS = frozenset(STREET_ENDINGS) - {"weg"}
STREETS_BEGIN = frozenset(street[0] for street in STREETS)


class Tally:
    """Weights per category and per insurance type. `trace` collects evidence when somebody asks for reasons."""

    __slots__ = ("bonuses", "freelancers", "head", "hints", "kinds", "numbers", "places", "scores", "trace", "types")

    def __init__(self, trace: list[Evidence] | None) -> None:
        self.scores: dict[str, float] = {}
        self.bonuses: dict[str, float] = {}
        self.kinds: dict[str, int] = {}
        self.hints: dict[str, int] = {}
        self.types: dict[str, float] = {}
        # Weights per line of the income-surplus statement, by the category that they go with.
        self.freelancers: dict[str, dict[str, float]] = {}
        self.places: list[tuple[Alias, int, int]] = []
        # The patterns that were found, where a clue asks for them.
        self.numbers: set[int] | None = None
        # How many letters of the searched text tell who it was.
        self.head = 0
        self.trace = trace

    def add(self, category: str, weight: float, kind: int) -> None:
        self.scores[category] = self.scores.get(category, 0.0) + weight
        self.kinds[category] = self.kinds.get(category, 0) | kind
        self.hints[category] = self.hints.get(category, 0) + 1

    def support(self, category: str, weight: float) -> None:
        """Weight for a main category, whichever of its subcategories it will be."""
        main = MAINS[category]
        self.bonuses[main] = self.bonuses.get(main, 0.0) + weight

    def doubt(self, shares: Mapping[str, float]) -> None:
        """Lessens what hardly happens that way."""
        scores = self.scores
        for category in scores:
            share = shares.get(category) or shares.get(MAINS[category])
            if share is not None:
                scores[category] *= share

    def refine(self, refinements: Mapping[str, Sequence[tuple[str, float]]]) -> None:
        """What speaks for a general category speaks for the special one, where that is named: a loan for a house."""
        scores = self.scores
        for general in [category for category in scores if category in refinements]:
            for special, least in refinements[general]:
                if scores.get(special, 0.0) >= max(least, scores[general] / OUTWEIGHS):
                    scores[special] += scores.pop(general)
                    self.kinds[special] |= self.kinds[general]
                    break

    def add_type(self, insurance_type: str, weight: float) -> None:
        self.types[insurance_type] = self.types.get(insurance_type, 0.0) + weight

    def add_freelancer(self, category: str, freelancer_category: str, weight: float, is_name: bool) -> None:
        lines = self.freelancers.setdefault(category, {})
        lines[freelancer_category] = lines.get(freelancer_category, 0.0) + (weight * NAME_SHARE if is_name else weight)

    def choose_freelancer(self, category: str) -> str | None:
        """The heaviest line for that category, if any is named; of equal ones the alphabet decides."""
        lines = self.freelancers.get(category)
        return min(lines, key=lambda line: (-lines[line], line)) if lines else None

    def add_clue(self, clue: Clue, kind: int, found: str, place: int = 0, share: float = 1.0) -> None:
        category, weight = clue.category, clue.weight * share
        if place == IN_NAME and clue.insurance_type != NO_INSURANCE:
            # A company's name tells that it insures, the purpose tells what.
            self.support(category, weight * (1 - NAME_SHARE))
            weight *= NAME_SHARE
        self.scores[category] = self.scores.get(category, 0.0) + weight
        self.kinds[category] = self.kinds.get(category, 0) | kind
        self.hints[category] = self.hints.get(category, 0) + (weight >= HINT_WEIGHT)
        if clue.main_weight:
            self.support(category, clue.main_weight)
        if clue.insurance_type != NO_INSURANCE:
            self.add_type(clue.insurance_type, weight)
        if clue.freelancer_category:
            self.add_freelancer(category, clue.freelancer_category, clue.weight * share, place == IN_NAME)
        if self.trace is not None:
            detail = category if clue.insurance_type == NO_INSURANCE else f"{category} {clue.insurance_type}"
            source = f"{clue.keyword.source}: {detail}"
            self.trace.append(Evidence(name_kind(clue, place), found, source, share * clue.weight + clue.main_weight))


def name_kind(clue: Clue, place: int) -> str:
    """The kind of evidence that a clue is, see `EVIDENCE_KINDS`."""
    if clue.keyword.code:
        return "gv-code" if clue.keyword.code.startswith("gv:") else "purpose-code"
    return "booking-text" if place == IN_TEXT else "keyword"


def is_street(text: str, end: int) -> bool:
    """Whether the word that ends there, or goes on there, names a street. Behind a street's own word comes a number or
    nothing: `Miete Straße des Friedens` is rent."""
    if text[end] == " ":
        if text[end + 1 : end + 2] not in STREETS_BEGIN:
            return False
        stop = text.find(" ", end + 1)
        behind = text[stop + 1 : stop + 2]
        return text[end + 1 : stop] in STREETS and (not behind or behind == "|" or behind.isdigit())
    return text.endswith(STREET_ENDINGS, end, text.find(" ", end))


def localise(alias: Alias, text: str, end: int) -> Alias:
    """An organisation of a city is meant where its name ends there: `Finanzamt Köln-Mitte` is not that of all Köln, but
    a tax office."""
    if alias.general == NOT_LOCAL:
        return alias
    following = text[end + 1 : text.find(" ", end + 1)]
    if not following or following in LOCAL_ENDS or following[0].isdigit():
        return alias
    if text.startswith(SURROUNDINGS, end) or (alias.is_full and following not in DIRECTIONS):
        return alias
    return Alias(alias.general, False, alias.letters, 1, alias.text, NOT_LOCAL)


Meaning = tuple[tuple[Clue, ...], tuple[Clue, ...], tuple[Alias, ...], bool, int, str]


class _Meanings(dict[int, Meaning | None]):
    """What each pattern says for one sign, as a bare tuple: this is read for every find."""

    def __init__(self, patterns: dict[int, Pattern], is_incoming: bool) -> None:
        super().__init__()
        self._patterns, self._is_incoming = patterns, is_incoming

    def __missing__(self, number: int) -> Meaning | None:
        meaning = self[number] = self._find(self._patterns[number])
        return meaning

    def _find(self, pattern: Pattern) -> Meaning | None:
        if pattern is NOTHING:
            return None
        clues, joint = pattern.outgoing, pattern.joint_outgoing
        if self._is_incoming:
            clues, joint = pattern.incoming, pattern.joint_incoming
        return clues, joint, pattern.aliases, pattern.is_closed, pattern.tail, pattern.word


class Collector:
    """Walks over the finds of a booking and fills its tally."""

    def __init__(self, knowledge: Knowledge, surnames: frozenset[str]) -> None:
        patterns = knowledge.patterns
        self._meanings = (_Meanings(patterns, is_incoming=False), _Meanings(patterns, is_incoming=True))
        self._codes = knowledge.codes
        self._matcher = Matcher(knowledge)
        self._surnames = surnames

    def collect(self, reading: Reading, is_person: bool, tally: Tally) -> None:
        name, extra = reading.name, reading.ultimate
        if reading.is_name_cut and name:
            completion = self._matcher.complete(name)
            # No till sells insurance: `SCHMUCKV` is not `Schmuckversicherung`.
            if not (reading.channel == CARD and INSURANCE in completion):
                extra = f"{extra} | {completion}"
        if reading.has_merchant and (mended := self._matcher.mend(f"{name} {extra}", MIN_MENDED_NAME_LENGTH)):
            # A merchant's name comes out of a purpose, where lines' ends cut it.
            extra = f"{extra} |{mended}"
        head = f" {name} | {extra}" if extra else f" {name}"
        purpose = reading.purpose
        if purpose and (mended := self._matcher.mend(purpose)):
            purpose = f"{purpose} |{mended}"
        body = f"{head} | {purpose}"
        text = f"{body} | {reading.text} "
        tally.head = len(head) if name or extra else 0
        matches = self._matcher.find(text)
        if matches:
            self._walk(matches, text, (len(head), len(body)), reading, is_person, tally)
        if reading.gv_code or reading.purpose_code:
            self._add_codes(reading, tally)

    def _walk(
        self, matches: list[Match], text: str, ends: tuple[int, int], reading: Reading, is_person: bool, tally: Tally
    ) -> None:
        meanings = self._meanings[reading.is_incoming]
        name_end, purpose_end = ends
        # A person's name is no trade: Schneider, Koch, Fischer.
        in_name = 0 if is_person else IN_NAME
        in_purpose = IN_NAME | IN_PURPOSE if reading.is_unnamed else IN_PURPOSE
        keyword_end = partner_end = -1
        done: set[str] = set()
        is_past_name = False
        for number, start, end in matches:
            meaning = meanings[number]
            if meaning is None:
                continue
            clues, joint, aliases, is_closed, tail, word = meaning
            place = in_name if start < name_end else in_purpose if start < purpose_end else IN_TEXT
            if joint and f"+{word}" not in done and self._add_clues(joint, place, matches, text[start:end], tally):
                done.add(f"+{word}")
            # The blank behind a word is none of it: `sparplan*` and `*sparplan` find the same word.
            end -= tail
            is_free = end > keyword_end
            if start >= name_end and not is_past_name:
                # What the purpose says again counts again: an insurer's name is not what was insured.
                is_past_name = True
                done.clear()
            if aliases and end > partner_end:
                tally.places.extend([(localise(alias, text, end), start, end) for alias in aliases])
                partner_end = end
                # Words inside a shop's name are but its name; a brand that a purpose mentions hides nothing.
                if is_closed and place & IN_NAME and end > keyword_end:
                    keyword_end = end
            if clues and is_free and word not in done and not is_street(text, end):
                share = self._find_share(text, start, end, name_end) if start > 0 and place & IN_NAME else 1.0
                if self._add_clues(clues, place, matches, text[start:end], tally, share):
                    keyword_end = end
                    done.add(word)

    def _find_share(self, text: str, start: int, end: int, name_end: int) -> float:
        """How much a word in a name counts: less behind what tells a place, and as a surname, which never comes first:
        `Elektro Metzger`."""
        begin = start if text[start] == " " else text.rfind(" ", 0, start)
        if text.endswith(OF_PLACE, 0, begin):
            return PLACE_SHARE
        is_behind = 0 < begin < name_end and text[begin - 1] != "|"
        return PLACE_SHARE if is_behind and text[end] == " " and text[begin + 1 : end] in self._surnames else 1.0

    def _add_clues(
        self,
        clues: tuple[Clue, ...],
        place: int,
        matches: list[Match],
        found: str,
        tally: Tally,
        share: float = 1.0,
    ) -> bool:
        """Adds what counts here: all that a clue needs is there, and nothing that excludes it."""
        has_added = False
        for clue in clues:
            if not clue.places & place:
                continue
            if clue.needed or clue.excluded:
                if tally.numbers is None:
                    tally.numbers = {match[0] for match in matches}
                if not (tally.numbers.issuperset(clue.needed) and tally.numbers.isdisjoint(clue.excluded)):
                    continue
            tally.add_clue(clue, BY_KEYWORD, found, place, share)
            has_added = True
        return has_added

    def _add_codes(self, reading: Reading, tally: Tally) -> None:
        codes = self._codes[not reading.is_incoming]
        if reading.gv_code:
            for clue in codes.get(f"gv:{reading.gv_code}", ()):
                tally.add_clue(clue, BY_CODE, reading.gv_code)
        if reading.purpose_code:
            for clue in codes.get(f"purp:{reading.purpose_code}", ()):
                tally.add_clue(clue, BY_CODE, reading.purpose_code)
