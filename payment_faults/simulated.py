"""One simulated fault: a process dies at a point of a payment, others go on, and the books are compared.

The services run in this process on a real database, the bank answers over real HTTP. A crash is an exception that no
handler catches; from then on the dead process gets no connection to the database, and its leases stay as they are.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from uuid import UUID

from kontor.connectors.demo.scenarios import find_scenario
from kontor.services.bundle import Services
from kontor.services.payments import PaymentNotOpenError
from payment_faults.books import Marks, count_arrivals, find_standing_id, is_list_right, read_marks
from payment_faults.crashing import CrashError, Crashes, Point, bury_tasks, deliver_late_messages
from payment_faults.customers import Customer
from payment_faults.environment import FaultEnvironment, Payer
from payment_faults.plans import LOGINS, Connector, Entrance, Fault, Form, Sca, Scenario, Victim
from payment_faults.results import Result, make_result
from payment_faults.verdicts import UNDER_WAY, Evidence, judge

MODE = "simulated"


class UnmetPointError(Exception):
    """The payment ended before the process reached its point."""


class Simulation:
    def __init__(self, environment: FaultEnvironment, crashes: Crashes) -> None:
        self._environment = environment
        self._crashes = crashes
        self._payers: dict[tuple[Connector, Sca], Payer] = {}
        self._points: dict[Scenario, list[Point]] = {}
        self._recorded: list[Point] = []
        self._runs = 0

    async def run(self, fault: Fault) -> tuple[Result, Evidence]:
        for key in (_reduce(fault.scenario), fault.scenario):
            started = time.monotonic()
            place = int(fault.place * len(await self._find_points(key)))
            try:
                evidence = await self._run(fault.scenario, place, is_customer_first=fault.is_customer_first)
            except UnmetPointError:
                continue  # the payment takes fewer steps than others of its kind
            seconds = time.monotonic() - started
            return make_result(MODE, fault, str(self._recorded[place]), evidence, judge(evidence), seconds), evidence
        raise UnmetPointError(f"{fault}: {place}")

    # Points

    async def _find_points(self, scenario: Scenario) -> list[Point]:
        """Those that the victim reaches when nothing happens to it."""
        if scenario not in self._points:
            await self._run(scenario, None, is_customer_first=False)
            self._points[scenario] = self._recorded
        return self._points[scenario]

    async def _find_payer(self, scenario: Scenario) -> Payer:
        """The first payment of each is made before any fault: the connectors know the bank as after a while of use."""
        key = scenario.connector, scenario.sca
        if key not in self._payers:
            payer = self._payers[key] = await self._environment.add_payer(*key)
            calm = Scenario(scenario.connector, Form.SINGLE, Entrance.NEWER, scenario.sca, Victim.SERVER)
            evidence = await self._run(calm, None, is_customer_first=True)
            assert (evidence.state, evidence.debits) == ("EXECUTED", 1), (calm, evidence)
            self._environment.keep_access(payer)
        return self._payers[key]

    # One payment

    async def _run(self, scenario: Scenario, place: int | None, *, is_customer_first: bool) -> Evidence:
        """With the crash at the point of that place, or with none. `_recorded` has the points that were reached."""
        environment, crashes = self._environment, self._crashes
        payer = await self._find_payer(scenario)
        first = None if scenario.victim is Victim.SERVER else await self._find_first_crash(scenario)
        self._runs += 1
        environment.tidy(payer, self._runs)
        customer = Customer(payer, scenario, f"Auftrag {self._runs:012d}", self._confirm_page)
        if scenario.form.has_order_before:
            customer.standing_id = await self._order_before(customer)
        marks = read_marks(environment)
        if first is None:
            await self._live(customer.pay, place)
        else:
            await self._live(customer.pay, first)
            environment.expire_leases()
            await self._live(self._recover, place)
        self._recorded = crashes.record
        if place is not None and not crashes.is_dead:
            raise UnmetPointError
        environment.expire_leases()

        async def go_on(services: Services) -> None:
            steps = [customer.pay, self._recover]
            first, second = steps if is_customer_first else reversed(steps)
            await first(services)
            deliver_late_messages(crashes, environment.authority)
            await second(services)
            await self._settle(services, customer)

        await self._live(go_on, None)
        return self._read_evidence(scenario, customer, marks)

    async def _order_before(self, customer: Customer) -> UUID:
        """The standing order that is to be changed or deleted, created while nothing happens."""
        scenario = replace(customer.scenario, form=Form.STANDING, entrance=Entrance.NEWER)
        before = Customer(customer.payer, scenario, f"{customer.name} vorher", self._confirm_page)
        await self._live(before.pay, None)
        assert before.told[-1] == "EXECUTED", before.told
        self._environment.tidy_payments(customer.payer)
        return find_standing_id(self._environment)

    async def _find_first_crash(self, scenario: Scenario) -> int:
        """The server of a worker's fault died without the bank's answer, or directly before sending."""
        name = "payment.called" if scenario.is_sent else "payment.sending"
        points = await self._find_points(replace(scenario, victim=Victim.SERVER, is_sent=True))
        return max(place for place, point in enumerate(points) if point.name == name)

    async def _live(self, work: Callable[[Services], Awaitable[None]], place: int | None) -> None:
        """A process from its start to its end, or to its crash at the point of that place."""
        self._crashes.begin()
        try:
            async with self._environment.open_process() as services:
                before = asyncio.all_tasks()
                self._crashes.begin(place)
                try:
                    await work(services)
                except CrashError:
                    assert self._crashes.is_dead
                await bury_tasks(before)
        except CrashError:
            assert self._crashes.is_dead

    async def _recover(self, services: Services) -> None:
        """As a worker does it: close what was left behind, then ask the bank."""
        for _ in range(2):
            await services.payments.recovery.recover()
            if self._crashes.is_dead:
                raise CrashError
            self._environment.make_lookups_due()

    async def _settle(self, services: Services, customer: Customer) -> None:
        """What is still open is finished by the customer, else cancelled."""
        await services.payments.recovery.recover()
        await customer.read(services)
        if customer.told[-1] in UNDER_WAY:
            await customer.pay(services)
        if customer.told[-1] in UNDER_WAY:
            try:
                await customer.cancel(services)
            except PaymentNotOpenError:
                self._environment.expire_dialogues()
                await self._recover(services)
        await customer.read(services)

    def _confirm_page(self, url: str) -> str:
        page_id = url.rpartition("/")[2]
        row = self._environment.query(
            "update demo_bank_pages set is_confirmed = true where id = %s returning return_url", page_id
        )
        return str(row[0][0])

    def _read_evidence(self, scenario: Scenario, customer: Customer, marks: Marks) -> Evidence:
        rows = self._environment.query(
            "select state, next_lookup_at is not null from payments order by created_at desc"
        )
        debits, cents = count_arrivals(self._environment, scenario, marks)
        state = rows[0][0] if rows else None
        asks_for_sca = scenario.connector is Connector.FINTS and find_scenario(LOGINS[scenario.sca]).demands_sca
        return Evidence(
            told=tuple(customer.told),
            state=state,
            has_lookup=bool(rows and rows[0][1]),
            debits=debits,
            cents=cents,
            ordered_cents=sum(int(order.amount * 100) for order in customer.orders),
            needs_customer=asks_for_sca,
            is_list_right=is_list_right(self._environment, scenario, marks, state),
        )


def _reduce(scenario: Scenario) -> Scenario:
    """The form and the caller's reference change little in the steps of a payment: one recording is for several."""
    form = scenario.form
    if not form.is_standing and not form.is_debit:
        form = Form.BULK if form.is_bulk else Form.SINGLE
    return replace(scenario, form=form, has_own_reference=False)
