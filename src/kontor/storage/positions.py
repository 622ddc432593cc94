"""Securities positions of a depot: replaced as a whole with every fetch."""

from collections.abc import Sequence
from uuid import UUID

from kontor.domain.positions import Position, TradingUnit
from kontor.storage.database import Connection

COLUMNS = "name, quantity, unit, isin, wkn, price, price_at, currency, exchange_rate, exchange, total_value"


async def replace_positions(
    connection: Connection, user_id: UUID, product_id: UUID, positions: Sequence[Position]
) -> None:
    await connection.execute("delete from positions where user_id = %s and product_id = %s", [user_id, product_id])
    cursor = connection.cursor()
    await cursor.executemany(
        f"insert into positions (user_id, product_id, ordinal, {COLUMNS})"
        " values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [
            (
                user_id,
                product_id,
                number,
                position.name,
                position.quantity,
                None if position.unit is None else str(position.unit),
                position.isin,
                position.wkn,
                position.price,
                position.price_at,
                position.currency,
                position.exchange_rate,
                position.exchange,
                position.total_value,
            )
            for number, position in enumerate(positions)
        ],
    )


async def list_positions(connection: Connection, user_id: UUID, product_id: UUID) -> list[Position]:
    cursor = await connection.execute(
        f"select {COLUMNS} from positions where user_id = %s and product_id = %s order by ordinal",
        [user_id, product_id],
    )
    return [
        Position(row[0], row[1], None if row[2] is None else TradingUnit(row[2]), *row[3:])
        for row in await cursor.fetchall()
    ]
