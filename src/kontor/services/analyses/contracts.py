"""The contracts that are kept of a user: found again when data has changed, with the ids that they had (ADR 0052)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, TypeAlias
from uuid import UUID

from kontor.analysis.contracts import estimate_confidence, group_rows, list_bookings, list_known
from kontor.domain.contracts import KnownContract, Period
from kontor.domain.errors import NotFoundError
from kontor.domain.principals import Principal, user_of
from kontor.services.compute import Compute
from kontor.services.security import auditing
from kontor.storage import contracts
from kontor.storage.contracts import ContractState
from kontor.storage.data_versions import lock_data, read_version
from kontor.storage.database import Connection, Database
from kontor.storage.retries import retry_conflicts

if TYPE_CHECKING:
    from kontor.services.analyses.analyses import Facts, PackedFacts

ATTEMPTS = 2  # while others change the data; then the data is locked
Make: TypeAlias = Callable[["Facts"], bytes]
Load: TypeAlias = Callable[[Connection, UUID], Awaitable[tuple["PackedFacts", int]]]


@dataclass(frozen=True, slots=True)
class LoadedFacts:
    """What analyses read, and its version. `answer` is there where contracts had to be found for it."""

    facts: "PackedFacts"
    version: int
    answer: bytes | None = None


@dataclass(frozen=True, slots=True)
class FoundContracts:
    """What is to be stored: all contracts, earlier and excluded ones too, and the periods of transactions."""

    known: Sequence[KnownContract]
    periods: Sequence[Period]
    answer: bytes | None


def find_known(packed: "PackedFacts", make: Make | None) -> FoundContracts:
    """In a compute process. The answer is made from the same contracts, so that they are found once."""
    facts = packed.unpack()
    rows = group_rows(facts.repeated)
    periods = [
        Period(row, contract.period, confidence)
        for contract, confidence in zip(facts.contracts, map(estimate_confidence, facts.contracts), strict=True)
        for booking in list_bookings(contract, rows)
        for row in booking
    ]
    existing = {record.id for record in facts.records} | facts.repeated.keys()
    known = list_known(facts.all_contracts, facts.known, facts.repeated, existing)
    return FoundContracts(known, periods, None if make is None else make(facts))


class ContractUpdates:
    def __init__(self, database: Database, compute: Compute, load: Load) -> None:
        self._database = database
        self._compute = compute
        self._load = load

    async def update(self, user_id: UUID, today: date, made_by: str) -> None:
        """Find the contracts of the user's data as it is, unless that is done."""
        async with self._database.connect(user_id) as connection:
            state = await contracts.read_state(connection, user_id)
            version = await read_version(connection, user_id)
        if state != ContractState(version, today, made_by):
            await self.load(user_id, made_by)

    async def load(self, user_id: UUID, made_by: str, make: Make | None = None) -> LoadedFacts:
        """What analyses read, with all contracts that it shows."""
        for _ in range(ATTEMPTS):
            async with self._database.snapshot(user_id) as connection:
                facts, version = await self._load(connection, user_id)
                state = await contracts.read_state(connection, user_id)
            if state == ContractState(version, facts.today, made_by):
                return LoadedFacts(facts, version)
            found = await self._compute.run(find_known, facts, make, owner=user_id)
            stored = await self._store(user_id, facts, version, found, made_by)
            if stored is not None:
                return stored
        return await self._load_locked(user_id, made_by, make)

    @retry_conflicts
    async def change(self, principal: Principal, contract_id: UUID, changes: Mapping[str, object]) -> None:
        """Set fields of `ContractSettings`; None resets one."""
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            await lock_data(connection, user_id)
            settings = await contracts.find_settings(connection, user_id, contract_id)
            if settings is None:
                raise NotFoundError
            changed = replace(settings, **changes)  # type: ignore[arg-type]  # the caller names fields
            if changed == settings:
                return
            await contracts.store_settings(connection, user_id, contract_id, changed)
            subject = f"user {principal.user_pseudonym} contract {contract_id}"
            actor = auditing.name_actor(principal)
            await auditing.record(connection, principal.tenant_id, actor, "contract.change", subject)

    @retry_conflicts
    async def _store(
        self, user_id: UUID, facts: "PackedFacts", version: int, found: FoundContracts, made_by: str
    ) -> LoadedFacts | None:
        """None where the data, or the contracts of it, have changed since they were read."""
        async with self._database.transaction(user_id) as connection:
            if await lock_data(connection, user_id) != version:
                return None
            if await contracts.list_known(connection, user_id) != facts.known:
                return None
            return await _store_found(connection, user_id, facts, found, made_by)

    @retry_conflicts
    async def _load_locked(self, user_id: UUID, made_by: str, make: Make | None) -> LoadedFacts:
        async with self._database.transaction(user_id) as connection:
            await lock_data(connection, user_id)
            facts, _ = await self._load(connection, user_id)
            found = await self._compute.run(find_known, facts, make, owner=user_id)
            return await _store_found(connection, user_id, facts, found, made_by)


async def _store_found(
    connection: Connection, user_id: UUID, facts: "PackedFacts", found: FoundContracts, made_by: str
) -> LoadedFacts:
    before = {contract.id: contract for contract in facts.known}
    gone = before.keys() - {contract.id for contract in found.known}
    await contracts.store_known(
        connection, user_id, [contract for contract in found.known if contract != before.get(contract.id)]
    )
    await contracts.delete_known(connection, user_id, sorted(gone))
    await contracts.set_periods(connection, user_id, found.periods)
    version = await read_version(connection, user_id)
    await contracts.store_state(connection, user_id, ContractState(version, facts.today, made_by))
    return LoadedFacts(replace(facts, known=await contracts.list_known(connection, user_id)), version, found.answer)
