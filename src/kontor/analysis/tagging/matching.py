"""Finds all known words of a booking in one pass of an Aho-Corasick automaton.

Whole words are searched for with blanks around them, beginnings and endings with a blank on one side. What lies inside
a longer find is dropped: `Deutsche Post` is no post office box.
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.lexicons import EITHER_WAY, Keyword, Rules, find_main, spell_atom, weigh
from kontor.analysis.tagging.partners import Partner
from kontor.analysis.tagging.sepa_tags import normalise_creditor_id

# Keywords that name a kind of bill or contract but not which: they speak for the whole main category.
GENERIC = frozenset({"INSURANCE_OTHER", "BILLS_TELECOMMUNICATIONS"})
GENERIC_OWN, GENERIC_MAIN = 0.4, 0.6
# A mirrored hint (a shop's word in money coming in) is only half a hint.
MIRRORED = 0.5
# The last word of a longer alias may go on: `Allianz Lebensversicherung` finds `ALLIANZ LEBENSVERSICHERUNGS-AG`.
OPEN_ENDED_LETTERS = 7
SHORTEST_ALIAS = 2
# A lighter hint changes nothing: neither does it decide, nor is it asked for beside the model.
FAINTEST = 0.15
LEGAL_FORMS = frozenset({"gmbh", "ag", "kg", "se", "ev", "eg", "ug", "de", "com", "mbh"})
# Names of such partners say what they sell: `HUK-COBURG Rechtsschutz`. Words inside other names are but names.
OPEN_MAINS = frozenset({"INSURANCE", "BILLS", "BANKFINANCE", "SAVINGS", "INCOME"})
SHORTEST_COMPLETION, SHORTEST_BRAND_START = 5, 8
LONGEST_COMPLETION = 1.75
SHORTEST_MENDED, SHORTEST_MENDED_NAME = 8, 6
SHORTEST_RUN_TOGETHER, MOST_WORDS_RUN_TOGETHER = 8, 2
# `Stadthalle` is a hall, not the town of Halle.
NEVER_RUN_TOGETHER = frozenset({"stadt", "landkreis", "kreis", "gemeinde", "zoo", "bar"})


@dataclass(slots=True)
class Clue:
    """What a keyword or code says for one sign."""

    category: str
    weight: float
    main_weight: float
    places: int
    insurance_type: str
    freelancer_category: str
    needed: tuple[int, ...]
    excluded: tuple[int, ...]
    keyword: Keyword


@dataclass(slots=True)
class Alias:
    """A partner's name as it may stand in a text. `is_whole`: only as the whole name."""

    partner: int
    is_whole: bool
    letters: int
    words: int
    text: str


@dataclass(slots=True)
class Pattern:
    """All that one pattern stands for. Clues that need further words apart from this one are `joint`; `tail` is the
    blank at its end, `word` what it searches for without blanks."""

    incoming: tuple[Clue, ...]
    outgoing: tuple[Clue, ...]
    joint_incoming: tuple[Clue, ...]
    joint_outgoing: tuple[Clue, ...]
    aliases: tuple[Alias, ...]
    is_closed: bool
    tail: int
    word: str


Match = tuple[int, int, int]
read_start = itemgetter(1)
NOTHING = Pattern((), (), (), (), (), False, 0, "")


class _Builder:
    """Collects patterns before the automaton is built."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.clues: dict[int, tuple[list[Clue], list[Clue]]] = {}
        self.aliases: dict[int, list[Alias]] = {}

    def number(self, pattern: str) -> int:
        return self.numbers.setdefault(pattern, len(self.numbers))


class Matcher:
    """The automaton with what each of its patterns stands for."""

    def __init__(self, partners: Iterable[Partner], keywords: Iterable[Keyword], rules: Rules) -> None:
        self.partners = tuple(partners)
        builder = _Builder()
        self.codes: tuple[dict[str, tuple[Clue, ...]], dict[str, tuple[Clue, ...]]] = ({}, {})
        for keyword in keywords:
            self._add_keyword(builder, keyword, rules)
        for number, partner in enumerate(self.partners):
            add_aliases(builder, number, partner)
        texts = list(builder.numbers)
        closed = {number for number, one in enumerate(self.partners) if find_main(one.category) not in OPEN_MAINS}
        self.patterns = [self._make_pattern(builder, number, text, closed) for number, text in enumerate(texts)]
        self._automaton = AhoCorasick(texts, matchkind=MatchKind.Standard, implementation=Implementation.ContiguousNFA)
        self.texts = texts
        self.creditors = {
            normalise_creditor_id(one): number
            for number, partner in enumerate(self.partners)
            for one in partner.creditor_ids
        }
        # Common words are among them so that nothing longer is taken for what they were: `DEUTSCHLA` is no ticket.
        spelled = {text.strip() for text in texts}
        self._completions = group_by_start(spelled | rules.companies)
        self._words = frozenset(text for text in spelled if " " not in text)
        self.names = frozenset(alias.text for one in self.patterns for alias in one.aliases)
        self._brands = frozenset(
            one.word for one in self.patterns if one.aliases and not (one.incoming or one.outgoing)
        )

    def _make_pattern(self, builder: _Builder, number: int, text: str, closed: set[int]) -> Pattern:
        clues = builder.clues.get(number)
        aliases = tuple(builder.aliases.get(number, ()))
        if clues is None and not aliases:
            return NOTHING
        incoming, outgoing = clues or ([], [])
        single_incoming, joint_incoming = part_joint(incoming)
        single_outgoing, joint_outgoing = part_joint(outgoing)
        return Pattern(
            single_incoming,
            single_outgoing,
            joint_incoming,
            joint_outgoing,
            aliases,
            any(alias.partner in closed for alias in aliases),
            int(text.endswith(" ")),
            text.strip(),
        )

    def _add_keyword(self, builder: _Builder, keyword: Keyword, rules: Rules) -> None:
        numbers = tuple([builder.number(text) for atom in keyword.atoms if (text := spell_atom(atom))])
        excluded = tuple([builder.number(text) for word in keyword.excluded if (text := spell_atom(word))])
        if not numbers and not keyword.code:
            return
        for is_incoming in (True, False):
            clue = make_clue(keyword, is_incoming, rules, numbers[1:], excluded)
            if clue is None:
                continue
            if keyword.code:
                codes = self.codes[not is_incoming]
                codes[keyword.code] = (*codes.get(keyword.code, ()), clue)
            else:
                builder.clues.setdefault(numbers[0], ([], []))[not is_incoming].append(clue)

    def find(self, text: str) -> list[Match]:
        """All finds, those that begin first and reach farthest first."""
        matches = self._automaton.find_matches_as_indexes(text, overlapping=True)
        if len(matches) > 1:
            # They come by their ends; the reversed and stably sorted list is by start, longest first.
            matches.reverse()
            matches.sort(key=read_start)
        return matches

    def complete(self, name: str) -> str:
        """Known words that a cut name may have gone on with: the whole name's, or else its last word's."""
        found = self._complete_one(name)
        last = name[name.rfind(" ") + 1 :]
        if found is None and len(last) >= SHORTEST_COMPLETION and last != name:
            found = self._complete_one(last)
            # A surname is no beginning of a brand: `LINDNER` is not `Lindner Hotel`, `LOTTE` not `Lotteria`.
            if found and (" " in found or (len(last) < SHORTEST_BRAND_START and found in self._brands)):
                found = ""
        return found or ""

    def _complete_one(self, start: str) -> str | None:
        """What begins so; empty if it is known as it is or far shorter, None if nothing does."""
        known = self._completions.get(start[:SHORTEST_COMPLETION])
        if known is None:
            return None
        place = bisect_left(known, start)
        if place == len(known) or not known[place].startswith(start):
            return None
        found = known[place]
        # What goes on with another word was not cut: `Stadtwerke Neumünster` is not their `Glasfaser`.
        is_whole = found == start or found[len(start)] == " "
        return "" if is_whole or len(found) > len(start) * LONGEST_COMPLETION else found

    def mend(self, text: str, shortest: int = SHORTEST_MENDED) -> str:
        """Known words that a line's end tore apart: `LEBENSVERSICHERU NG`. Empty if there are none."""
        known = self._words
        mended = [
            one + two
            for one, two in pairwise(text.split())
            if len(one) + len(two) >= shortest and one + two in known and not (one in known and two in known)
        ]
        return f" {' '.join(mended)}" if mended else ""


def part_joint(clues: list[Clue]) -> tuple[tuple[Clue, ...], tuple[Clue, ...]]:
    """Clues that need no further words, and those that do."""
    if not clues:
        return (), ()
    return tuple([clue for clue in clues if not clue.needed]), tuple([clue for clue in clues if clue.needed])


def group_by_start(words: Iterable[str]) -> dict[str, list[str]]:
    """The words in their order, by their first letters: what begins like a word is then looked for among few."""
    groups: dict[str, list[str]] = {}
    for word in sorted(words):
        groups.setdefault(word[:SHORTEST_COMPLETION], []).append(word)
    return groups


def make_clue(
    keyword: Keyword, is_incoming: bool, rules: Rules, needed: tuple[int, ...], excluded: tuple[int, ...]
) -> Clue | None:
    """What a keyword says for that sign, or nothing."""
    if keyword.sign and (keyword.sign == "+") != is_incoming:
        return None
    weight = weigh(keyword.strength)
    meant = rules.mirror(keyword.category, is_incoming)
    if meant != keyword.category:
        if keyword.sign and keyword.category in EITHER_WAY:
            meant = keyword.category
        elif not meant:
            return None
        elif not keyword.sign:
            weight *= MIRRORED
    if weight < FAINTEST:
        return None
    is_generic = meant in GENERIC
    return Clue(
        meant,
        weight * GENERIC_OWN if is_generic else weight,
        weight * GENERIC_MAIN if is_generic else 0.0,
        keyword.places,
        keyword.insurance_type,
        keyword.freelancer_category if meant == keyword.category else "",
        needed,
        excluded,
        keyword,
    )


def add_aliases(builder: _Builder, number: int, partner: Partner) -> None:
    """All spellings of a partner's name. `!` in the list: the display name itself counts only as the whole name."""
    spellings = [alias for alias in partner.aliases if alias != "!"]
    # A common word is a brand only where it is the whole name.
    spellings.append(f"={partner.name}" if "!" in partner.aliases else partner.name)
    known: set[str] = set()
    for spelling in spellings:
        is_whole = spelling.startswith("=")
        for spelled in spell_alias(spelling.removeprefix("=")):
            if len(spelled) >= SHORTEST_ALIAS and spelled not in known:
                known.add(spelled)
                _add_alias(builder, number, spelled, is_whole)


def spell_alias(alias: str) -> list[str]:
    """How banks write it: `Burger King` and `BURGERKING`, `L'Osteria` and `L OSTERIA`, `H & M` and `H UND M`."""
    text = fold(alias)
    spellings = [text]
    if " & " in text:
        spellings.append(text.replace(" & ", " und "))
    if "+" in alias:
        # Names are read with `&` for it: `H+M`.
        spellings.append(fold(alias.replace("+", "&")))
    if "'" in alias:
        spellings.append(fold(alias.replace("'", " ")))
    words = text.split()
    is_short = 1 < len(words) <= MOST_WORDS_RUN_TOGETHER and len(text) > SHORTEST_RUN_TOGETHER
    if is_short and words[-1] not in LEGAL_FORMS and words[0] not in NEVER_RUN_TOGETHER:
        spellings.append("".join(words))
    return spellings


def _add_alias(builder: _Builder, number: int, text: str, is_whole: bool) -> None:
    words = text.count(" ") + 1
    is_open = not is_whole and words > 1 and len(text) - text.rfind(" ") > OPEN_ENDED_LETTERS
    pattern = builder.number(f" {text}" if is_open else f" {text} ")
    builder.aliases.setdefault(pattern, []).append(Alias(number, is_whole, len(text), words, text))
