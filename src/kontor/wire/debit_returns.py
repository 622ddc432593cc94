"""Direct debits (Lastschriften) that can be returned: on what ground and until when."""

from datetime import date
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.analysis.alerts import find_unusual
from kontor.analysis.debit_returns import list_debits
from kontor.domain.debit_returns import BookedScheme, ReturnableDebit, ReturnGround
from kontor.services.analyses import Facts
from kontor.wire.contracts import Day
from kontor.wire.products import Amount, present
from kontor.wire.relations import Relation
from kontor.wire.urls import Urls

SCHEMES = {BookedScheme.CORE: "BASIS", BookedScheme.B2B: "FIRMEN", BookedScheme.UNKNOWN: "UNBESTIMMT"}
GROUNDS = {ReturnGround.WITHOUT_REASON: "OHNE_GRUND", ReturnGround.UNAUTHORISED: "NICHT_AUTORISIERT"}
REFUND_LAW, CLAIM_LAW = "§ 675x Abs. 2, 4 BGB", "§§ 675u, 676b Abs. 2 BGB"

Ground = Annotated[str, Meta(title="ReturnGround", extra_json_schema={"enum": list(GROUNDS.values())})]


class Rueckgabe(msgspec.Struct):
    grund: Ground
    bis: Annotated[Day, Meta(description="last day on which the bank must hear of it")]
    norm: Annotated[str, Meta(description="of the German Civil Code; no legal advice")]


class Lastschrift(msgspec.Struct):
    id: Annotated[str, Meta(description="of the transaction")]
    produktId: str  # noqa: N815
    buchungsdatum: Day
    betrag: Annotated[Amount, Meta(description="positive")]
    waehrung: str
    verfahren: Annotated[
        str, Meta(title="BookedScheme", extra_json_schema={"enum": list(SCHEMES.values())}, description="of SEPA")
    ]
    rueckgabe: Annotated[list[Rueckgabe], Meta(description="that are not over; empty where it was given back")]
    ungewoehnlich: Annotated[bool, Meta(description="as the alert UNUSUAL_DEBIT has it")]
    relations: list[Relation]
    empfaenger: str | UnsetType = UNSET
    iban: str | UnsetType = UNSET
    verwendungszweck: str | UnsetType = UNSET
    mandatsreferenz: str | UnsetType = UNSET
    glaeubigerId: str | UnsetType = UNSET  # noqa: N815
    vertragId: str | UnsetType = UNSET  # noqa: N815
    zurueckgegebenAm: Day | UnsetType = UNSET  # noqa: N815


def show_debits(facts: Facts, urls: Urls, contract: UUID | None = None) -> list[Lastschrift]:
    """The latest first; of one contract, if one is named."""
    contracts = {row: found.id for found in facts.contracts for row in found.transaction_ids}
    unusual = {cause.object.id for cause in find_unusual(facts.records, facts.contracts, facts.accounts, facts.today)}
    debits = list_debits(facts.records, facts.today)
    return [
        _show(debit, contracts.get(debit.id), urls, is_unusual=debit.id in unusual)
        for debit in debits
        if contract is None or contracts.get(debit.id) == str(contract)
    ]


def show_debit(facts: Facts, urls: Urls, debit_id: UUID) -> list[Lastschrift]:
    """The one that is wanted; empty where it is none, or cannot be returned any more."""
    return [debit for debit in show_debits(facts, urls) if debit.id == str(debit_id)]


def _show(debit: ReturnableDebit, contract_id: str | None, urls: Urls, *, is_unusual: bool) -> Lastschrift:
    return Lastschrift(
        id=debit.id,
        produktId=debit.account,
        buchungsdatum=debit.day.isoformat(),
        betrag=debit.amount,
        waehrung=debit.currency,
        verfahren=SCHEMES[debit.scheme],
        rueckgabe=[
            Rueckgabe(GROUNDS[right.ground], right.until.isoformat(), _name_law(right.ground)) for right in debit.rights
        ],
        ungewoehnlich=is_unusual,
        relations=urls.debit_relations(debit.id, can_be_returned=bool(debit.rights)),
        empfaenger=present(debit.creditor or None),
        iban=present(debit.creditor_iban or None),
        verwendungszweck=present(debit.purpose or None),
        mandatsreferenz=present(debit.mandate or None),
        glaeubigerId=present(debit.creditor_id or None),
        vertragId=present(contract_id),
        zurueckgegebenAm=present(_show_day(debit.returned_on)),
    )


def _name_law(ground: ReturnGround) -> str:
    return REFUND_LAW if ground is ReturnGround.WITHOUT_REASON else CLAIM_LAW


def _show_day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
