"""Which bookings of accounts in several accesses count once, where all accounts are read together (ADR 0047)."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from kontor.services.analyses.duplicates import SharedLedgers, list_groups, load_shared
from kontor.services.compute import Compute
from kontor.storage import deltas, products, repetitions
from kontor.storage.data_versions import lock_data, take_version
from kontor.storage.database import Database
from kontor.storage.retries import retry_conflicts

_ledgers = msgspec.msgpack.Decoder(SharedLedgers)


def find_repeated_rows(packed: Sequence[bytes]) -> list[tuple[UUID, UUID]]:
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

    @retry_conflicts
    async def _pair(self, user_id: UUID) -> int:
        async with self._database.transaction(user_id) as connection:
            version = await lock_data(connection, user_id)
            shared = await load_shared(connection, user_id, await products.list_products(connection, user_id))
            packed = [msgspec.msgpack.encode(ledgers) for ledgers in shared]
            found = await self._compute.run(find_repeated_rows, packed, owner=user_id) if packed else []
            changed = set(found) ^ await repetitions.list_hidden(connection, user_id)
            await repetitions.flip(connection, user_id, changed)
            if changed:
                version = await take_version(connection, user_id)
            await repetitions.set_paired(connection, user_id, version)
            return version
