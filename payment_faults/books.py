"""What the demo bank has in its books after a fault, and what Kontor lists of standing orders."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from payment_faults.environment import FaultEnvironment
from payment_faults.plans import Connector, Form, Scenario
from payment_faults.verdicts import PAID

ACTIONS = {Form.STANDING: "CREATE", Form.STANDING_CHANGE: "CHANGE", Form.STANDING_DELETION: "DELETE"}


@dataclass(frozen=True, slots=True)
class Marks:
    """The last rows before a fault, and the standing orders that Kontor listed."""

    booking: int
    note: int
    arrival: int
    listed: list[Any]


def read_marks(environment: FaultEnvironment) -> Marks:
    booking, note, arrival = environment.query(
        "select (select coalesce(max(id), 0) from demo_bank_bookings),"
        " (select coalesce(max(id), 0) from demo_bank_standing_orders),"
        " (select coalesce(max(id), 0) from demo_bank_arrivals)"
    )[0]
    return Marks(booking, note, arrival, _read_listed(environment))


def find_standing_id(environment: FaultEnvironment) -> UUID:
    [(order_id,)] = environment.query("select id from standing_orders")
    assert isinstance(order_id, UUID)
    return order_id


def find_place(form: Form) -> int:
    """Where the bank books the order on the account that it was ordered for: 0 is a debit, 1 a credit."""
    return 1 if form.is_debit else 0


def count_arrivals(environment: FaultEnvironment, scenario: Scenario, marks: Marks) -> tuple[int, int]:
    """How often the bank did what was ordered, and the sum in cents.

    Direct debits are booked as one credit. A standing order moves no money. A repeated deletion is refused: what
    counts is that it arrived.
    """
    if not scenario.form.is_standing:
        text = (
            "select count(*), coalesce(abs(sum(amount)) * 100, 0)::int from demo_bank_bookings"
            " where id > %s and place = %s"
        )
        debits, cents = environment.query(text, marks.booking, find_place(scenario.form))[0]
        return debits, cents
    notes = _read_notes(environment, scenario, marks)
    if not notes:
        return 0, 0
    arrivals = environment.query(
        "select count(*) from demo_bank_arrivals where id > %s and event in ('BOOKED', 'REJECTED')", marks.arrival
    )[0][0]
    return arrivals, notes[0][1]


def is_list_right(environment: FaultEnvironment, scenario: Scenario, marks: Marks, state: str | None) -> bool:
    """Does Kontor list what the bank has noted? As long as the outcome is unknown, what it listed before."""
    listed = _read_listed(environment)
    if not scenario.form.is_standing or state not in PAID:
        return listed == marks.listed
    notes = _read_notes(environment, scenario, marks)
    if len(listed) != 1 or not notes:
        return False
    [(name, cents, schedule, is_listed)] = listed
    # Over XS2A the name is that of the payment, which is not in the books.
    is_named = scenario.connector is Connector.XS2A or name == notes[0][0]
    is_same = (cents, schedule) == notes[0][1:]
    return is_named and is_same and is_listed is not (scenario.form is Form.STANDING_DELETION)


def _read_notes(environment: FaultEnvironment, scenario: Scenario, marks: Marks) -> list[Any]:
    return environment.query(
        "select name, ((details ->> 'amount')::numeric * 100)::int, schedule from demo_bank_standing_orders"
        " where id > %s and action = %s order by id",
        marks.note,
        ACTIONS[scenario.form],
    )


def _read_listed(environment: FaultEnvironment) -> list[Any]:
    return environment.query(
        "select bank_key, ((details ->> 'amount')::numeric * 100)::int, schedule, is_listed from standing_orders"
        " order by created_at, id"
    )
