"""Faults with `kill -9`: real servers and workers, with the processes and callers of `tests/faults`.

Each of two servers has payments of its own, one at a time. Its API process is killed at a drawn moment, or the worker
while it looks up a payment whose bank fell silent. Another process takes its place.
"""

import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count, groupby
from pathlib import Path
from typing import Any

from payment_faults.books import find_place
from payment_faults.customers import CREDITOR_ID, FIRST_DAYS
from payment_faults.environment import BANK_NAMES, FaultEnvironment, today
from payment_faults.plans import (
    LOGINS,
    MISSING_FORMS,
    TRANSFERS,
    Connector,
    Entrance,
    Fault,
    Form,
    Sca,
    Scenario,
    Victim,
)
from payment_faults.results import append_result, find_done, make_result
from payment_faults.verdicts import UNDER_WAY, Evidence, Verdict, judge

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS / "faults"), str(TESTS)]

from callers import BY_SCENARIO, CALLBACK, CUSTOMER, IBAN, PRESENT, Payer, PaymentCase, is_failed  # noqa: E402
from deployments import Deployment, Moment, running_deployment  # noqa: E402
from moments import list_moments  # noqa: E402

from banking import new_customer  # noqa: E402
from consenting import start  # noqa: E402
from faults import kill  # noqa: E402
from kontor.connectors.demo.payees import PayeeScenario  # noqa: E402
from kontor.connectors.demo.people import person_for  # noqa: E402

MODE = "killed"
UNKNOWN_SECONDS = 4  # so long a payment may stay unknown before the caller takes it for the answer
MAX_LOOKUPS = {Connector.DEMO: 100, Connector.FINTS: 4, Connector.XS2A: 4}
REQUEST_SECONDS, SETTLE_SECONDS = 180, 60
ATTEMPTS = 4
WORKER_SHARE = 0.2
STATES = {"BA1111": "EXECUTED", "BA1112": "ACCEPTED", "BA1113": "UNKNOWN"}
WORKER_MOMENTS = tuple(
    Moment(name, 1)
    for name in (
        "payment.lookup-claimed",
        "send LookUp",
        "receive LookUp",
        "payment.looked-up",
        "before commit of PaymentRecovery._store",
        "payment.reconcile",
        "payment.reconciled",
        "payment.refreshed",
    )
)


@dataclass
class DrawnCase(PaymentCase):
    """Ordered over the newer API: transfers with credentials that come with the order, other forms for an access."""

    deployment: Deployment = None  # type: ignore[assignment]
    scenario: Scenario = None  # type: ignore[assignment]
    provider: str = ""
    cents: int = 1
    unknown_since: float | None = None

    @property
    def path(self) -> str:
        form = self.scenario.form
        if form is Form.STANDING or form.is_debit:
            kind = "direct-debit" if form.is_debit else "standing-order"
            return f"{CUSTOMER}/bankzugaenge/{self.payer.access_id}/{self.payer.product_id}/payment/{kind}"
        return f"{CUSTOMER}/payment/{'bulk' if form.is_bulk else 'single'}-transfer"

    def order(self, at: Any) -> Any:
        return at.post(self.path, self._write(at), params=CALLBACK | {"paymentId": self.payment_id}, headers=PRESENT)

    def _write(self, at: Any) -> dict[str, Any]:
        form = self.scenario.form
        amounts = [1, self.cents - 1] if form.is_bulk else [self.cents]
        day = (today() + timedelta(days=FIRST_DAYS)).isoformat()
        if form is Form.STANDING:
            details = self._write_details(self.cents)
            return {"transferDetails": details, "period": "MONTH_ONE", "firstExecutionDate": day}
        if form.is_debit:
            debits = [self._write_debit(cents, number) for number, cents in enumerate(amounts)]
            return {"scheme": "CORE", "creditorId": CREDITOR_ID, "requestedCollectionDate": day, "debits": debits}
        return self._write_transfer(at, [self._write_details(cents) for cents in amounts])

    def _write_transfer(self, at: Any, details: list[dict[str, Any]]) -> dict[str, Any]:
        form = self.scenario.form
        body = {
            "instant": form.is_instant,
            "transferDetails": details if form.is_bulk else details[0],
            "provider": self.provider,
            "credentials": at.credentials(self.payer.login),
            "product": self.payer.product_id,
        }
        if form.is_scheduled:
            body["requestedExecutionDate"] = (today() + timedelta(days=3)).isoformat()
        return body

    def _write_details(self, cents: int) -> dict[str, Any]:
        text = {"recipient": self.recipient, "purpose": self.purpose, "iban": self.iban, "bic": "COBADEFFXXX"}
        return text | {"currency": "EUR", "amount": cents / 100}

    def _write_debit(self, cents: int, number: int) -> dict[str, Any]:
        mandate = {"mandateId": f"M-{number}", "mandateDate": (today() - timedelta(days=90)).isoformat()}
        details = self._write_details(cents)
        return details | mandate | {"debtor": details.pop("recipient"), "sequenceType": "RCUR"}

    def answer(self, at: Any, rel: str, path: str) -> Any:
        is_tan = rel == "authenticate" and self.scenario.sca is Sca.TAN
        return at.post(path, {"scaAuthenticationData": "12"} if is_tan else {})

    def note(self, answer: Any) -> tuple[dict[str, Any], bool]:
        status, is_over = super().note(answer)
        if self.told[-1][1] != ("BA1113",):
            return status, is_over
        # Instead of waiting for the next time that it would be due.
        self.deployment.query(
            "update payments set next_lookup_at = now() where id = %s and state = 'UNKNOWN' and lookups < %s"
            " and next_lookup_at > now() returning id",
            self.payment_id,
            MAX_LOOKUPS[self.scenario.connector],
        )
        now = time.monotonic()
        self.unknown_since = self.unknown_since or now
        # The demo connector's bank can always tell, as soon as somebody asks it.
        is_open = self.scenario.connector is not Connector.DEMO and now - self.unknown_since > UNKNOWN_SECONDS
        return status, is_open


def list_scenarios() -> list[Scenario]:
    return [
        *(
            Scenario(connector, form, Entrance.GIVEN, Sca.TAN, Victim.SERVER)
            for connector in Connector
            for form in TRANSFERS
        ),
        *(Scenario(connector, Form.SINGLE, Entrance.GIVEN, Sca.APP, Victim.SERVER) for connector in Connector),
        *(
            Scenario(connector, form, Entrance.NEWER, Sca.TAN, Victim.SERVER)
            for connector in Connector
            for form in (Form.STANDING, Form.DEBIT, Form.DEBIT_BULK)
            if form not in MISSING_FORMS.get(connector, ())
        ),
    ]


def draw_kill(seed: int, number: int) -> Fault:
    draw = random.Random(f"kill {seed} {number}")  # faults, not secrets
    if draw.random() < WORKER_SHARE:
        is_sent = draw.random() < 0.5
        scenario = Scenario(Connector.DEMO, Form.SINGLE, Entrance.GIVEN, Sca.TAN, Victim.WORKER, is_sent=is_sent)
    else:
        scenario = draw.choice(list_scenarios())
    return Fault(seed, number, scenario, draw.random(), False)


def run_kills(seed: int, number: int, file: Path) -> None:
    done = find_done(file, MODE, seed)
    open_faults = [draw_kill(seed, index) for index in range(number) if index not in done]
    if not open_faults:
        return
    faults = iter(open_faults)
    folder = Path(tempfile.mkdtemp(prefix="kontor-kills-"))
    folder.chmod(0o755)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        environment = stack.enter_context(FaultEnvironment(folder))
        settings = replace(environment.settings, request_seconds=REQUEST_SECONDS)
        deployment = stack.enter_context(running_deployment(settings, folder))
        killing = Killing(deployment, file)
        signal.signal(signal.SIGTERM, lambda *_: killing.stopping.set())  # the processes are to end as well
        with ThreadPoolExecutor(len(deployment.faulty_servers)) as pool:
            slots = range(len(deployment.faulty_servers))
            for future in [pool.submit(killing.work, slot, faults) for slot in slots]:
                future.result()


@dataclass
class Killing:
    deployment: Deployment
    file: Path
    amounts: Iterator[int] = field(default_factory=lambda: count(2))
    stopping: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    worker_lock: threading.Lock = field(default_factory=threading.Lock)
    customers: dict[int, Any] = field(default_factory=dict)
    moments: dict[Scenario, list[Moment]] = field(default_factory=dict)
    providers: dict[str, str] = field(default_factory=dict)
    payers: dict[tuple[int, Connector], Payer] = field(default_factory=dict)

    def work(self, slot: int, faults: Iterator[Fault]) -> None:
        """The next fault, until there is none."""
        with self.lock:
            self.customers[slot] = new_customer(self.deployment.tenant)
            if not self.providers:
                found = self.customers[slot].read("/providers/v2")
                self.providers.update({provider["name"]: provider["id"] for provider in found})
        while True:
            with self.lock:
                fault = next(faults, None)
            if fault is None or self.stopping.is_set():
                return
            started = time.monotonic()
            try:
                moment, evidence = self._run(slot, fault)
                verdict = judge(evidence)
            except Exception as error:  # the others are to be seen, too
                evidence = Evidence((repr(error)[:2000],), None, False, 0, 0, 0)
                moment, verdict = "", Verdict.ERROR
            result = make_result(MODE, fault, str(moment), evidence, verdict, time.monotonic() - started)
            append_result(self.file, result)

    def _run(self, slot: int, fault: Fault) -> tuple[Moment, Evidence]:
        if fault.scenario.victim is Victim.WORKER:
            with self.worker_lock:
                return self._kill_worker(slot, fault)
        moments = self._find_moments(slot, fault.scenario)
        moment = moments[int(fault.place * len(moments))]
        for _ in range(ATTEMPTS):
            case = self._make_case(slot, fault.scenario)
            is_met = kill(self.deployment, self.deployment.faulty_servers[slot], case, moment)
            evidence = self._settle(case)
            if is_met or judge(evidence) is not Verdict.FINE:
                return moment, evidence
        raise AssertionError(f"never met: {moment}")

    def _kill_worker(self, slot: int, fault: Fault) -> tuple[Moment, Evidence]:
        moment = WORKER_MOMENTS[int(fault.place * len(WORKER_MOMENTS))]
        worker = self.deployment.worker
        for _ in range(ATTEMPTS):
            case = self._make_case(slot, fault.scenario)
            case.iban = BY_SCENARIO[
                PayeeScenario.DIES_AFTER_BOOKING if fault.scenario.is_sent else PayeeScenario.DIES_BEFORE_BOOKING
            ]
            token = worker.arm(moment, "kill")
            case.run(self.deployment.observer)
            evidence = self._settle(case)
            worker.escape_formula()
            if worker.is_met(token) or judge(evidence) is not Verdict.FINE:
                return moment, evidence
            moment = WORKER_MOMENTS[0]  # a look-up that finds nothing has fewer moments
        raise AssertionError(f"never met: {moment}")

    def _find_moments(self, slot: int, scenario: Scenario) -> list[Moment]:
        """Those of a payment that nothing happens to."""
        with self.lock:
            if scenario in self.moments:
                return self.moments[scenario]
        server = self.deployment.faulty_servers[slot]
        self._make_case(slot, scenario).run(server)  # the first payment of a login takes other steps
        case = self._make_case(slot, scenario)
        server.start_record()
        case.run(server)
        moments = list_moments(server.read_record())
        assert judge(self._settle(case)) is Verdict.FINE, case.told
        with self.lock:
            return self.moments.setdefault(scenario, moments)

    def _make_case(self, slot: int, scenario: Scenario) -> DrawnCase:
        login = f"{LOGINS[scenario.sca]}+{scenario.connector.lower()}{slot}"
        person = person_for(login, today())
        assert person is not None
        iban = next(account.product.iban for account in person.accounts if account.product.can_bulk_transfer)
        provider = self.providers[BANK_NAMES[scenario.connector]]
        if scenario.entrance is Entrance.NEWER:
            payer = self._find_payer(slot, scenario.connector, login, provider, iban or "")
        else:
            payer = Payer(self.customers[slot], login, "", iban or "")
        with self.lock:
            cents = next(self.amounts)
        return DrawnCase(payer, IBAN, deployment=self.deployment, scenario=scenario, provider=provider, cents=cents)

    def _find_payer(self, slot: int, connector: Connector, login: str, provider: str, iban: str) -> Payer:
        """With a stored access. An XS2A bank tells nothing before a consent."""
        key = slot, connector
        if key not in self.payers:
            customer = self.customers[slot]
            if connector is Connector.XS2A:
                consent = start(customer, login, facts={"providerId": provider})
                consent.enter("12")
                consent.wait_until_complete()
                access_id = consent.access_id
            else:
                access_id = customer.add_complete(login, providerId=provider)
            product = next(product for product in customer.products(access_id) if product.get("iban") == iban)
            self.payers[key] = Payer(customer, login, access_id, product["id"])
        return self.payers[key]

    def _settle(self, case: DrawnCase) -> Evidence:
        """Once nothing is under way any more, or has been for too long."""
        end = time.monotonic() + SETTLE_SECONDS
        while True:
            rows = self.deployment.query(
                "select state, next_lookup_at is not null, fence is not null from payments where id = %s",
                case.payment_id,
            )
            if rows and (rows[0][0] not in UNDER_WAY or time.monotonic() > end):
                break
            time.sleep(0.05)
        debits = self._count_arrivals(case)
        told = tuple(state for state, _ in groupby(_read_state(codes) for _, codes in case.told))
        cents = case.cents * debits
        needs_customer = case.scenario.connector is Connector.FINTS and case.scenario.sca is Sca.APP
        return Evidence(told, rows[0][0], rows[0][1], debits, cents, case.cents, needs_customer)

    def _count_arrivals(self, case: DrawnCase) -> int:
        """How often the bank has the order. No two orders have the same amount."""
        if case.scenario.form is Form.STANDING:
            text = "select count(*) from demo_bank_standing_orders where (details ->> 'amount')::numeric * 100 = %s"
            rows = self.deployment.query(text, case.cents)
        else:
            text = "select count(*) from demo_bank_bookings where place = %s and abs(amount) * 100 = %s"
            rows = self.deployment.query(text, find_place(case.scenario.form), case.cents)
        return int(rows[0][0])


def _read_state(codes: tuple[str, ...]) -> str:
    if is_failed(codes):
        return "FAILED"
    return next((STATES[code] for code in codes if code in STATES), "OPEN")
