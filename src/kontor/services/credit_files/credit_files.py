"""Credit files: the credit check of a customer with a recorded consent, signed and kept as it was (ADR 0080)."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias
from uuid import UUID, uuid4

from kontor.analysis.credit_files import name_rules
from kontor.domain.credit_files import CreditFile, CreditFileHead, CreditPurpose, Sources
from kontor.domain.disclosures import DisclosureScope
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.principals import Principal, user_of
from kontor.services.analyses import Analyses, Facts
from kontor.services.runtime import Clock
from kontor.services.security import PublicKey, Vault, auditing, describe_key, sign_detached
from kontor.services.transactions import Completeness
from kontor.storage import credit_files, disclosures, system_keys
from kontor.storage.data_versions import lock_data
from kontor.storage.database import Connection, Database

MOST_FILES = 200
# A function of a module: it is called in a compute process, and gives the text that is signed.
WriteDocument: TypeAlias = Callable[[CreditFileHead, Sources, Facts], bytes]


class CreditFiles:
    def __init__(self, database: Database, clock: Clock, analyses: Analyses, vault: Vault) -> None:
        self._database = database
        self._clock = clock
        self._analyses = analyses
        self._vault = vault
        self._completeness = Completeness(database)

    async def list_files(self, principal: Principal) -> list[CreditFile]:
        """The newest first."""
        async with self._database.connect(principal.user_id) as connection:
            return await credit_files.list_files(connection, user_of(principal))

    async def read_file(self, principal: Principal, file_id: UUID) -> CreditFile:
        async with self._database.connect(principal.user_id) as connection:
            found = await credit_files.find_file(connection, user_of(principal), file_id)
        if found is None:
            raise NotFoundError
        return found

    async def create_file(
        self, principal: Principal, text: str, disclosure_id: UUID | None, write: WriteDocument
    ) -> CreditFile:
        """For an adviser by the disclosure, or for the customer alone."""
        async with self._database.connect(principal.user_id) as connection:
            purpose = await self._find_purpose(connection, principal, text, disclosure_id)
        head = CreditFileHead(uuid4(), 1, self._clock.now(), purpose, name_rules(), self._analyses.made_by)
        return await self._issue(principal, head, write)

    async def list_public_keys(self) -> list[PublicKey]:
        """Those that signatures are checked by: the newest first, and earlier ones."""
        async with self._database.transaction() as connection:
            await self._vault.load_signing_key(connection)
            return [describe_key(key) for key in await system_keys.list_signing_keys(connection)]

    # Parts

    async def _issue(self, principal: Principal, head: CreditFileHead, write: WriteDocument) -> CreditFile:
        """The consent is looked at once more when the file is stored: it may have been withdrawn meanwhile."""
        user_id = user_of(principal)
        statements = await self._completeness.list_statements(principal)
        sources = {str(statement.stored.id): statement.source for statement in statements}
        document = await self._analyses.answer_anew(principal, partial(write, head, sources))
        async with self._database.transaction(principal.user_id) as connection:
            key = await self._vault.load_signing_key(connection)
            await lock_data(connection, user_id)
            purpose = head.purpose
            await self._find_purpose(connection, principal, purpose.text, purpose.disclosure_id)
            if await credit_files.count_files(connection, user_id) >= MOST_FILES:
                raise InvalidError(f"a user can have at most {MOST_FILES} credit files")
            file = CreditFile(
                id=head.id,
                version=head.version,
                created_at=head.created_at,
                purpose=purpose,
                document=document.decode(),
                signature=sign_detached(key, document),
                predecessor_id=head.predecessor_id,
            )
            await credit_files.insert_file(connection, user_id, principal.tenant_id, file)
            await _record(connection, principal, file)
        return file

    async def _find_purpose(
        self, connection: Connection, principal: Principal, text: str, disclosure_id: UUID | None
    ) -> CreditPurpose:
        if disclosure_id is None:
            return CreditPurpose(text)
        found = await disclosures.find_disclosure(connection, user_of(principal), disclosure_id)
        if found is None or found.valid_until < self._clock.today() or DisclosureScope.CREDIT_CHECK not in found.scopes:
            raise InvalidError("expected the id of a valid freigabe for credit-check, or SELBST", "freigabe")
        return CreditPurpose(text, disclosure_id, found.text)


async def _record(connection: Connection, principal: Principal, file: CreditFile) -> None:
    by = "" if file.purpose.disclosure_id is None else f" disclosure {file.purpose.disclosure_id}"
    subject = f"user {principal.user_pseudonym} credit-file {file.id} version {file.version}{by}"
    await auditing.record(
        connection, principal.tenant_id, auditing.name_actor(principal), "credit-file.create", subject
    )
