"""What users say about their transactions: a category, a note, keywords, parts. All of it or nothing is stored."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from kontor.domain.annotations import UNCHANGED, Annotation
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.own_categories import OwnCategories, fits_basis, resolve_basis
from kontor.domain.parts import Part, check_parts
from kontor.domain.principals import Principal, user_of
from kontor.services.analyses import TransactionTagging, choose_category, read_categories
from kontor.services.security import auditing
from kontor.storage import annotations, products, transaction_edits
from kontor.storage.data_versions import lock_data
from kontor.storage.database import Connection, Database
from kontor.storage.tags import TaggedRow


@dataclass(frozen=True, slots=True)
class Correction:
    """Another category, also for existing transactions of the same counterparty or for those to come, if wanted."""

    category: str
    tags: Any  # as the caller wrote it
    changes_existing: bool = False
    creates_rule: bool = False


class TransactionUpdates:
    def __init__(self, database: Database, tagging: TransactionTagging) -> None:
        self._database = database
        self._tagging = tagging

    async def update(
        self,
        principal: Principal,
        access_id: str,
        product_id: UUID,
        transaction_id: UUID,
        annotation: Annotation,
        correction: Correction | None,
    ) -> None:
        """The annotation is for this transaction alone, whatever the correction is for."""

        async def write(connection: Connection, rows: Sequence[TaggedRow] = (), skipped: int = 0) -> None:
            if correction is not None:
                await _note_edited(connection, principal, rows, skipped, correction)
            if not annotation.is_empty:
                await self._annotate(connection, principal, product_id, transaction_id, annotation)

        if correction is not None:
            await self._tagging.correct(
                principal,
                access_id,
                product_id,
                transaction_id,
                correction.category,
                changes_existing=correction.changes_existing,
                creates_rule=correction.creates_rule,
                also=write,
            )
            return
        async with self._database.transaction(principal.user_id) as connection:
            if not await products.has_product(connection, user_of(principal), access_id, product_id):
                raise NotFoundError
            await lock_data(connection, user_of(principal))
            await write(connection)

    @staticmethod
    async def _annotate(
        connection: Connection, principal: Principal, product_id: UUID, transaction_id: UUID, annotation: Annotation
    ) -> None:
        if annotation.parts is not UNCHANGED:
            amount = await annotations.find_amount(connection, user_of(principal), product_id, transaction_id)
            if amount is None:
                raise NotFoundError
            categories = await read_categories(connection, user_of(principal))
            annotation = replace(annotation, parts=_choose_categories(annotation.parts, amount, categories))
        if not await annotations.annotate(connection, user_of(principal), [(product_id, transaction_id)], annotation):
            raise NotFoundError
        subject = f"user {principal.user_pseudonym} transaction {transaction_id}"
        actor = auditing.name_actor(principal)
        await auditing.record(connection, principal.tenant_id, actor, "transaction.annotate", subject)


async def _note_edited(
    connection: Connection, principal: Principal, rows: Sequence[TaggedRow], skipped: int, correction: Correction
) -> None:
    """Before rows are corrected. A correction of several is an edit that can be undone."""
    keys = [(row.product_id, row.id) for row in rows]
    if correction.changes_existing:
        user_id, nothing = user_of(principal), Annotation()
        await transaction_edits.insert_edit(connection, user_id, uuid4(), correction.tags, nothing, keys, skipped)
    await annotations.annotate(connection, user_of(principal), keys, Annotation())


def _choose_categories(parts: Sequence[Part], amount: Decimal, known: OwnCategories) -> tuple[Part, ...]:
    """Each gets a category that a transaction of its amount can have. All that name another one are told."""
    check_parts(parts, amount, "teile")
    chosen, problems = [], []
    for number, part in enumerate(parts):
        field = f"teile[{number}].tags.systemName"
        try:
            choice = choose_category(part.category, field, known)
        except InvalidError as error:
            problems.append(error.message)
            continue
        if not fits_basis(choice.basis, part.amount):
            problems.append(f"{field}: this category does not fit the sign of the amount")
        category = resolve_basis(choice.basis, part.amount)
        chosen.append(replace(part, category=category, own_category=choice.own_category))
    if problems:
        raise InvalidError("; ".join(problems))
    return tuple(chosen)
