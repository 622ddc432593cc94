"""Why a transaction has its category: the API's evidence, in sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from kontor.console.entries import Tag
from kontor.console.sentences import fill_text, read_system_name
from kontor.pages.texts import Texts

# Kinds whose detail names a partner before the category.
OF_PARTNERS = ("partner", "creditor-id")
# Kinds that need no category to be told.
OF_THE_USER = ("user", "rule")


@dataclass(frozen=True, slots=True)
class Reason:
    """`share` compares it with the heaviest reason, between 0 and 1."""

    sentence: str
    share: Decimal
    is_decisive: bool


def tell_reasons(category: Tag, partner: Tag | None, names: Mapping[str, str], texts: Texts) -> list[Reason]:
    """In the order of the API: what decided comes first. What says the same is one reason."""
    weights: dict[tuple[str, bool], Decimal] = {}
    for evidence in category.evidence:
        key = (write_sentence(evidence, partner, names, texts), evidence["decisive"])
        weights[key] = weights.get(key, Decimal(0)) + Decimal(str(evidence["weight"]))
    heaviest = max(weights.values(), default=Decimal(0))
    return [
        Reason(sentence, weight / heaviest if heaviest > 0 else Decimal(0), is_decisive)
        for (sentence, is_decisive), weight in weights.items()
    ]


def write_sentence(evidence: Mapping[str, Any], partner: Tag | None, names: Mapping[str, str], texts: Texts) -> str:
    kind, detail = evidence["kind"], evidence["detail"]
    words = detail.replace(":", " ").split()
    meant = next((names[word] for word in reversed(words) if word in names), None)
    known = _name_partner(words[0], partner) if kind in OF_PARTNERS and words else ""
    told = None
    if meant is not None or kind in OF_THE_USER:
        percent = f"{Decimal(str(evidence['weight'])) * 100:.0f}"
        values = {"text": evidence["text"], "category": meant or "", "partner": known, "percent": percent}
        told = fill_text(texts, "evidence", kind, values)
    return texts("evidence.other", kind=kind, text=evidence["text"] or detail) if told is None else told


def _name_partner(system_name: str, partner: Tag | None) -> str:
    """As the partner is called, else as its system name reads."""
    if partner is not None and partner.system_name == system_name:
        return partner.name
    return read_system_name(system_name)


def sort_out(reasons: Sequence[Reason]) -> tuple[list[Reason], list[Reason]]:
    """What decided, and what was outvoted."""
    return (
        [reason for reason in reasons if reason.is_decisive],
        [reason for reason in reasons if not reason.is_decisive],
    )
