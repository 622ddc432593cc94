"""A user's contracts as analyses have last found them, and the periods of their transactions (ADR 0052)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from kontor.domain.contracts import ContractSettings, KnownContract, Period
from kontor.storage.data_versions import increment_version, take_version
from kontor.storage.database import Connection, fetch_row, fetch_rows
from kontor.storage.lock_order import Lock, note_lock

STATE = "select data_version, made_for, made_by from contract_states where user_id = $1"
SETTINGS = "name, is_contract, notice_period, minimum_term_end"
LIST = f"""
    select id::text, transaction_ids::text[], booking_numbers, is_found, {SETTINGS} from contracts where user_id = $1
    order by created_at, id
"""
FIND_SETTINGS = f"select {SETTINGS} from contracts where user_id = $1 and id = $2 and is_found"


@dataclass(frozen=True, slots=True)
class ContractState:
    """For which data, on which day and by which program contracts were found."""

    data_version: int
    made_for: date
    made_by: str


async def read_state(connection: Connection, user_id: UUID) -> ContractState | None:
    row = await fetch_row(connection, STATE, [user_id])
    return None if row is None else ContractState(*row)


async def store_state(connection: Connection, user_id: UUID, state: ContractState) -> None:
    """The caller has locked the user's data, as for everything that is written here."""
    note_lock(Lock.DATA_VERSION, user_id)
    await connection.execute(
        "insert into contract_states (user_id, data_version, made_for, made_by) values (%s, %s, %s, %s)"
        " on conflict (user_id) do update set data_version = excluded.data_version, made_for = excluded.made_for,"
        " made_by = excluded.made_by",
        [user_id, state.data_version, state.made_for, state.made_by],
    )


async def list_known(connection: Connection, user_id: UUID) -> list[KnownContract]:
    """In the order in which they were first found."""
    known = []
    for contract_id, rows, numbers, is_found, *settings in await fetch_rows(connection, LIST, [user_id]):
        bookings: dict[int, list[str]] = {}
        for row, number in zip(rows, numbers, strict=True):
            bookings.setdefault(number, []).append(row)
        known.append(
            KnownContract(contract_id, tuple(map(tuple, bookings.values())), is_found, ContractSettings(*settings))
        )
    return known


async def find_settings(connection: Connection, user_id: UUID, contract_id: UUID) -> ContractSettings | None:
    """None where the user has no such contract now."""
    row = await fetch_row(connection, FIND_SETTINGS, [user_id, contract_id])
    return None if row is None else ContractSettings(*row)


async def store_settings(connection: Connection, user_id: UUID, contract_id: UUID, settings: ContractSettings) -> None:
    """Analyses read them: the version rises."""
    note_lock(Lock.DATA_VERSION, user_id)
    await connection.execute(
        "update contracts set name = %s, is_contract = %s, notice_period = %s, minimum_term_end = %s"
        " where user_id = %s and id = %s",
        [
            settings.name,
            settings.is_contract,
            settings.notice_period,
            settings.minimum_term_end,
            user_id,
            contract_id,
        ],
    )
    await increment_version(connection, user_id)


OF_TRANSACTIONS = """
    select g.transaction_id, c.id, g.period from transaction_tags g
        join contracts c on c.user_id = g.user_id and c.is_found and g.transaction_id = any(c.transaction_ids)
    where g.user_id = $1 and g.transaction_id = any($2) and g.period is not null
"""


async def find_of_transactions(
    connection: Connection, user_id: UUID, ids: Sequence[UUID]
) -> list[tuple[UUID, UUID, str]]:
    """Of these transactions, those that belong to a contract: id, contract and period."""
    return [(row[0], row[1], row[2]) for row in await fetch_rows(connection, OF_TRANSACTIONS, [user_id, list(ids)])]


async def store_known(connection: Connection, user_id: UUID, known: Sequence[KnownContract]) -> None:
    """Contracts that are new or have other bookings. What the user has set stays."""
    note_lock(Lock.DATA_VERSION, user_id)
    for contract in known:
        rows = [(number, row) for number, booking in enumerate(contract.bookings) for row in booking]
        await connection.execute(
            "insert into contracts (user_id, id, transaction_ids, booking_numbers, is_found)"
            " values (%s, %s, %s::uuid[], %s, %s) on conflict (user_id, id) do update set"
            " transaction_ids = excluded.transaction_ids, booking_numbers = excluded.booking_numbers,"
            " is_found = excluded.is_found",
            [user_id, contract.id, [row for _, row in rows], [number for number, _ in rows], contract.is_found],
        )


async def delete_known(connection: Connection, user_id: UUID, ids: Sequence[str]) -> None:
    note_lock(Lock.DATA_VERSION, user_id)
    await connection.execute("delete from contracts where user_id = %s and id = any(%s::uuid[])", [user_id, list(ids)])


# Transactions are looked up in a table that is made once, however many contracts there are.
DELETE_EMPTY = """
    delete from contracts where user_id = %(user)s and id in (
        select id from (select id, unnest(transaction_ids) as own from contracts where user_id = %(user)s) members
        group by id having not bool_or(own in (select t.id from transactions t where t.user_id = %(user)s))
    )
"""


async def delete_empty(connection: Connection, user_id: UUID) -> None:
    """After transactions were deleted: contracts of which none is left."""
    note_lock(Lock.DATA_VERSION, user_id)
    await connection.execute(DELETE_EMPTY, {"user": user_id})


# As in `analyses.RECORDS`: a full join, and a condition that keeps the planner from making a plain join of it.
SET_PERIODS = """
    update transaction_tags g set period = n.period, period_confidence = n.confidence, period_version = %s
    from (
        select t.product_id, t.transaction_id, found.period, found.confidence
        from (select * from transaction_tags where user_id = %s) t
            full join unnest(%s::uuid[], %s::text[], %s::real[]) as found (transaction_id, period, confidence)
            on found.transaction_id = t.transaction_id
        where coalesce(t.category, '') <> ''
            and (t.period, t.period_confidence) is distinct from (found.period, found.confidence)
    ) n
    where g.user_id = %s and g.product_id = n.product_id and g.transaction_id = n.transaction_id
"""


async def set_periods(connection: Connection, user_id: UUID, periods: Sequence[Period]) -> None:
    """Of the transactions of contracts; all others have none. Rows whose period stays are not touched."""
    note_lock(Lock.DATA_VERSION, user_id)
    version = await take_version(connection, user_id)
    ids = [period.transaction_id for period in periods]
    names, confidences = [period.name for period in periods], [period.confidence for period in periods]
    cursor = await connection.execute(SET_PERIODS, [version, user_id, ids, names, confidences, user_id])
    if cursor.rowcount:
        await increment_version(connection, user_id)
