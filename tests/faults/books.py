"""Three books about one payment: what its caller was told, what the database says, what the bank did."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid5

from callers import PAID, PaymentCase, is_failed
from deployments import WAIT_TIMEOUT_SECONDS, Deployment

from banking import wait_for
from kontor.bootstrap import open_services
from kontor.services.security.auditing import verify_chains

SENT = {"BOOKED", "REJECTED", "REPEATED", "REFUSED"}


@dataclass(frozen=True)
class Books:
    told: tuple[tuple[int, tuple[str, ...]], ...]
    states: tuple[str, ...]
    audit: tuple[str, ...]
    arrivals: tuple[str, ...]
    debits: int
    debits_by_purpose: int

    @property
    def is_booked(self) -> bool:
        return self.debits_by_purpose > 0

    def list_faults(self) -> list[str]:
        """Everything in which the books contradict each other."""
        codes = [told_codes for _, told_codes in self.told]
        told_paid = any(PAID & set(told_codes) for told_codes in codes)
        told_failed = any(is_failed(told_codes) for told_codes in codes)
        sends = self.audit.count("payment.send")
        arrived = [arrival for arrival in self.arrivals if arrival in SENT]
        rules = {
            "paid twice": self.debits_by_purpose <= 1,
            "booked under another id": self.debits_by_purpose == self.debits,
            "sent twice": len(arrived) <= 1 and sends <= 1,
            "arrived without leave": len(arrived) <= sends,
            "more than one payment": len(self.states) == 1,
            "booked, but the database says otherwise": self.is_booked
            == (self.states in (("EXECUTED",), ("ACCEPTED",))),
            "not booked, but not failed": self.is_booked or self.states == ("FAILED",),
            "told that it is paid, and it is not": not told_paid or self.is_booked,
            "told that it failed, and it is paid": not told_failed or not self.is_booked,
            "never told how it ended": bool(codes) and (bool(PAID & set(codes[-1])) or is_failed(codes[-1])),
            "said to be unknown, but never sent": sends == 1 or not any("BA1113" in told_codes for told_codes in codes),
            "audit: not ordered first": self.audit[:1] == ("payment.order",),
            "audit: not ended last": self.audit[-1:] == (f"payment.{self.states[0].lower()}" if self.states else "",),
            "audit: ordered twice": self.audit.count("payment.order") == 1,
        }
        return [name for name, is_kept in rules.items() if not is_kept]


def read_books(deployment: Deployment, case: PaymentCase) -> Books:
    user = case.payer.customer.reference
    rows = deployment.query(
        "select id, state from payments where user_id = %s and orders -> 0 ->> 'purpose' = %s", user, case.purpose
    )
    payment_id = rows[0][0] if rows else UUID(int=0)
    bank_id = uuid5(UUID(user), f"payment {payment_id}")
    audit = deployment.query(
        "select action from audit_entries where object like %s order by serial", f"%payment {payment_id}%"
    )
    arrivals = deployment.query("select event from demo_bank_arrivals where payment_id = %s order by id", bank_id)
    debits = deployment.query("select count(*) from demo_bank_bookings where payment_id = %s and place = 0", bank_id)
    by_purpose = deployment.query(
        "select count(*) from demo_bank_bookings where position(%s in purpose) > 0 and place = 0", case.purpose
    )
    return Books(
        tuple(case.told),
        tuple(row[1] for row in rows),
        tuple(row[0] for row in audit),
        tuple(row[0] for row in arrivals),
        debits[0][0],
        by_purpose[0][0],
    )


def compare_books(deployment: Deployment, case: PaymentCase, what: object) -> Books:
    """Once nothing is under way any more. Fails where they differ."""

    def look() -> list[Any]:
        under_way = "select state from payments where user_id = %s and orders -> 0 ->> 'purpose' = %s"
        under_way += " and (state in ('DRAFT', 'OPEN', 'SENDING', 'UNKNOWN') or fence is not null)"
        return deployment.query(under_way, case.payer.customer.reference, case.purpose)

    wait_for(look, lambda rows: not rows, WAIT_TIMEOUT_SECONDS)
    deployment.cases.append(case)
    books = read_books(deployment, case)
    faults = books.list_faults()
    assert not faults, f"{what}: {', '.join(faults)}: {books}"
    return books


def compare_all(deployment: Deployment) -> None:
    """Later, when every process has had the time to do what it should not: still the same."""
    for case in deployment.cases:
        books = read_books(deployment, case)
        assert not books.list_faults(), f"{books.list_faults()}: {books}"


def find_broken_chains(deployment: Deployment) -> dict[Any, str]:
    """In a thread: the event loop of the tests is not ours."""

    async def verify() -> dict[Any, str | None]:
        async with open_services(replace(deployment.settings, pool_size=2), "kontor tests, audit") as services:
            return await verify_chains(services.database)

    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(asyncio.run, verify()).result()
    assert found
    return {chain: broken for chain, broken in found.items() if broken is not None}
