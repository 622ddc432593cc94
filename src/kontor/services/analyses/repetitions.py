"""Which bookings of accounts in several accesses count once, where all accounts are read together (ADR 0047)."""

from collections.abc import Collection, Sequence
from uuid import UUID

import msgspec

from kontor.services.analyses.duplicates import SharedLedgers, list_groups, load_shared
from kontor.services.compute import Compute
from kontor.storage import deltas, products, repetitions
from kontor.storage.data_versions import lock_data, take_version
from kontor.storage.database import Connection, Database
from kontor.storage.retries import retry_conflicts

Row = tuple[UUID, UUID]  # product and id
ATTEMPTS = 2  # while others change the data; then the data is locked
_ledgers = msgspec.msgpack.Decoder(SharedLedgers)


def find_repeated_rows(packed: Sequence[bytes]) -> list[Row]:
    """In a compute process: product and id of each row that repeats another one."""
    found = []
    for piece in packed:
        shared = _ledgers.decode(piece)
        repeated = shared.pair().repeated
        for source, ledger in zip(shared.sources, shared.ledgers, strict=True):
            found += [(UUID(source.id), UUID(key)) for key in ledger if key in repeated]
    return found


class Repetitions:
    def __init__(self, database: Database, compute: Compute) -> None:
        self._database = database
        self._compute = compute

    async def update(self, user_id: UUID) -> int | None:
        """Pair the bookings of the user's accounts unless that is done.

        Returns the version of the data that is paired, or None where no account occurs more than once, nor did.
        """
        async with self._database.connect(user_id) as connection:
            state = await deltas.read_state(connection, user_id)
            if state.paired_version == state.version:
                return state.version
            if not await repetitions.has_repeated(connection, user_id):
                stored = await products.list_products(connection, user_id)
                if not await list_groups(connection, user_id, stored):
                    return None
        return await self._pair(user_id)

    async def _pair(self, user_id: UUID) -> int:
        """Others may write while it is computed: a compute process may be busy for longer than a transaction lasts."""
        for _ in range(ATTEMPTS):
            async with self._database.snapshot(user_id) as connection:
                state = await deltas.read_state(connection, user_id)
                if state.paired_version == state.version:
                    return state.version
                packed = await _load_packed(connection, user_id)
            found = await self._find(user_id, packed)
            version = await self._store(user_id, state.version, found)
            if version is not None:
                return version
        return await self._pair_locked(user_id)

    async def _find(self, user_id: UUID, packed: Sequence[bytes]) -> Collection[Row]:
        return await self._compute.run(find_repeated_rows, packed, owner=user_id) if packed else []

    @retry_conflicts
    async def _store(self, user_id: UUID, version: int, found: Collection[Row]) -> int | None:
        """None where the data has changed since it was read."""
        async with self._database.transaction(user_id) as connection:
            if await lock_data(connection, user_id) != version:
                return None
            return await _store_found(connection, user_id, version, found)

    @retry_conflicts
    async def _pair_locked(self, user_id: UUID) -> int:
        async with self._database.transaction(user_id) as connection:
            version = await lock_data(connection, user_id)
            found = await self._find(user_id, await _load_packed(connection, user_id))
            return await _store_found(connection, user_id, version, found)


async def _load_packed(connection: Connection, user_id: UUID) -> list[bytes]:
    shared = await load_shared(connection, user_id, await products.list_products(connection, user_id))
    return [msgspec.msgpack.encode(ledgers) for ledgers in shared]


async def _store_found(connection: Connection, user_id: UUID, version: int, found: Collection[Row]) -> int:
    changed = set(found) ^ await repetitions.list_hidden(connection, user_id)
    await repetitions.toggle_visibility(connection, user_id, changed)
    if changed:
        version = await take_version(connection, user_id)
    await repetitions.set_paired(connection, user_id, version)
    return version
