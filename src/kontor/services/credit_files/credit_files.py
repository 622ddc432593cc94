"""Credit files: the credit check of a customer with a recorded consent, signed and kept as it was (ADR 0080)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias
from uuid import UUID, uuid4

from kontor.analysis.credit_files import name_rules
from kontor.domain.credit_files import (
    CreditFile,
    CreditFileEntry,
    CreditFileHead,
    CreditPurpose,
    FileBooking,
    FileContents,
    Review,
    ReviewEntry,
    ReviewRequest,
    ReviewResult,
    ReviewStatus,
    Sources,
)
from kontor.domain.disclosures import Disclosure, DisclosureScope
from kontor.domain.errors import ConflictError, InvalidError, NotFoundError
from kontor.domain.principals import Principal, user_of
from kontor.services.analyses import Analyses, Facts
from kontor.services.credit_files.corrections import WantedCorrection, list_bookings, settle_corrections
from kontor.services.runtime import Clock
from kontor.services.security import PublicKey, UserEncryption, auditing, describe_key, sign_detached
from kontor.services.transactions import Completeness
from kontor.storage import credit_files, disclosures, system_keys
from kontor.storage.data_versions import lock_data
from kontor.storage.database import Connection, Database

MAX_FILES = 200  # that a customer makes; versions that reviews make are not counted
MAX_VERSIONS = 20
# A function of a module: it is called in a compute process, and gives the text that is signed.
WriteDocument: TypeAlias = Callable[[CreditFileHead, Sources, Facts], bytes]
ReadContents: TypeAlias = Callable[[str], FileContents]
NEWER = "there is a newer version of this file"


@dataclass(frozen=True, slots=True)
class ReviewWriters:
    """How the next version is written: computed anew, or with the contents of the version before; how that is read."""

    write: WriteDocument
    confirm: Callable[[CreditFileHead, str], bytes]
    read: ReadContents


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file that an adviser has opened, and the customer, as whom it is read."""

    file: CreditFile
    reader: Principal


class CreditFiles:
    def __init__(self, database: Database, clock: Clock, analyses: Analyses, user_encryption: UserEncryption) -> None:
        self._database = database
        self._clock = clock
        self._analyses = analyses
        self._disclosures = analyses.disclosures
        self._user_encryption = user_encryption
        self._completeness = Completeness(database)

    async def list_files(self, principal: Principal) -> list[CreditFileEntry]:
        """The newest first."""
        async with self._database.connect(principal.user_id) as connection:
            return await credit_files.list_files(connection, user_of(principal))

    async def read_file(self, principal: Principal, file_id: UUID) -> CreditFile:
        async with self._database.connect(principal.user_id) as connection:
            found = await credit_files.find_file(connection, user_of(principal), file_id)
        return _require(found)

    async def create_file(
        self, principal: Principal, text: str, disclosure_id: UUID | None, write: WriteDocument
    ) -> CreditFile:
        """For an adviser by the disclosure, or for the customer alone."""
        async with self._database.connect(principal.user_id) as connection:
            purpose = await self._find_purpose(connection, principal, text, disclosure_id)
        head = CreditFileHead(uuid4(), 1, self._clock.now(), purpose, name_rules(), self._analyses.made_by)
        return await self._store(principal, principal, head, await self._compute(principal, head, write))

    async def delete_file(self, principal: Principal, file_id: UUID) -> None:
        """One that the customer has made for himself."""
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            await lock_data(connection, user_id)
            file = _require(await credit_files.find_file(connection, user_id, file_id))
            if file.purpose.disclosure_id is not None:
                raise ConflictError("this file was made for an adviser: withdraw the freigabe, and it is kept as set")
            await credit_files.delete_file(connection, user_id, file_id)
            await _record(connection, principal, principal, "credit-file.delete", file)

    async def request_review(self, principal: Principal, file_id: UUID, comment: str) -> None:
        """By a person: an adviser who can read the file."""
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            await lock_data(connection, user_id)
            file = _require(await credit_files.find_file(connection, user_id, file_id))
            if file.purpose.disclosure_id is None:
                raise ConflictError("this file was made for the customer alone: nobody else can read it")
            if await self._find_valid(connection, principal, file.purpose.disclosure_id) is None:
                raise ConflictError("the freigabe of this file has ended: nobody else can read it")
            if await credit_files.has_successor(connection, user_id, file_id):
                raise ConflictError(NEWER)
            request = ReviewRequest(comment, self._clock.now())
            if not await credit_files.insert_request(connection, user_id, file_id, request):
                raise ConflictError("a review of this file has been asked for already")
            await _record(connection, principal, principal, "credit-file.request-review", file)

    # For advisers

    async def list_reviews(
        self, principal: Principal, status: ReviewStatus | None, after: tuple[UUID, UUID], limit: int
    ) -> list[ReviewEntry]:
        """Files of customers who allow it now."""
        async with self._database.connect(principal.user_id) as connection:
            return await credit_files.list_reviews(
                connection, principal.tenant_id, user_of(principal), self._clock.today(), status, after, limit
            )

    async def open_as_adviser(self, principal: Principal, file_id: UUID) -> OpenedFile:
        """One entry in the audit trail."""
        reader = await self._disclosures.authorise_adviser_for_file(principal, file_id)
        return OpenedFile(await self.read_file(reader, file_id), reader)

    async def list_file_bookings(self, principal: Principal, file_id: UUID, read: ReadContents) -> list[FileBooking]:
        """The bookings behind a file, where the customer allows that too. One entry in the audit trail."""
        reader = await self._disclosures.authorise_adviser_for_file(principal, file_id, DisclosureScope.CREDIT_BOOKINGS)
        file = await self.read_file(reader, file_id)
        async with self._database.connect(reader.user_id) as connection:
            return await list_bookings(connection, reader, read(file.document))

    async def find_request(self, principal: Principal, file_id: UUID) -> ReviewRequest:
        """What the customer wants to be looked at."""
        reader = await self._disclosures.authorise_adviser_for_file(principal, file_id)
        async with self._database.connect(reader.user_id) as connection:
            found = await credit_files.find_request(connection, user_of(reader), file_id)
        if found is None:
            raise NotFoundError
        return found

    async def review_file(
        self,
        principal: Principal,
        opened: OpenedFile,
        result: ReviewResult,
        comment: str,
        writers: ReviewWriters,
        wanted: Sequence[WantedCorrection] = (),
    ) -> CreditFile:
        """The next version, which refers to this one. What is corrected holds in it and in later ones."""
        await self._require_correctable(principal, opened.file, result, wanted)
        file, reader, now = opened.file, opened.reader, self._clock.now()
        if file.version >= MAX_VERSIONS:
            raise ConflictError(f"a file can have at most {MAX_VERSIONS} versions")
        head = CreditFileHead(
            uuid4(),
            file.version + 1,
            now,
            file.purpose,
            name_rules(),
            self._analyses.made_by,
            predecessor_id=file.id,
            review=Review(result, comment, now),
        )
        if result is ReviewResult.CONFIRMED:
            document = writers.confirm(head, file.document)
        else:
            contents = writers.read(file.document)
            async with self._database.connect(reader.user_id) as connection:
                bookings = await list_bookings(connection, reader, contents)
            corrections = settle_corrections(bookings, contents.corrections, wanted, user_of(principal), now)
            head = replace(head, corrections=corrections)
            document = await self._compute(reader, head, writers.write)
        return await self._store(reader, principal, head, document)

    async def list_public_keys(self) -> list[PublicKey]:
        """Those that signatures are checked by: the newest first, and earlier ones."""
        async with self._database.transaction() as connection:
            await self._user_encryption.load_signing_key(connection)
            return [describe_key(key) for key in await system_keys.list_signing_keys(connection)]

    # Parts

    async def _compute(self, principal: Principal, head: CreditFileHead, write: WriteDocument) -> bytes:
        statements = await self._completeness.list_statements(principal)
        sources = {str(statement.stored.id): statement.source for statement in statements}
        return await self._analyses.compute_uncached(principal, partial(write, head, sources))

    async def _store(self, principal: Principal, actor: Principal, head: CreditFileHead, document: bytes) -> CreditFile:
        """The consent is looked at once more: it may have been withdrawn meanwhile."""
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            key = await self._user_encryption.load_signing_key(connection)
            await lock_data(connection, user_id)
            purpose, before = head.purpose, head.predecessor_id
            if before is None:
                await self._find_purpose(connection, principal, purpose.text, purpose.disclosure_id)
                if await credit_files.count_first_versions(connection, user_id) >= MAX_FILES:
                    raise InvalidError(f"a user can have at most {MAX_FILES} credit files")
            else:
                await self._require_reviewable(connection, principal, before, purpose)
            file = CreditFile(
                id=head.id,
                version=head.version,
                created_at=head.created_at,
                purpose=purpose,
                document=document.decode(),
                signature=sign_detached(key, document),
                predecessor_id=before,
            )
            await credit_files.insert_file(connection, user_id, principal.tenant_id, file)
            action = "credit-file.create" if before is None else "credit-file.review"
            await _record(connection, principal, actor, action, file)
            for correction in head.corrections:
                if correction.at == head.created_at:
                    of = f" transaction {correction.transaction_id}"
                    await _record(connection, principal, actor, "credit-file.correct", file, of)
        return file

    async def _require_correctable(
        self, principal: Principal, file: CreditFile, result: ReviewResult, wanted: Sequence[WantedCorrection]
    ) -> None:
        if not wanted:
            return
        if result is not ReviewResult.RECOMPUTED:
            raise InvalidError("goes with NEU_BERECHNET", "korrekturen")
        if len({correction.transaction_id for correction in wanted}) < len(wanted):
            raise InvalidError("has a booking twice", "korrekturen")
        try:
            await self._disclosures.authorise_adviser_for_file(principal, file.id, DisclosureScope.CREDIT_BOOKINGS)
        except NotFoundError:
            raise ConflictError("the freigabe of this file does not allow credit-bookings") from None

    async def _find_purpose(
        self, connection: Connection, principal: Principal, text: str, disclosure_id: UUID | None
    ) -> CreditPurpose:
        if disclosure_id is None:
            return CreditPurpose(text)
        found = await self._find_valid(connection, principal, disclosure_id)
        if found is None:
            raise InvalidError("expected the id of a valid freigabe for credit-check, or SELBST", "freigabe")
        return CreditPurpose(text, disclosure_id, found.text)

    async def _require_reviewable(
        self, connection: Connection, principal: Principal, file_id: UUID, purpose: CreditPurpose
    ) -> None:
        """To the adviser, a file whose disclosure has ended does not exist."""
        disclosure_id = purpose.disclosure_id
        if disclosure_id is None or await self._find_valid(connection, principal, disclosure_id) is None:
            raise NotFoundError
        if await credit_files.has_successor(connection, user_of(principal), file_id):
            raise ConflictError(NEWER)

    async def _find_valid(self, connection: Connection, principal: Principal, disclosure_id: UUID) -> Disclosure | None:
        """By which credit files can be read today."""
        found = await disclosures.find_disclosure(connection, user_of(principal), disclosure_id)
        if found is None or found.valid_until < self._clock.today() or DisclosureScope.CREDIT_CHECK not in found.scopes:
            return None
        return found


def _require(file: CreditFile | None) -> CreditFile:
    if file is None:
        raise NotFoundError
    return file


async def _record(
    connection: Connection, principal: Principal, actor: Principal, action: str, file: CreditFile, what: str = ""
) -> None:
    """`principal` is the customer, `actor` who has done it."""
    by = "" if file.purpose.disclosure_id is None else f" disclosure {file.purpose.disclosure_id}"
    subject = f"user {principal.user_pseudonym} credit-file {file.id} version {file.version}{by}{what}"
    await auditing.record(connection, principal.tenant_id, auditing.name_actor(actor), action, subject)
