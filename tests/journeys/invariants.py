"""What holds after every journey, whatever the bank did: judged by the books of the bank."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from faulty_banks import TODAY, Traveller

from kontor.connectors.base import Context
from kontor.connectors.demo.memory import find_owner
from kontor.connectors.demo.people import person_for
from kontor.connectors.demo.statements import list_rows
from kontor.demobank.faults import Fault
from kontor.demobank.faults.rows import distort_rows
from kontor.demobank.xs2a.aspsp import CUSTOMER
from kontor.domain.accesses import NoticeKind
from kontor.domain.payments import PaymentState
from kontor.domain.transactions import Transaction, find_day

CENT = Decimal("0.01")
TOO_MANY = "too many"
COMPLETE_DAYS = 80  # so far back every channel brings everything
PAID = (PaymentState.EXECUTED, PaymentState.ACCEPTED)
Booking = tuple[date | None, Decimal, str]


def check_all(traveller: Traveller, payments: Sequence[Any], notices: dict[str, set[NoticeKind]]) -> list[str]:
    """Violations in words, once the bank is well again.

    Rows that the bank once sent twice may stay where the notice about balances says that something is wrong.
    """
    violations = [*check_payments(traveller, payments), *check_leftovers(traveller), *check_pins(traveller)]
    for access_id, shown in notices.items():
        found = check_bookings(traveller, access_id)
        if NoticeKind.BALANCE_MISMATCH in shown and Fault.DUPLICATE_ROWS in traveller.plan.faults:
            found = [violation for violation in found if TOO_MANY not in violation]
        violations += found
        if traveller.protocol == "fints" and has_wrong_signs(traveller) and NoticeKind.BALANCE_MISMATCH not in shown:
            violations.append(f"{access_id}: debits are shown as credits, and nobody is told that balances do not fit")
    return violations


def has_wrong_signs(traveller: Traveller) -> bool:
    """Does the bank show some debits as credits, among those that every channel brings?"""
    since = TODAY - timedelta(days=COMPLETE_DAYS)
    right = list_books(traveller, is_distorted=False)
    return any(
        row.amount * shown.amount < 0
        for iban, rows in list_books(traveller).items()
        for row, shown in zip(right[iban], rows, strict=True)
        if (find_day(row) or TODAY) >= since
    )


def check_told_bookings(
    traveller: Traveller, payments: Sequence[Any], notices: dict[str, set[NoticeKind]]
) -> list[str]:
    """While the bank misbehaves, stored bookings may differ from its books where a notice says so.

    A payment whose outcome is shown as unknown may have been booked since the last fetch.
    """
    unknown = [payment for payment in payments if payment.state is PaymentState.UNKNOWN]
    debits = Counter((TODAY, -sum(order.amount for order in payment.orders), "EUR") for payment in unknown)
    return [
        violation
        for access_id, shown in notices.items()
        if not shown
        for violation in check_bookings(traveller, access_id, debits)
    ]


# Bookings


def list_books(traveller: Traveller, *, is_distorted: bool = True) -> dict[str, list[Transaction]]:
    """Final bookings of each account with an IBAN, as the bank shows them, or as they are."""
    person = person_for(traveller.login, TODAY)
    assert person is not None
    owner = find_owner(traveller.login, Context(TODAY, CUSTOMER))
    bookings = traveller.environment.memory.list_bookings(owner, TODAY)
    return {
        account.product.iban: distort_rows(
            [row for row in list_rows(account, bookings.get(account.product.key, ())) if not row.is_pending],
            traveller.plan if is_distorted else None,
        )
        for account in person.accounts
        if account.product.iban is not None
    }


def count_rows(rows: Sequence[Transaction]) -> Counter[Booking]:
    return Counter((find_day(row), row.amount.quantize(CENT), row.currency) for row in rows)


def read_stored(traveller: Traveller, access_id: str) -> dict[str, Counter[Booking]]:
    rows = traveller.query(
        "select p.iban, (coalesce(t.booked_at, t.value_at) at time zone 'Europe/Berlin')::date, t.amount, t.currency"
        " from transactions t join products p on p.user_id = t.user_id and p.id = t.product_id"
        " where t.user_id = %s and p.access_id = %s and p.iban is not null and not t.is_pending",
        traveller.user_id,
        access_id,
    )
    stored: dict[str, Counter[Booking]] = {}
    for iban, day, amount, currency in rows:
        stored.setdefault(iban, Counter())[day, amount.quantize(CENT), currency] += 1
    return stored


def check_bookings(traveller: Traveller, access_id: str, may_be_missing: Counter[Booking] | None = None) -> list[str]:
    """Stored rows are the bank's books: none is missing but these, none is there twice."""
    stored = read_stored(traveller, access_id)
    since = TODAY - timedelta(days=COMPLETE_DAYS)
    violations = []
    for iban, rows in list_books(traveller).items():
        books, found = count_rows(rows), stored.pop(iban, Counter())
        recent = Counter({booking: times for booking, times in books.items() if booking[0] and booking[0] >= since})
        if missing := recent - found - (may_be_missing or Counter()):
            violations.append(f"{access_id}: {missing.total()} bookings of {iban} are missing: {list(missing)[:3]}")
        if extra := found - books:
            violations.append(f"{access_id}: {extra.total()} bookings of {iban} {TOO_MANY}: {list(extra)[:3]}")
    violations += [f"{access_id}: {iban} is not an account of this customer" for iban in stored]
    return violations


# Payments


def count_debits(traveller: Traveller, payment: Any) -> int:
    """How often the bank has booked it, under whatever id."""
    purposes = [order.purpose for order in payment.orders]
    if len(purposes) == 1:
        found = traveller.query(
            "select count(*) from demo_bank_bookings where place = 0 and position(%s in purpose) > 0", purposes[0]
        )
    else:
        total = -sum(order.amount for order in payment.orders)
        found = traveller.query(
            "select count(*) from demo_bank_bookings b join demo_bank_accounts a"
            " on a.owner = b.owner and a.product_key = b.product_key"
            " where b.place = 0 and b.amount = %s and a.iban = any(%s)",
            total,
            list(list_books(traveller)),
        )
    return int(found[0][0])


def check_payments(traveller: Traveller, payments: Sequence[Any]) -> list[str]:
    violations = []
    for payment in payments:
        debits = count_debits(traveller, payment)
        what = f"payment {payment.state} {payment.failure or ''} has {debits} debits"
        if debits > 1:
            violations.append(f"paid more than once: {what}")
        elif payment.state in PAID and debits == 0:
            violations.append(f"said to be paid, and is not: {what}")
        elif payment.state is PaymentState.FAILED and debits == 1:
            violations.append(f"said to have failed, and is paid: {what}")
        elif payment.state.is_under_way:
            violations.append(f"still under way: {what}")
    return violations


# Leftovers


def check_leftovers(traveller: Traveller) -> list[str]:
    """Nothing is left running, no lease is held, and nothing is stored of an access that was deleted."""
    open_fetches = traveller.query(
        "select state, count(*) from fetches where user_id = %s and state in ('QUEUED', 'RUNNING') group by 1",
        traveller.user_id,
    )
    leases = traveller.query("select count(*) from credential_leases where until > now()")[0][0]
    fenced = traveller.query(
        "select count(*) from payments where user_id = %s and fence is not null", traveller.user_id
    )[0][0]
    orphans = traveller.query(
        "select count(*) from transactions t where t.user_id = %s and not exists (select from products p"
        " join accesses a on a.user_id = p.user_id and a.id = p.access_id"
        " where p.user_id = t.user_id and p.id = t.product_id)",
        traveller.user_id,
    )[0][0]
    violations = [f"{count} fetches are still {state}" for state, count in open_fetches]
    violations += [f"{orphans} bookings belong to no access"] if orphans else []
    violations += [f"{leases} leases are still held"] if leases else []
    return violations + ([f"{fenced} payments still carry a fence"] if fenced else [])


def check_pins(traveller: Traveller) -> list[str]:
    """After the bank has refused a PIN, it gets none until the customer has entered one."""
    violations = []
    for refusal in traveller.visits:
        if refusal.fault is not Fault.REFUSED_PIN:
            continue
        entered = min((entry for entry in traveller.entries if entry > refusal.number), default=10**9)
        sent = [
            visit.number
            for visit in traveller.visits
            if refusal.number < visit.number < entered and carries_pin(traveller, visit)
        ]
        if sent:
            violations.append(f"the PIN refused at request {refusal.number} was sent again at {sent}")
    return violations


def carries_pin(traveller: Traveller, visit: Any) -> bool:
    """Every FinTS message does; over XS2A only the login."""
    return traveller.protocol == "fints" or visit.kind == "LOGIN"
