"""Standing orders in the demo bank's books: every accepted instruction is a row, and none is ever changed."""

import msgspec
import psycopg
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from kontor.domain.demo_books import BookOwner, StandingOrderAction
from kontor.domain.payments import Order
from kontor.domain.schedules import Schedule, StandingAction


def list_actions(connection: psycopg.Connection[TupleRow], owner: BookOwner) -> list[StandingOrderAction]:
    rows = connection.execute(
        "select payment_id, product_key, name, action, details, schedule, valid_from from demo_bank_standing_orders"
        " where owner = %s order by id",
        [owner.key],
    ).fetchall()
    return [
        StandingOrderAction(
            payment_id,
            product_key,
            name,
            StandingAction(action),
            msgspec.convert(details, Order),
            msgspec.convert(schedule, Schedule),
            valid_from,
        )
        for payment_id, product_key, name, action, details, schedule, valid_from in rows
    ]


def insert_action(connection: psycopg.Connection[TupleRow], owner: BookOwner, action: StandingOrderAction) -> None:
    connection.execute(
        "insert into demo_bank_standing_orders"
        " (owner, product_key, name, payment_id, action, details, schedule, valid_from)"
        " values (%s, %s, %s, %s, %s, %s, %s, %s)",
        [
            owner.key,
            action.product_key,
            action.name,
            action.payment_id,
            str(action.kind),
            Jsonb(msgspec.to_builtins(action.order)),
            Jsonb(msgspec.to_builtins(action.schedule)),
            action.valid_from,
        ],
    )


def is_active(connection: psycopg.Connection[TupleRow], owner: BookOwner, action: StandingOrderAction) -> bool:
    """Is there a standing order of this name on the account, not deleted yet?"""
    row = connection.execute(
        "select action from demo_bank_standing_orders where owner = %s and product_key = %s and name = %s"
        " order by id desc limit 1",
        [owner.key, action.product_key, action.name],
    ).fetchone()
    return row is not None and row[0] != StandingAction.DELETE
