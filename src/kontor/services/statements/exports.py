"""What a user takes along: everything that is stored, or the transactions alone. Read a page at a time.

No connection is held while a page is on its way to the caller: what changes meanwhile may be in the export or not.
"""

import base64
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from kontor.domain.completeness import CompletenessStatement
from kontor.domain.errors import NotFoundError
from kontor.domain.exports import ExportRow
from kontor.domain.stored_products import StoredProduct
from kontor.services.analyses import TransactionTagging
from kontor.services.runtime import Clock
from kontor.services.security import STATEMENT, UserEncryption, auditing
from kontor.services.statements.imports import Owner
from kontor.storage import account_statements, export_rows, exports, products
from kontor.storage.completeness import state_completeness
from kontor.storage.database import Database
from kontor.storage.export_rows import Sums
from kontor.storage.export_sections import SECTIONS

PAGE_ROWS = 1000
FILES = "account_statements"  # the section whose objects have files
START = ""  # behind it is the first page of a section
_SECTIONS = {section.name: section for section in SECTIONS}


@dataclass(frozen=True, slots=True)
class Span:
    """Days of booking, both included. It narrows transactions; everything else is exported whole."""

    since: date | None = None
    until: date | None = None

    @property
    def days(self) -> tuple[date, date]:
        return self.since or date.min, self.until or date.max


class Exports:
    def __init__(
        self, database: Database, clock: Clock, tagging: TransactionTagging, user_encryption: UserEncryption
    ) -> None:
        self._database = database
        self._user_encryption = user_encryption
        self._clock = clock
        self._tagging = tagging

    async def begin(self, owner: Owner) -> tuple[list[StoredProduct], datetime]:
        """Write down that the data is taken along, see to its tags, and tell the user's products and the time."""
        await self._tagging.ensure_user_tagged(owner.user_id)
        async with self._database.transaction(owner.user_id) as connection:
            held = await products.list_products(connection, owner.user_id)
            subject = f"user {owner.pseudonym}"
            await auditing.record(connection, owner.tenant_id, owner.actor, "user.export", subject)
        return held, self._clock.now()

    async def read_user(self, owner: Owner) -> str:
        async with self._database.connect(owner.user_id) as connection:
            user_object = await exports.find_user_object(connection, owner.tenant_id, owner.user_id)
        if user_object is None:
            raise NotFoundError
        return user_object

    @property
    def section_names(self) -> tuple[str, ...]:
        """The lists of an export, besides transactions and the audit trail."""
        return tuple(_SECTIONS)

    async def page_section(self, owner: Owner, name: str) -> AsyncIterator[list[str]]:
        """The JSON objects of a list."""
        section, after, is_more = _SECTIONS[name], START, True
        while is_more:
            async with self._database.connect(owner.user_id) as connection:
                page = await exports.list_objects(connection, owner.user_id, section, after, PAGE_ROWS)
            if page and name == FILES:
                for id, text in page:  # one at a time, since files are large
                    yield [await self._add_file(owner, UUID(id), text)]
            elif page:
                yield [text for _, text in page]
            if page:
                after = page[-1][0]
            is_more = len(page) == PAGE_ROWS

    async def _add_file(self, owner: Owner, statement_id: UUID, text: str) -> str:
        """The JSON object of an account statement, with its file where it is stored."""
        async with self._database.connect(owner.user_id) as connection:
            found = await account_statements.find_exported_file(connection, owner.user_id, statement_id)
            if found is None:
                return text
            access_id, sealed = found
            content = await self._user_encryption.unseal_file(connection, owner.user_id, access_id, STATEMENT, sealed)
        return f'{text[:-1]},"content":"{base64.b64encode(content).decode()}"}}'

    async def page_audit(self, owner: Owner) -> AsyncIterator[list[str]]:
        """What the audit trail has about the user."""
        after, is_more = 0, True
        while is_more:
            async with self._database.connect(owner.user_id) as connection:
                page = await exports.list_audit_objects(connection, owner.tenant_id, owner.pseudonym, after, PAGE_ROWS)
            if page:
                yield [text for _, text in page]
                after = page[-1][0]
            is_more = len(page) == PAGE_ROWS

    async def page_transactions(self, owner: Owner, product_id: UUID, span: Span) -> AsyncIterator[list[str]]:
        """The JSON objects of a product's transactions with their tags, oldest first."""
        since, until = span.days
        after, is_more = (since, -1), True
        while is_more:
            async with self._database.connect(owner.user_id) as connection:
                page = await exports.list_transaction_objects(
                    connection, owner.user_id, product_id, after, until, PAGE_ROWS
                )
            if page:
                yield [text for _, text in page]
                after = page[-1][0]
            is_more = len(page) == PAGE_ROWS

    async def state_completeness(self, owner: Owner, held: StoredProduct) -> CompletenessStatement:
        async with self._database.connect(owner.user_id) as connection:
            return await state_completeness(connection, owner.user_id, held)

    async def page_rows(
        self, owner: Owner, product_id: UUID, span: Span, left_out_ibans: Sequence[str] = ()
    ) -> AsyncIterator[list[ExportRow]]:
        """A product's transactions, oldest first, without those with the given accounts."""
        since, until = span.days
        after, is_more = (since, -1), True
        while is_more:
            async with self._database.connect(owner.user_id) as connection:
                page = await export_rows.list_rows(
                    connection, owner.user_id, product_id, after, until, left_out_ibans, PAGE_ROWS
                )
            if page:
                yield page
                after = (page[-1].day, page[-1].ordinal)
            is_more = len(page) == PAGE_ROWS

    async def list_transfers(
        self, owner: Owner, span: Span, pair: tuple[UUID, UUID], ibans: tuple[str, str]
    ) -> list[ExportRow]:
        """What went from one account of the user to another, on either of the two: a small part of all."""
        async with self._database.connect(owner.user_id) as connection:
            return await export_rows.list_transfers(connection, owner.user_id, span.days, pair, ibans)

    async def sum_up(self, owner: Owner, product_id: UUID, currency: str, known: date, span: Span) -> Sums:
        async with self._database.connect(owner.user_id) as connection:
            return await export_rows.sum_up(connection, owner.user_id, product_id, currency, known, span.days)

    async def list_used(self, owner: Owner, span: Span) -> list[tuple[str, str, date]]:
        """Which categories occur in which currencies, and since when."""
        async with self._database.connect(owner.user_id) as connection:
            return await export_rows.list_used(connection, owner.user_id, span.days)

    async def list_currencies(self, owner: Owner, span: Span) -> list[tuple[UUID, str]]:
        """Which products have bookings in which currencies."""
        async with self._database.connect(owner.user_id) as connection:
            return await export_rows.list_currencies(connection, owner.user_id, span.days)
