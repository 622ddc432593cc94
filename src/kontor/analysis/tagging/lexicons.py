"""The written knowledge: keyword files and rules, read line by line."""

from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

from kontor.analysis.tagging.partners import list_files, list_lines
from kontor.analysis.tagging.taggings import NO_INSURANCE

# Where a keyword may stand: bits, so that one test suffices.
IN_NAME, IN_PURPOSE, IN_TEXT = 1, 2, 4
ANYWHERE = IN_NAME | IN_PURPOSE | IN_TEXT
FIELDS = {"name": IN_NAME, "purpose": IN_PURPOSE, "text": IN_TEXT, "": ANYWHERE}
DEFAULT_STRENGTH = 5
# The one category that stays with money coming in although it is spent on.
EITHER_WAY = frozenset({"RECREATION_OTHER"})


def weigh(strength: float) -> float:
    """Strong hints count more than twice a hint of half their strength."""
    return strength * strength / 10


class _Mains(dict[str, str]):
    """Main categories by category, each worked out once: a look-up is all that is left in the hot path."""

    def __missing__(self, category: str) -> str:
        main = self[category] = category.partition("_")[0]
        return main


MAINS = _Mains()
find_main = MAINS.__getitem__


def name_insurance_category(insurance_type: str) -> str:
    return f"INSURANCE_{find_main(insurance_type)}"


@dataclass(frozen=True, slots=True)
class Keyword:
    """One line: `atoms` are the words or phrases that all must occur, still with their stars; or it is a code."""

    source: str
    category: str
    atoms: tuple[str, ...] = ()
    code: str = ""
    sign: str = ""
    insurance_type: str = NO_INSURANCE
    freelancer_category: str = ""
    places: int = ANYWHERE
    strength: float = DEFAULT_STRENGTH
    excluded: tuple[str, ...] = ()


@dataclass(slots=True)
class Rules:
    """What `rules.txt` says, section by section."""

    keywords: list[Keyword] = field(default_factory=list)
    mirrors: dict[str, tuple[str, str]] = field(default_factory=dict)
    broad: dict[str, tuple[float, float]] = field(default_factory=dict)
    freelancer: dict[str, tuple[str, str]] = field(default_factory=dict)
    channels: dict[str, str] = field(default_factory=dict)
    unlikely: dict[str, dict[str, float]] = field(default_factory=dict)
    refinements: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    insured: dict[str, str] = field(default_factory=dict)
    stems: dict[str, str] = field(default_factory=dict)
    abbreviations: dict[str, str] = field(default_factory=dict)
    companies: frozenset[str] = frozenset()
    company_endings: tuple[str, ...] = ()
    places: frozenset[str] = frozenset()
    surnames: frozenset[str] = frozenset()
    given_names: frozenset[str] = frozenset()

    def mirror(self, category: str, is_incoming: bool) -> str:
        """What a category means for that sign; empty if it means nothing."""
        pair = self.mirrors.get(category) or self.mirrors.get(find_main(category))
        meant = "=" if pair is None else pair[not is_incoming]
        return category if meant == "=" else "" if meant == "-" else meant

    def find_broad(self, category: str) -> tuple[float, float] | None:
        return self.broad.get(category) or self.broad.get(find_main(category))


def read_options(text: str) -> dict[str, str]:
    options = {}
    for part in text.split(";"):
        key, _, value = part.partition("=")
        if key:
            options[key.strip()] = value.strip()
    return options


def read_keyword(line: str) -> Keyword:
    """One line `pattern | CATEGORY | options`."""
    fields = [part.strip() for part in line.split("|")] + ["", ""]
    pattern, category, options = fields[0], fields[1], read_options(fields[2])
    is_code = pattern.startswith(("gv:", "purp:"))
    insurance_type = options.get("insurance", NO_INSURANCE)
    if insurance_type != NO_INSURANCE:
        category = name_insurance_category(insurance_type)
    return Keyword(
        source=pattern,
        category=category,
        atoms=() if is_code else tuple(atom.strip() for atom in pattern.split(" + ") if atom.strip()),
        code=pattern if is_code else "",
        sign=options.get("sign", ""),
        insurance_type=insurance_type,
        freelancer_category=options.get("freelancer", ""),
        places=FIELDS.get(options.get("in", ""), ANYWHERE),
        strength=float(options.get("strength", DEFAULT_STRENGTH)),
        excluded=tuple(word.strip() for word in options.get("not", "").split(",") if word.strip()),
    )


def spell_atom(atom: str) -> str:
    """An atom, which is written folded, as it is searched for in folded text with blanks around: ` miete `,
    ` rechtsanwalt`, `baeckerei `."""
    starts, ends = atom.startswith("*"), atom.endswith("*")
    words = " ".join(atom.replace("*", " ").split())
    return ("" if starts else " ") + words + ("" if ends else " ") if words else ""


@lru_cache(maxsize=1)
def load_rules() -> Rules:
    data = files("kontor.analysis") / "data"
    rules, section = Rules(), ""
    words: dict[str, list[str]] = {"companies": [], "endings": [], "places": [], "surnames": []}
    for line in list_lines(data / "rules.txt"):
        if line.startswith("["):
            section = line.strip("[]")
        elif section in ("codes", "patterns"):
            rules.keywords.append(read_keyword(line))
        elif section in words:
            words[section] += line.split()
        else:
            _read_table_line(rules, section, [part.strip() for part in line.split("|")])
    rules.companies, rules.places = frozenset(words["companies"]), frozenset(words["places"])
    rules.surnames, rules.company_endings = frozenset(words["surnames"]), tuple(words["endings"])
    names = (line.split() for line in list_lines(data / "given_names.txt"))
    rules.given_names = frozenset(name for part in names for name in part)
    return rules


def _read_table_line(rules: Rules, section: str, fields: list[str]) -> None:
    if section == "mirrors":
        rules.mirrors[fields[0]] = (fields[1], fields[2])
    elif section == "broad":
        rules.broad[fields[0]] = (float(fields[1]), float(fields[2]))
    elif section == "freelancer":
        rules.freelancer[fields[0]] = (fields[1], fields[2])
    elif section == "unlikely":
        rules.unlikely.setdefault(fields[0], {})[fields[1]] = float(fields[2])
    elif section == "refinements":
        rules.refinements.setdefault(fields[0], []).append((fields[1], float(fields[2])))
    elif section == "channels":
        rules.channels[fields[0]] = fields[1]
    elif section == "stems":
        rules.stems.update(dict.fromkeys(fields[1].split(), fields[0]))
    elif section == "abbreviations":
        rules.abbreviations[fields[0]] = fields[1]
    elif section == "insured":
        rules.insured.update(dict.fromkeys(fields[0].split(), fields[1]))
    else:
        raise ValueError(f"rules.txt has no section {section}")


@lru_cache(maxsize=1)
def load_keywords() -> tuple[Keyword, ...]:
    """All keywords of the keyword files, then those of the rules."""
    folder = files("kontor.analysis") / "data" / "keywords"
    written = [read_keyword(line) for file in list_files(folder) for line in list_lines(file)]
    return (*written, *load_rules().keywords)
