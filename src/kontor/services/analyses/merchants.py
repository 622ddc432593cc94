"""What a tenant knows of merchants decides where the tagger knows no partner and is less sure.

Names are compared as they may be told to others: a name that may be a person's is never looked up (ADR 0081).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from math import isclose
from uuid import UUID

from kontor.analysis.tagging import Evidence, OwnAccounts
from kontor.analysis.tagging.taggings import NO_PARTNER
from kontor.domain.merchants import Merchant, find_confidence
from kontor.domain.tags import TagSource, TransactionTags, derive_insurance_type, fits_sign
from kontor.domain.transactions import Transaction
from kontor.services.compute import Compute, cut, name_merchants_packed, pack
from kontor.storage import merchants
from kontor.storage.database import Connection
from kontor.storage.tags import TaggedRow

OWN_MODEL = "own-model"  # the kind of evidence
SAME = 1e-6  # tags keep a confidence in four bytes


class MerchantKnowledge:
    def __init__(self, compute: Compute) -> None:
        self._compute = compute

    async def apply(
        self,
        connection: Connection,
        user_id: UUID,
        rows: Sequence[TaggedRow],
        found: list[TransactionTags],
        own: OwnAccounts,
    ) -> None:
        """Put the category that the tenant knows in place of what the tagger says, where it is surer."""
        places = [place for place, row in enumerate(rows) if may_be_known(row.transaction, found[place])]
        if not places or not await merchants.has_knowledge(connection, user_id):
            return
        names = await self.name(user_id, [rows[place].transaction for place in places], own)
        known = await merchants.find_known(connection, user_id, set(names))
        for place, name in zip(places, names, strict=True):
            if name in known:
                found[place] = set_known(found[place], known[name])

    async def explain(
        self, connection: Connection, user_id: UUID, rows: Sequence[TaggedRow], own: OwnAccounts
    ) -> dict[UUID, list[Evidence]]:
        """For the transactions whose category the tenant's knowledge has decided."""
        decided = [row for row in rows if row.tags is not None and _may_be_decided(row, row.tags)]
        if not decided or not await merchants.has_knowledge(connection, user_id):
            return {}
        names = await self.name(user_id, [row.transaction for row in decided], own)
        known = await merchants.find_known(connection, user_id, set(names))
        return {
            row.id: [_tell(known[name])]
            for row, name in zip(decided, names, strict=True)
            if row.tags is not None and _has_decided(known, name, row.tags)
        }

    async def name(self, user_id: UUID, transactions: Sequence[Transaction], own: OwnAccounts) -> list[str]:
        """The merchant of each of them; "" where there is none that may be named to others."""
        names: list[str] = []
        for piece in cut(transactions):
            names += await self._compute.run(name_merchants_packed, *pack(piece), own, owner=user_id)
        return names


def may_be_known(transaction: Transaction, tags: TransactionTags) -> bool:
    """Only of payments is the merchant asked about: what comes in may be wages."""
    return transaction.amount < 0 and tags.partner == NO_PARTNER


def set_known(tags: TransactionTags, known: Merchant) -> TransactionTags:
    confidence = find_confidence(known.state)
    if known.category is None or confidence <= tags.category_confidence:
        return tags
    return replace(
        tags,
        category=known.category,
        insurance_type=derive_insurance_type(known.category, tags.insurance_type),
        category_confidence=confidence,
        insurance_confidence=confidence,
    )


def fits_payments(category: str) -> bool:
    return fits_sign(category, Decimal(-1))


def _may_be_decided(row: TaggedRow, tags: TransactionTags) -> bool:
    is_taggers = tags.source is TagSource.TAGGER and tags.learnt_from is None
    return is_taggers and may_be_known(row.transaction, tags)


def _has_decided(known: Mapping[str, Merchant], name: str, tags: TransactionTags) -> bool:
    merchant = known.get(name)
    return (
        merchant is not None
        and merchant.category == tags.category
        and isclose(find_confidence(merchant.state), tags.category_confidence, abs_tol=SAME)
    )


def _tell(merchant: Merchant) -> Evidence:
    return Evidence(OWN_MODEL, merchant.merchant, merchant.category or "", find_confidence(merchant.state))
