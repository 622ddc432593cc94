"""How good tags are, measured on labelled transactions. A label counts as hit when it is one of those accepted."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kontor.analysis.records import NO_INSURANCE, NO_PARTNER
from kontor.analysis.scoring.calibration import (
    Bin,
    find_auroc,
    find_brier_score,
    find_calibration_error,
    find_calibration_interval,
    find_interval,
    make_bins,
)
from kontor.analysis.tagging import Tagging
from kontor.domain.transactions import Transaction


@dataclass(frozen=True, slots=True)
class Gold:
    """Every label a careful person would accept, the best first; partners by any name. Empty means not judged."""

    category: tuple[str, ...]
    insurance_type: tuple[str, ...] = ()
    partner: tuple[str, ...] = ()
    freelancer_category: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Labelled:
    """`person` says whose booking it is, in files that hold the histories of several persons."""

    id: str
    transaction: Transaction
    gold: Gold
    person: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A labelled transaction with what the tagger said, all names of the partner it means, how long that took, and the
    short forms of those names."""

    labelled: Labelled
    found: Tagging
    partner_names: tuple[str, ...]
    seconds: float = 0.0
    short_names: tuple[str, ...] = ()

    @property
    def is_category_right(self) -> bool:
        return self.found.category in self.labelled.gold.category


@dataclass(frozen=True, slots=True)
class Share:
    """Hits of a number of rows."""

    hits: int
    count: int

    @property
    def value(self) -> float:
        return self.hits / self.count if self.count else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true share is in 95 of 100 cases."""
        return find_interval(self.hits, self.count)


@dataclass(frozen=True, slots=True)
class CategoryScore:
    """Of one category: how many rows have it, how many were said to have it, how many of both."""

    name: str
    expected: int
    found: int
    hits: int

    @property
    def precision(self) -> float:
        return self.hits / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.hits / self.expected if self.expected else 0.0

    @property
    def f1(self) -> float:
        total = self.expected + self.found
        return 2 * self.hits / total if total else 0.0


@dataclass(frozen=True, slots=True)
class TagScores:
    rows: int
    main: Share
    category: Share
    macro_f1: float
    insurance_division: Share
    insurance_product: Share
    false_insurance: Share
    partner: Share
    wrong_partner: Share
    false_partner: Share
    exact_partner: Share
    exact_wrong_partner: Share
    freelancer: Share
    calibration_error: float
    calibration_interval: tuple[float, float]
    brier: float
    auroc: float | None
    bins: list[Bin] = field(default_factory=list)
    categories: list[CategoryScore] = field(default_factory=list)
    divisions: list[CategoryScore] = field(default_factory=list)
    products: list[CategoryScore] = field(default_factory=list)
    confusions: list[tuple[str, str, int]] = field(default_factory=list)


def name_main(category: str) -> str:
    return category.partition("_")[0]


def score_tags(judged: Sequence[Judged]) -> TagScores:
    """Everything at once. Insurance is judged on rows whose best label is one, false alarms on all others."""
    insured = [row for row in judged if _best(row.labelled.gold.insurance_type) not in ("", NO_INSURANCE)]
    others = [row for row in judged if row.labelled.gold.insurance_type == (NO_INSURANCE,)]
    named = [row for row in judged if _best(row.labelled.gold.partner) not in ("", NO_PARTNER)]
    nameless = [row for row in judged if row.labelled.gold.partner == (NO_PARTNER,)]
    freelance = [row for row in judged if row.labelled.gold.freelancer_category]
    pairs = [(row.found.category_confidence, row.is_category_right) for row in judged]
    categories = _score_labels([(_accepted(row), row.found.category) for row in judged])
    products = _score_labels([(row.labelled.gold.insurance_type, row.found.insurance_type) for row in insured])
    divisions = _score_labels(
        [(_mains(row.labelled.gold.insurance_type), name_main(row.found.insurance_type)) for row in insured]
    )
    return TagScores(
        rows=len(judged),
        main=_share(judged, lambda row: name_main(row.found.category) in _mains(row.labelled.gold.category)),
        category=_share(judged, lambda row: row.is_category_right),
        macro_f1=_average([score.f1 for score in categories if score.expected]),
        insurance_division=_share(
            insured, lambda row: name_main(row.found.insurance_type) in _mains(row.labelled.gold.insurance_type)
        ),
        insurance_product=_share(insured, lambda row: row.found.insurance_type in row.labelled.gold.insurance_type),
        false_insurance=_share(others, lambda row: row.found.insurance_type != NO_INSURANCE),
        partner=_share(named, has_partner),
        wrong_partner=_share(named, lambda row: row.found.partner != NO_PARTNER and not has_partner(row)),
        false_partner=_share(nameless, lambda row: row.found.partner != NO_PARTNER),
        exact_partner=_share(named, has_exact_partner),
        exact_wrong_partner=_share(named, lambda row: row.found.partner != NO_PARTNER and not has_exact_partner(row)),
        freelancer=_share(
            freelance, lambda row: row.found.freelancer_category in row.labelled.gold.freelancer_category
        ),
        calibration_error=find_calibration_error(pairs),
        calibration_interval=find_calibration_interval(pairs),
        brier=find_brier_score(pairs),
        auroc=find_auroc(pairs),
        bins=make_bins(pairs),
        categories=categories,
        divisions=divisions,
        products=products,
        confusions=_find_confusions(judged),
    )


def _average(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def has_partner(row: Judged) -> bool:
    """Whether any accepted name is one that the partner goes by: display name, alias, group or a short form of these.
    `BayernLB` is `Bayerische Landesbank`, `Ernsting's` is `Ernsting's family`."""
    return _is_named(row, (*row.partner_names, *row.short_names))


def has_exact_partner(row: Judged) -> bool:
    """The same without short forms."""
    return _is_named(row, row.partner_names)


def _is_named(row: Judged, names: Sequence[str]) -> bool:
    """Names are compared as people read them: case, punctuation and blanks do not count."""
    known = {fold_name(name) for name in names}
    return any(fold_name(name) in known for name in row.labelled.gold.partner)


def fold_name(name: str) -> str:
    spelled = name.casefold().replace("ä", "ae").replace("ö", "oe").replace("ü", "ue").replace("ß", "ss")
    return "".join(letter for letter in spelled if letter.isalnum())


def _best(labels: Sequence[str]) -> str:
    return labels[0] if labels else ""


def _mains(labels: Sequence[str]) -> tuple[str, ...]:
    return tuple(name_main(label) for label in labels)


def _accepted(row: Judged) -> tuple[str, ...]:
    return row.labelled.gold.category


def _share(rows: Sequence[Judged], is_hit: Callable[[Judged], bool]) -> Share:
    return Share(sum(1 for row in rows if is_hit(row)), len(rows))


def _score_labels(pairs: Sequence[tuple[Sequence[str], str]]) -> list[CategoryScore]:
    """A row is expected under the accepted label that was found, otherwise under the best one."""
    expected: Counter[str] = Counter()
    found: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for accepted, said in pairs:
        found[said] += 1
        expected[said if said in accepted else accepted[0]] += 1
        hits[said] += said in accepted
    return [CategoryScore(name, expected[name], found[name], hits[name]) for name in sorted(expected | found)]


def _find_confusions(judged: Sequence[Judged]) -> list[tuple[str, str, int]]:
    """(expected, found, how often), the most frequent first."""
    wrong = Counter((row.labelled.gold.category[0], row.found.category) for row in judged if not row.is_category_right)
    return [
        (expected, said, count) for (expected, said), count in sorted(wrong.items(), key=lambda kv: (-kv[1], kv[0]))
    ]
