"""The demo bank's books: accounts, payments, bookings. Rows are added and never changed. Blocking, as the bank is.

Whatever decides about a payment does so under a lock of the bank's customer: an order, its repetition and a question
about it come one after the other, and so do two orders that want the same money.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from decimal import Decimal
from uuid import UUID, uuid4

import msgspec
import psycopg
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from kontor.domain.demo_books import (
    BookedOrder,
    BookOwner,
    Collection,
    Receipt,
    ScheduledCollection,
    ScheduledTransfer,
    StandingOrderAction,
)
from kontor.domain.payments import PaymentOutcome
from kontor.domain.products import Product
from kontor.domain.schedules import StandingAction
from kontor.domain.secrets import Secret
from kontor.domain.transactions import Transaction
from kontor.storage.connections import WAIT_TIMEOUT_SECONDS, connect_blocking
from kontor.storage.demo_bank_standing_orders import insert_action, is_active, list_actions

NO_FUNDS, REJECTED = "NO_FUNDS", "REJECTED"
UNKNOWN_STANDING = "Diesen Dauerauftrag gibt es nicht."
PATIENCE = "10s"
WORDS = (
    "purpose, booking_text, gv_code, prima_nota, counterparty_name, counterparty_iban, counterparty_bic,"
    " ultimate_counterparty"
)


class DemoBankBooks:
    """A database that cannot be reached is a `ConnectionError`: what was under way may have been written or not."""

    def __init__(self, url: Secret, *, pays_twice: bool = False) -> None:
        """`pays_twice`: an order that arrives again is booked again, as at a bank without idempotency."""
        self._url = url
        self.pays_twice = pays_twice

    def register_accounts(self, owner: BookOwner, products: Sequence[Product]) -> None:
        rows = [
            (owner.key, product.iban, owner.customer, product.key, product.holder)
            for product in products
            if product.iban
        ]
        with self._open() as connection:
            connection.cursor().executemany(
                "insert into demo_bank_accounts (owner, iban, customer, product_key, holder)"
                " values (%s, %s, %s, %s, %s) on conflict do nothing",
                rows,
            )

    def find_holders(self, ibans: Sequence[str]) -> dict[str, str]:
        """Names of the holders of those IBANs that the bank knows."""
        with self._open() as connection:
            rows = connection.execute(
                "select distinct iban, holder from demo_bank_accounts where iban = any(%s)", [list(ibans)]
            ).fetchall()
        return dict(rows)

    def list_bookings(self, owner: BookOwner, today: date) -> dict[str, tuple[Transaction, ...]]:
        """Per product key what payments have moved up to today, oldest first."""
        with self._open() as connection:
            rows = connection.execute(
                f"select id, product_key, booked_on, amount, currency, booked_at, {WORDS} from demo_bank_bookings"
                " where owner = %s and booked_on <= %s order by booked_on, id",
                [owner.key, today],
            ).fetchall()
        bookings: dict[str, tuple[Transaction, ...]] = {}
        for number, product_key, booked_on, amount, currency, booked_at, *words in rows:
            transaction = Transaction(amount, currency, booked_at, booked_at, *words)
            transaction = replace(transaction, bank_id=f"P{booked_on:%Y%m%d}{number:012d}")
            bookings[product_key] = (*bookings.get(product_key, ()), transaction)
        return bookings

    def list_scheduled(self, owner: BookOwner, product_key: str, today: date) -> list[ScheduledTransfer]:
        """Single transfers whose day has not come yet, in the order of their days."""
        with self._open() as connection:
            rows = connection.execute(
                "select payment_id, booked_on, -amount, currency, counterparty_name, counterparty_iban,"
                " counterparty_bic, purpose from demo_bank_bookings where payer = %s and product_key = %s and place = 0"
                " and booked_on > %s and counterparty_iban is not null order by booked_on, id",
                [owner.key, product_key, today],
            ).fetchall()
        return [ScheduledTransfer(*row) for row in rows]

    def list_collections(self, owner: BookOwner, product_key: str, today: date) -> list[ScheduledCollection]:
        """Direct debits whose day has not come yet, in the order of their days."""
        with self._open() as connection:
            rows = connection.execute(
                "select payment_id, booked_on, collection from demo_bank_payments where owner = %s and product_key = %s"
                " and booked_on > %s and collection is not null order by booked_on, payment_id",
                [owner.key, product_key, today],
            ).fetchall()
        return [ScheduledCollection(row[0], row[1], msgspec.convert(row[2], Collection)) for row in rows]

    def sum_bookings(self, owner: BookOwner, product_key: str, today: date) -> Decimal:
        """What payments have added to an account: what comes in counts on its day, what goes out from now on."""
        with self._open() as connection:
            return _sum_bookings(connection, owner, product_key, today)

    def find_receipt(self, owner: BookOwner, payment_id: UUID) -> Receipt | None:
        with self._open() as connection:
            return _find_receipt(connection, owner, payment_id)

    def settle(self, owner: BookOwner, booked: BookedOrder, funds: Decimal, today: date) -> Receipt:
        """Decide about an order and book it, in one transaction. An id that is known already changes nothing.

        `funds` is what the account has without any payment of these books.
        """
        with self._locked(owner) as connection:
            known = _find_receipt(connection, owner, booked.payment_id)
            is_refused = known is not None and known.outcome is PaymentOutcome.NEVER
            if known is not None and (is_refused or not self.pays_twice):
                _note(connection, owner, booked.payment_id, "REFUSED" if is_refused else "REPEATED")
                return known
            if known is not None:
                booked = replace(booked, payment_id=uuid4())
            failure, detail = booked.failure, booked.detail
            available = funds + _sum_bookings(connection, owner, booked.product_key, today)
            if failure is None and available + booked.entry.amount < 0:
                failure = NO_FUNDS
            if failure is not None:
                receipt = Receipt(PaymentOutcome.REJECTED, None, failure, detail)
            else:
                outcome = PaymentOutcome.ACCEPTED if booked.is_scheduled else PaymentOutcome.EXECUTED
                receipt = Receipt(outcome, booked.booked_on)
            amount = abs(booked.entry.amount)
            collected = booked.collection if failure is None else None
            _write_receipt(connection, owner, booked.payment_id, receipt, booked.product_key, amount, collected)
            if failure is None:
                _book(connection, owner, booked)
            _note(connection, owner, booked.payment_id, "REJECTED" if failure else "BOOKED")
            return receipt

    def list_standing_order_actions(self, owner: BookOwner) -> list[StandingOrderAction]:
        with self._open() as connection:
            return list_actions(connection, owner)

    def record_standing_order_action(self, owner: BookOwner, action: StandingOrderAction) -> Receipt:
        """As `settle`, for what is ordered about a standing order: nothing is booked now."""
        with self._locked(owner) as connection:
            known = _find_receipt(connection, owner, action.payment_id)
            is_refused = known is not None and known.outcome is PaymentOutcome.NEVER
            if known is not None and (is_refused or not self.pays_twice):
                _note(connection, owner, action.payment_id, "REFUSED" if is_refused else "REPEATED")
                return known
            if known is not None:
                again = uuid4()
                name = f"DA{again.hex[:14].upper()}" if action.kind is StandingAction.CREATE else action.name
                action = replace(action, payment_id=again, name=name)
            failure, detail = action.failure, action.detail
            if (
                failure is None
                and action.kind is not StandingAction.CREATE
                and not is_active(connection, owner, action)
            ):
                failure, detail = REJECTED, UNKNOWN_STANDING
            if failure is None:
                receipt = Receipt(PaymentOutcome.EXECUTED, action.valid_from)
            else:
                receipt = Receipt(PaymentOutcome.REJECTED, None, failure, detail)
            _write_receipt(connection, owner, action.payment_id, receipt, action.product_key)
            if failure is None:
                insert_action(connection, owner, action)
            _note(connection, owner, action.payment_id, "REJECTED" if failure else "BOOKED")
            return receipt

    def look_up(self, owner: BookOwner, payment_id: UUID) -> Receipt:
        """What became of a payment. One that has not arrived never will: its id is buried."""
        with self._locked(owner) as connection:
            receipt = _find_receipt(connection, owner, payment_id)
            if receipt is not None:
                _note(connection, owner, payment_id, "LOOKED_UP")
                return receipt
            never = Receipt(PaymentOutcome.NEVER)
            _write_receipt(connection, owner, payment_id, never)
            _note(connection, owner, payment_id, "BURIED")
            return never

    def _connect(self) -> psycopg.Connection[TupleRow]:
        """For single statements. The bank is not down because its database is just moving."""
        return connect_blocking(self._url, autocommit=True, patience_seconds=WAIT_TIMEOUT_SECONDS)

    @contextmanager
    def _open(self) -> Iterator[psycopg.Connection[TupleRow]]:
        """One transaction."""
        try:
            with connect_blocking(self._url, autocommit=False, patience_seconds=WAIT_TIMEOUT_SECONDS) as connection:
                yield connection
        except (psycopg.OperationalError, psycopg.errors.IdleInTransactionSessionTimeout) as error:
            raise ConnectionError("the demo bank's books are out of reach") from error

    @contextmanager
    def _locked(self, owner: BookOwner) -> Iterator[psycopg.Connection[TupleRow]]:
        with self._open() as connection:
            # A process that stands still in the middle must not keep others from their answer: it loses its turn.
            connection.execute("select set_config('idle_in_transaction_session_timeout', %s, true)", [PATIENCE])
            connection.execute("select pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"demo bank {owner.key}"])
            yield connection


def _find_receipt(connection: psycopg.Connection[TupleRow], owner: BookOwner, payment_id: UUID) -> Receipt | None:
    row = connection.execute(
        "select state, booked_on, failure, detail from demo_bank_payments where owner = %s and payment_id = %s",
        [owner.key, payment_id],
    ).fetchone()
    return None if row is None else Receipt(PaymentOutcome(row[0]), *row[1:])


def _sum_bookings(connection: psycopg.Connection[TupleRow], owner: BookOwner, product_key: str, today: date) -> Decimal:
    row = connection.execute(
        "select coalesce(sum(amount), 0) from demo_bank_bookings"
        " where owner = %s and product_key = %s and (amount < 0 or booked_on <= %s)",
        [owner.key, product_key, today],
    ).fetchone()
    assert row is not None
    return Decimal(row[0])


def _write_receipt(
    connection: psycopg.Connection[TupleRow],
    owner: BookOwner,
    payment_id: UUID,
    receipt: Receipt,
    product_key: str | None = None,
    amount: Decimal | None = None,
    collection: Collection | None = None,
) -> None:
    connection.execute(
        "insert into demo_bank_payments (owner, payment_id, state, product_key, amount, booked_on, failure, detail,"
        " collection) values (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [
            owner.key,
            payment_id,
            str(receipt.outcome),
            product_key,
            amount,
            receipt.booked_on,
            receipt.failure,
            receipt.detail,
            None if collection is None else Jsonb(msgspec.to_builtins(collection)),
        ],
    )


def _book(connection: psycopg.Connection[TupleRow], payer: BookOwner, booked: BookedOrder) -> None:
    own_place = 0 if booked.collection is None else 1  # place 0 is a debit
    _enter(connection, payer, booked, own_place, payer.key, booked.product_key, booked.entry)
    for place, credit in enumerate(booked.credits, 1):
        # The payer's own accounts first: other people may use the same demo login, and with it the same IBAN.
        row = connection.execute(
            "select owner, product_key from demo_bank_accounts where iban = %s"
            " order by owner = %s desc, customer = %s desc, registered_at, owner limit 1",
            [credit.iban, payer.key, payer.customer],
        ).fetchone()
        if row is not None:
            _enter(connection, payer, booked, place, row[0], row[1], credit.transaction)


def _enter(
    connection: psycopg.Connection[TupleRow],
    payer: BookOwner,
    booked: BookedOrder,
    place: int,
    owner_key: str,
    product_key: str,
    transaction: Transaction,
) -> None:
    connection.execute(
        "insert into demo_bank_bookings"
        f" (owner, product_key, payer, payment_id, place, amount, currency, booked_on, booked_at, {WORDS})"
        " values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [
            owner_key,
            product_key,
            payer.key,
            booked.payment_id,
            place,
            transaction.amount,
            transaction.currency,
            booked.booked_on,
            transaction.booked_at,
            transaction.purpose,
            transaction.booking_text,
            transaction.gv_code,
            transaction.prima_nota,
            transaction.counterparty_name,
            transaction.counterparty_iban,
            transaction.counterparty_bic,
            transaction.ultimate_counterparty,
        ],
    )


def _note(connection: psycopg.Connection[TupleRow], owner: BookOwner, payment_id: UUID, event: str) -> None:
    connection.execute(
        "insert into demo_bank_arrivals (owner, payment_id, event) values (%s, %s, %s)", [owner.key, payment_id, event]
    )
