"""What customers allow advisers of their tenant to read (ADR 0065), and the one place where that is checked."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from uuid import UUID, uuid4

from kontor.domain.disclosures import (
    MAX_DISCLOSURES,
    DisclosingCustomer,
    Disclosure,
    DisclosureRead,
    DisclosureScope,
    check_end,
    describe_disclosure,
    describe_withdrawal,
)
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.principals import Principal, user_of
from kontor.services.runtime import Clock
from kontor.services.security import auditing
from kontor.storage import disclosures, users
from kontor.storage.data_versions import lock_data
from kontor.storage.database import Connection, Database

MAX_READS = 500


class Disclosures:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    # For customers

    async def list_disclosures(self, principal: Principal) -> list[Disclosure]:
        """Those that are not withdrawn, also after their end."""
        async with self._database.connect(principal.user_id) as connection:
            return await disclosures.list_disclosures(connection, user_of(principal))

    async def read_disclosure(self, principal: Principal, disclosure_id: UUID) -> Disclosure:
        async with self._database.connect(principal.user_id) as connection:
            return _require(await disclosures.find_disclosure(connection, user_of(principal), disclosure_id))

    async def add_disclosure(
        self, principal: Principal, scopes: Sequence[DisclosureScope], valid_until: date, adviser_id: UUID | None
    ) -> Disclosure:
        """The text is made here, kept, and written to the audit trail."""
        user_id = user_of(principal)
        check_end(valid_until, self._clock.today())
        chosen = tuple(scope for scope in DisclosureScope if scope in scopes)
        text = describe_disclosure(principal.tenant_name, chosen, valid_until, has_adviser=adviser_id is not None)
        disclosure = Disclosure(uuid4(), chosen, valid_until, adviser_id, text)
        async with self._database.transaction(principal.user_id) as connection:
            named = await self._name_adviser(connection, principal, adviser_id)
            await lock_data(connection, user_id)
            if len(await disclosures.list_disclosures(connection, user_id)) >= MAX_DISCLOSURES:
                raise InvalidError(f"a user can have at most {MAX_DISCLOSURES} freigaben; delete one first")
            await disclosures.insert_disclosure(connection, user_id, principal.tenant_id, disclosure)
            await _record(connection, principal, "disclosure.add", disclosure.id, f"{named}: {text}")
        return disclosure

    async def withdraw_disclosure(self, principal: Principal, disclosure_id: UUID) -> None:
        """From the next read on."""
        async with self._database.transaction(principal.user_id) as connection:
            withdrawn = await disclosures.withdraw_disclosure(connection, user_of(principal), disclosure_id)
            text = describe_withdrawal(_require(withdrawn).text)
            await _record(connection, principal, "disclosure.withdraw", disclosure_id, f": {text}")

    async def list_reads(self, principal: Principal, disclosure_id: UUID) -> list[DisclosureRead]:
        """By this disclosure, also by a withdrawn one."""
        user_id = user_of(principal)
        assert principal.user_pseudonym is not None, "a user has one"
        async with self._database.connect(principal.user_id) as connection:
            _require(await disclosures.find_disclosure(connection, user_id, disclosure_id, is_withdrawn_too=True))
            return await disclosures.list_reads(
                connection, principal.tenant_id, principal.user_pseudonym, disclosure_id, MAX_READS
            )

    # For advisers

    async def list_customers(
        self, principal: Principal, after: tuple[UUID, UUID], limit: int
    ) -> list[DisclosingCustomer]:
        """One entry per disclosure that holds now."""
        async with self._database.connect(principal.user_id) as connection:
            return await disclosures.list_customers(
                connection, principal.tenant_id, user_of(principal), self._clock.today(), after, limit
            )

    async def authorise_adviser(self, principal: Principal, customer_id: UUID, scope: DisclosureScope) -> Principal:
        """The customer, as whom the analysis is read. NotFoundError without a valid disclosure.

        Only here and in `authorise_adviser_for_file` does a request act as another user. The read is in the audit trail
        before anything is read.
        """
        async with self._database.transaction(principal.user_id) as connection:
            disclosure_id = await disclosures.find_valid(
                connection, principal.tenant_id, user_of(principal), self._clock.today(), customer_id, scope
            )
            if disclosure_id is None:
                raise NotFoundError
            return await self._read_as(connection, principal, customer_id, f"disclosure {disclosure_id} {scope}")

    async def authorise_adviser_for_file(
        self, principal: Principal, file_id: UUID, scope: DisclosureScope = DisclosureScope.CREDIT_CHECK
    ) -> Principal:
        """As `authorise_adviser`, for a credit file: only the disclosure that it was made for counts."""
        async with self._database.transaction(principal.user_id) as connection:
            found = await disclosures.find_of_file(
                connection, principal.tenant_id, user_of(principal), self._clock.today(), file_id, scope
            )
            if found is None:
                raise NotFoundError
            customer_id, disclosure_id = found
            what = f"disclosure {disclosure_id} {scope} credit-file {file_id}"
            return await self._read_as(connection, principal, customer_id, what)

    # Parts

    @staticmethod
    async def _read_as(connection: Connection, principal: Principal, customer_id: UUID, what: str) -> Principal:
        customer = await users.find_user(connection, principal.tenant_id, customer_id)
        if customer is None:
            raise NotFoundError
        subject = f"user {customer.pseudonym} {what}"
        await auditing.record(
            connection, principal.tenant_id, auditing.name_actor(principal), "disclosure.read", subject
        )
        return replace(principal, user_id=customer.id, user_pseudonym=customer.pseudonym)

    @staticmethod
    async def _name_adviser(connection: Connection, principal: Principal, adviser_id: UUID | None) -> str:
        """For the audit trail, by the pseudonym."""
        if adviser_id is None:
            return ""
        adviser = await users.find_user(connection, principal.tenant_id, adviser_id)
        if adviser is None or not adviser.is_active or adviser.id == principal.user_id:
            raise InvalidError("expected the reference of another user of this tenant", "berater")
        return f" for adviser {adviser.pseudonym}"


def _require(disclosure: Disclosure | None) -> Disclosure:
    if disclosure is None:
        raise NotFoundError
    return disclosure


async def _record(connection: Connection, principal: Principal, action: str, disclosure_id: UUID, text: str) -> None:
    subject = f"user {principal.user_pseudonym} disclosure {disclosure_id}{text}"
    await auditing.record(connection, principal.tenant_id, auditing.name_actor(principal), action, subject)
