"""What the demo bank remembers about its customers. Blocking: the bank is asked from worker threads."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from kontor.domain.payments import Order
from kontor.domain.secrets import Secret
from kontor.storage.database import Connection
from kontor.storage.demo_bank_payments import DemoBankBooks


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the bank that waits for its customer: where it leads back to, and the orders it is about, if any.

    An order is a list of recipient, IBAN, amount with currency (as the customer reads it), and purpose.
    """

    return_url: str
    orders: list[list[str]]


class DemoBankMemory(DemoBankBooks):
    def __init__(self, url: Secret, page_base: str, *, pays_twice: bool = False) -> None:
        super().__init__(url, pays_twice=pays_twice)
        self._page_base = page_base

    def count_wrong_pin(self, login: str) -> int:
        """Wrong PINs in a row, this one included."""
        with self._connect() as connection:
            row = connection.execute(
                "insert into demo_bank_logins as l (login, wrong_pins) values (%s, 1)"
                " on conflict (login) do update set wrong_pins = l.wrong_pins + 1 returning wrong_pins",
                [login],
            ).fetchone()
        assert row is not None
        return int(row[0])

    def read_wrong_pins(self, login: str) -> int:
        with self._connect() as connection:
            row = connection.execute("select wrong_pins from demo_bank_logins where login = %s", [login]).fetchone()
        return 0 if row is None else int(row[0])

    def forget_wrong_pins(self, login: str) -> None:
        with self._connect() as connection:
            connection.execute("delete from demo_bank_logins where login = %s", [login])

    # The bank's own page

    def open_page(self, return_url: str, orders: Sequence[Order] = ()) -> str:
        page_id = uuid4()
        shown = [show_order(order) for order in orders]
        with self._connect() as connection:
            connection.execute(
                "insert into demo_bank_pages (id, return_url, orders) values (%s, %s, %s)",
                [page_id, return_url, Jsonb(shown)],
            )
        return f"{self._page_base}/{page_id}"

    def is_page_confirmed(self, page_url: str) -> bool:
        page_id = page_url.rpartition("/")[2]
        with self._connect() as connection:
            row = connection.execute("select is_confirmed from demo_bank_pages where id = %s", [page_id]).fetchone()
        return row is not None and row[0] is True


def show_order(order: Order) -> list[str]:
    """Name, IBAN, amount and purpose, as a page of the bank shows them."""
    return [order.recipient, order.iban, f"{order.amount:.2f} {order.currency}".replace(".", ","), order.purpose]


async def find_page(connection: Connection, page_id: UUID) -> Page | None:
    """A page that is still open."""
    cursor = await connection.execute(
        "select return_url, orders from demo_bank_pages where id = %s and is_confirmed is null"
        " and created_at > now() - interval '15 minutes'",
        [page_id],
    )
    row = await cursor.fetchone()
    return None if row is None else Page(row[0], row[1])


async def decide_page(connection: Connection, page_id: UUID, *, is_confirmed: bool) -> None:
    await connection.execute("update demo_bank_pages set is_confirmed = %s where id = %s", [is_confirmed, page_id])


async def delete_old_pages(connection: Connection) -> int:
    cursor = await connection.execute("delete from demo_bank_pages where created_at < now() - interval '1 day'")
    return cursor.rowcount
