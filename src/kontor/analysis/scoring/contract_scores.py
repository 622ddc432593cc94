"""How good found contracts are, against contracts that are known. Counts, so that scores of many people add up."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields
from datetime import date

from kontor.analysis.contracts.findings import Contract, Status
from kontor.analysis.contracts.periods import BY_NAME

HIT_OVERLAP = 0.5
NEAR_DAYS = 3
_MIN_GRACE_DAYS, _GRACE_SHARE = 7, 0.35


@dataclass(frozen=True, slots=True)
class KnownContract:
    """A contract as it really is. `date_next` is the next payment after today, where there will be one."""

    id: str
    transaction_ids: frozenset[str]
    regular_ids: frozenset[str]
    period: str
    status: Status
    date_next: date | None = None


@dataclass(frozen=True, slots=True)
class ContractScores:
    """Counts of what was right. `nexts` are the contracts whose next date is known."""

    known: int = 0
    found: int = 0
    hits: int = 0
    periods_right: int = 0
    statuses_right: int = 0
    regular_right: int = 0
    nexts: int = 0
    nexts_exact: int = 0
    nexts_near: int = 0
    purchases: int = 0
    purchases_inside: int = 0

    def __add__(self, other: "ContractScores") -> "ContractScores":
        return ContractScores(
            *(getattr(self, attribute.name) + getattr(other, attribute.name) for attribute in fields(self))
        )

    @property
    def f1(self) -> float:
        return _divide(2 * self.hits, self.known + self.found)

    @property
    def precision(self) -> float:
        return _divide(self.hits, self.found)

    @property
    def recall(self) -> float:
        return _divide(self.hits, self.known)

    @property
    def period_accuracy(self) -> float:
        return _divide(self.periods_right, self.hits)

    @property
    def status_accuracy(self) -> float:
        return _divide(self.statuses_right, self.hits)

    @property
    def next_exact(self) -> float:
        return _divide(self.nexts_exact, self.nexts)

    @property
    def next_near(self) -> float:
        return _divide(self.nexts_near, self.nexts)

    @property
    def purchases_share(self) -> float:
        """The share of everyday purchases that were taken for part of a contract."""
        return self.purchases_inside / self.purchases if self.purchases else 0.0


def _divide(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def find_known_status(period: str, regular_count: int, due: date, data_until: date) -> Status:
    """The status that the rule gives to a contract whose next payment is or was due on that day."""
    grace = max(_MIN_GRACE_DAYS, _GRACE_SHARE * BY_NAME[period].days)
    if (data_until - due).days > grace:
        return Status.INACTIVE
    return Status.PROVISIONAL if regular_count == 1 else Status.ACTIVE


def match_contracts(
    found: Sequence[Contract], known: Sequence[KnownContract]
) -> tuple[list[tuple[Contract, KnownContract]], list[Contract], list[KnownContract]]:
    """Pairs, one to one, the largest overlap first; then what was found too much, and what was missed."""
    owners: dict[str, list[int]] = {}
    for place, truth in enumerate(known):
        for number in truth.transaction_ids:
            owners.setdefault(number, []).append(place)
    overlaps = []
    for place, contract in enumerate(found):
        mine = frozenset(contract.transaction_ids)
        for other in {owner for number in mine for owner in owners.get(number, ())}:
            theirs = known[other].transaction_ids
            share = len(mine & theirs) / len(mine | theirs)
            if share >= HIT_OVERLAP:
                overlaps.append((-share, place, other))
    taken_found: set[int] = set()
    taken_known: set[int] = set()
    pairs = []
    for _, place, other in sorted(overlaps):
        if place not in taken_found and other not in taken_known:
            taken_found.add(place)
            taken_known.add(other)
            pairs.append((found[place], known[other]))
    return (
        pairs,
        [contract for place, contract in enumerate(found) if place not in taken_found],
        [truth for place, truth in enumerate(known) if place not in taken_known],
    )


def score_contracts(
    found: Sequence[Contract], known: Sequence[KnownContract], purchases: AbstractSet[str]
) -> ContractScores:
    """Scores of one person. `purchases` are the ids of everyday purchases, which belong to no contract."""
    pairs, _, _ = match_contracts(found, known)
    dated = [(contract, truth.date_next) for contract, truth in pairs if truth.date_next is not None]
    misses = [abs((contract.date_next - due).days) if contract.date_next else None for contract, due in dated]
    return ContractScores(
        known=len(known),
        found=len(found),
        hits=len(pairs),
        periods_right=sum(contract.period == truth.period for contract, truth in pairs),
        statuses_right=sum(contract.status == truth.status for contract, truth in pairs),
        regular_right=sum(set(contract.transaction_ids_regular) == truth.regular_ids for contract, truth in pairs),
        nexts=len(dated),
        nexts_exact=sum(miss == 0 for miss in misses),
        nexts_near=sum(miss is not None and miss <= NEAR_DAYS for miss in misses),
        purchases=len(purchases),
        purchases_inside=sum(number in purchases for contract in found for number in contract.transaction_ids),
    )
