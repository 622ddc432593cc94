"""The written knowledge as the tagger works with it: every pattern with what it stands for, and every partner.

`build_knowledge` makes it of the files; `prepared_knowledge.py` keeps the result, since making it takes seconds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.lexicons import EITHER_WAY, Keyword, Rules, find_main, spell_atom, weigh
from kontor.analysis.tagging.partners import Partner, make_system_name
from kontor.analysis.tagging.sepa_tags import normalise_creditor_id

# Keywords that name a kind of bill or contract but not which: they speak for the whole main category.
GENERIC = frozenset({"INSURANCE_OTHER", "BILLS_TELECOMMUNICATIONS"})
GENERIC_OWN, GENERIC_MAIN = 0.4, 0.6
# A mirrored hint (a shop's word in money coming in) is only half a hint.
MIRRORED = 0.5
# The last word of a longer alias may go on: `Allianz Lebensversicherung` finds `ALLIANZ LEBENSVERSICHERUNGS-AG`.
OPEN_ENDED_LETTERS = 7
MIN_ALIAS_LENGTH = 2
# A lighter hint changes nothing: neither does it decide, nor is it asked for beside the model.
FAINTEST = 0.15
LEGAL_FORMS = frozenset({"gmbh", "ag", "kg", "se", "ev", "eg", "ug", "de", "com", "mbh"})
# Names of such partners say what they sell: `HUK-COBURG Rechtsschutz`. Words inside other names are but names.
OPEN_MAINS = frozenset({"INSURANCE", "BILLS", "BANKFINANCE", "SAVINGS", "INCOME"})
MIN_COMPLETION_LENGTH = 5
MIN_RUN_TOGETHER_LENGTH, MAX_WORDS_RUN_TOGETHER = 8, 2
NOT_LOCAL, NOBODY = -1, -2
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
    """A partner's name as it may stand in a text. `is_whole`: only as the whole name. `general`: for an organisation of
    a city the partner that is meant where the name goes on, or `NOBODY`; `NOT_LOCAL` for all others. `is_full`: an
    organisation with a line of its own, such as a savings bank, whose name only a direction changes."""

    partner: int
    is_whole: bool
    letters: int
    words: int
    text: str
    general: int
    is_full: bool = False


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


NOTHING = Pattern((), (), (), (), (), False, 0, "")
Codes = dict[str, tuple[Clue, ...]]


@dataclass(slots=True)
class Knowledge:
    """`texts` are the patterns by number, as the automaton searches for them; `patterns` and `partners` go by number.

    `codes` are the clues of booking codes, of incoming money and of outgoing. `completions` are known words in their
    order, `words` those without a blank, `names` the partners' names, `brands` words that name a partner and nothing
    else.
    """

    texts: list[str]
    patterns: dict[int, Pattern]
    partners: dict[int, Partner]
    partner_numbers: dict[str, int]
    codes: tuple[Codes, Codes]
    creditors: dict[str, int]
    completions: list[str]
    words: frozenset[str]
    names: frozenset[str]
    brands: frozenset[str]

    def find_partner(self, system_name: str) -> Partner | None:
        number = self.partner_numbers.get(system_name)
        return None if number is None else self.partners[number]


class _Builder:
    """Collects patterns before the automaton is built."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.clues: dict[int, tuple[list[Clue], list[Clue]]] = {}
        self.aliases: dict[int, list[Alias]] = {}
        self.codes: tuple[Codes, Codes] = ({}, {})

    def number(self, pattern: str) -> int:
        return self.numbers.setdefault(pattern, len(self.numbers))


def build_knowledge(partners: Sequence[Partner], keywords: Iterable[Keyword], rules: Rules) -> Knowledge:
    builder = _Builder()
    for keyword in keywords:
        add_keyword(builder, keyword, rules)
    numbers = {partner.system_name: number for number, partner in enumerate(partners)}
    for number, partner in enumerate(partners):
        add_aliases(builder, number, partner, find_general(partner, numbers))
    texts = list(builder.numbers)
    closed = {number for number, partner in enumerate(partners) if find_main(partner.category) not in OPEN_MAINS}
    patterns = [make_pattern(builder, number, text, closed) for number, text in enumerate(texts)]
    spelled = {text.strip() for text in texts}
    return Knowledge(
        texts=texts,
        patterns=dict(enumerate(patterns)),
        partners=dict(enumerate(partners)),
        partner_numbers=numbers,
        codes=builder.codes,
        creditors={
            normalise_creditor_id(creditor_id): number
            for number, partner in enumerate(partners)
            for creditor_id in partner.creditor_ids
        },
        # Common words are among them so that nothing longer is taken for what they were: `DEUTSCHLA` is no ticket.
        completions=sorted(spelled | rules.companies),
        words=frozenset(text for text in spelled if " " not in text),
        names=frozenset(alias.text for pattern in patterns for alias in pattern.aliases),
        brands=frozenset(
            pattern.word for pattern in patterns if pattern.aliases and not (pattern.incoming or pattern.outgoing)
        ),
    )


def make_pattern(builder: _Builder, number: int, text: str, closed: set[int]) -> Pattern:
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


def add_keyword(builder: _Builder, keyword: Keyword, rules: Rules) -> None:
    numbers = tuple([builder.number(text) for atom in keyword.atoms if (text := spell_atom(atom))])
    excluded = tuple([builder.number(text) for word in keyword.excluded if (text := spell_atom(word))])
    if not numbers and not keyword.code:
        return
    for is_incoming in (True, False):
        clue = make_clue(keyword, is_incoming, rules, numbers[1:], excluded)
        if clue is None:
            continue
        if keyword.code:
            codes = builder.codes[not is_incoming]
            codes[keyword.code] = (*codes.get(keyword.code, ()), clue)
        else:
            builder.clues.setdefault(numbers[0], ([], []))[not is_incoming].append(clue)


def part_joint(clues: list[Clue]) -> tuple[tuple[Clue, ...], tuple[Clue, ...]]:
    """Clues that need no further words, and those that do."""
    if not clues:
        return (), ()
    return tuple([clue for clue in clues if not clue.needed]), tuple([clue for clue in clues if clue.needed])


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


def find_general(partner: Partner, numbers: dict[str, int]) -> int:
    """The partner that stands for all organisations of a kind, see `Alias`."""
    if not partner.kinds:
        return NOT_LOCAL
    return next((numbers[name] for kind in partner.kinds if (name := make_system_name(kind)) in numbers), NOBODY)


def add_aliases(builder: _Builder, number: int, partner: Partner, general: int) -> None:
    """All spellings of a partner's name. `!` in the list: the display name itself counts only as the whole name."""
    spellings = [alias for alias in partner.aliases if alias != "!"]
    # A common word is a brand only where it is the whole name.
    spellings.append(f"={partner.name}" if "!" in partner.aliases else partner.name)
    known: set[str] = set()
    for spelling in spellings:
        is_whole = spelling.startswith("=")
        for spelled in spell_alias(spelling.removeprefix("=")):
            if len(spelled) >= MIN_ALIAS_LENGTH and spelled not in known:
                known.add(spelled)
                # What the table of organisations makes has a city.
                _add_alias(builder, number, spelled, is_whole, general, is_full=not partner.city)


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
    is_short = 1 < len(words) <= MAX_WORDS_RUN_TOGETHER and len(text) > MIN_RUN_TOGETHER_LENGTH
    if is_short and words[-1] not in LEGAL_FORMS and words[0] not in NEVER_RUN_TOGETHER:
        spellings.append("".join(words))
    return spellings


def _add_alias(builder: _Builder, number: int, text: str, is_whole: bool, general: int, is_full: bool) -> None:
    words = text.count(" ") + 1
    is_open = not is_whole and general == NOT_LOCAL and words > 1 and len(text) - text.rfind(" ") > OPEN_ENDED_LETTERS
    pattern = builder.number(f" {text}" if is_open else f" {text} ")
    builder.aliases.setdefault(pattern, []).append(Alias(number, is_whole, len(text), words, text, general, is_full))
