"""Customers of Kontor at the demo bank with injected faults: real services, real database, connectors over real HTTP.

There is no worker: a customer's calls run the fetches that they ask for. Each customer has a login of their own at the
bank, and with it a fault plan of their own, so that all share one bank.
"""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg_pool import ConnectionPool

from fints_banks import BANK_CODE, TODAY, running_fints_bank
from kontor.bootstrap import open_services
from kontor.config import Settings
from kontor.demobank.faults import Fault, FaultInjector, FaultPlan, draw_plan
from kontor.domain.accesses import AccessStatus, NoticeKind
from kontor.domain.errors import BusyError, KontorError
from kontor.domain.payments import Order, Payment, PaymentKind, PaymentState
from kontor.domain.principals import Principal
from kontor.domain.products import ProductCategory
from kontor.domain.sca_machine import AnswerKind, ScaState
from kontor.domain.scopes import ALL_SCOPES, MANAGEMENT_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.accesses import AccessRequest, request_fetch
from kontor.services.bundle import Services
from kontor.services.identity.tenants import new_tenant
from kontor.services.identity.users import NewUser
from kontor.services.payments import PaymentNotOpenError, PaymentRequest
from kontor.services.sca import ConsentOptions, NotOpenError, make_answer
from kontor.storage import accesses
from kontor.storage.demo_bank import DemoBankMemory
from processes import beside
from xs2a_dialogues import running_xs2a_bank

XS2A_CODE = "99999998"
TENANT = "journeys"
ADDRESS, CALLBACK = "93.184.216.34", "https://example.com/back?state=1"
SHOP = "DE89370400440532013000"
MAX_ATTEMPTS = 5
MAX_ANSWERS = 15
TANS = {"900": "12", "901": "24", "902": "8534842", "913": "936086"}
REFUSED = {NoticeKind.WRONG_CREDENTIALS, NoticeKind.LOCKED}


@dataclass
class JourneyEnvironment:
    """One bank for all customers, reachable over FinTS and, under another bank code, over XS2A."""

    services: Services
    owner: psycopg.Connection[Any]
    memory: DemoBankMemory
    faults: FaultInjector
    providers: dict[str, UUID]
    principal: Principal

    async def new_traveller(self, seed: int, kind: str, protocol: str) -> "Traveller":
        user = await self.services.users.create_user_by_operator(
            TENANT, NewUser(f"traveller-{uuid4().hex[:12]}", Secret("a password"))
        )
        principal = replace(self.principal, user_id=user.id, user_pseudonym=user.pseudonym)
        login = f"{kind}+seed{seed}"  # the person as well follows from the seed
        plan = draw_plan(seed)
        self.faults.assign(login, plan)
        return Traveller(self, principal, login, protocol, plan, Random(f"{seed} journey"))


@asynccontextmanager
async def open_environment(settings: Settings, folder: Path) -> AsyncIterator[JourneyEnvironment]:
    with ExitStack() as stack:
        own = stack.enter_context(beside(settings))
        faults = FaultInjector(late_seconds=0.05)
        # Without idempotency: whatever Kontor sends twice stands twice in the books.
        fints = stack.enter_context(
            running_fints_bank(own, folder / "fints", page_rows=60, faults=faults, pays_twice=True)
        )
        xs2a = stack.enter_context(running_xs2a_bank(own, page_size=60, faults=faults, pays_twice=True))
        assert own.database_url is not None
        pool = stack.enter_context(ConnectionPool(own.database_url.reveal(), min_size=1, max_size=16, open=True))
        for books in (fints.memory, xs2a.bank):  # a connection for each question takes longer than all else together
            books._connect = books._open = pool.connection
        banks = folder / "banks.toml"
        banks.write_text(
            f'[[bank]]\ncode = "{BANK_CODE}"\nname = "Bank mit FinTS"\nfints = "{fints.url}"\n'
            f'[[bank]]\ncode = "{XS2A_CODE}"\nname = "Bank mit XS2A"\n'
            f'[bank.xs2a]\nbase_url = "{xs2a.url}"\nhas_bulk = true\nhistory_days = 120\n'
        )
        own = replace(own, banks=banks, fints_product_id="KONTORTEST", bank_authorities=fints.authority)
        own = replace(own, demo=False, today=TODAY, pool_size=8)
        assert own.migration_database_url is not None
        owner = stack.enter_context(psycopg.connect(own.migration_database_url.reveal(), autocommit=True))
        async with open_services(own, "kontor tests, journeys") as services:
            known = {provider.bank_code: provider.id for provider in services.providers.search(None)}
            providers = {"fints": known[BANK_CODE], "xs2a": known[XS2A_CODE]}
            yield JourneyEnvironment(
                services, owner, fints.memory, faults, providers, await make_tenant(services, owner)
            )


async def make_tenant(services: Services, owner: psycopg.Connection[Any]) -> Principal:
    administration = services.tenant_administration
    tenant = new_tenant(TENANT, is_regulated=True, scopes=ALL_SCOPES)
    await administration.create_tenant(replace(tenant, callback_bases=("https://example.com/",)))
    await administration.create_client(TENANT, "app", ClientKind.USER, MANAGEMENT_SCOPES)
    row = owner.execute(
        "select t.id, c.id from tenants t join clients c on c.tenant_id = t.id where t.name = %s", [TENANT]
    ).fetchone()
    assert row is not None
    return Principal(row[0], TENANT, True, row[1], "app", frozenset(ALL_SCOPES))


@dataclass
class Traveller:
    """A customer with a login at the bank. `entries` are numbers of bank requests before which a PIN was entered."""

    environment: JourneyEnvironment
    principal: Principal
    login: str
    protocol: str
    plan: FaultPlan
    random: Random
    entries: list[int] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    payments: list[UUID] = field(default_factory=list)

    @property
    def services(self) -> Services:
        return self.environment.services

    @property
    def user_id(self) -> UUID:
        assert self.principal.user_id is not None
        return self.principal.user_id

    @property
    def visits(self) -> list[Any]:
        return self.environment.faults.visits[self.login]

    def query(self, text: str, *values: Any) -> list[Any]:
        return self.environment.owner.execute(text.encode(), values).fetchall()

    def heal_bank(self) -> None:
        """From now on the bank answers properly; what is permanently wrong with its data stays."""
        permanent = tuple(fault for fault in self.plan.faults if fault.is_permanent)
        self.environment.faults.assign(self.login, replace(self.plan, faults=permanent))

    def break_next(self, fault: Fault) -> None:
        """Every request meets this fault where it fits, until the bank is healed or gets its plan back."""
        self.environment.faults.assign(self.login, replace(self.plan, faults=(fault,), rate=1))

    def restore_plan(self) -> None:
        self.environment.faults.assign(self.login, self.plan)

    # Accesses

    async def enter_credentials(self) -> AccessRequest:
        encrypt = self.services.encryption.encrypt
        sealed = {
            key: base64.b64encode(await encrypt(self.principal, text.encode())).decode()
            for key, text in (("userid", self.login), ("pin", "demo"))
        }
        self.entries.append(len(self.visits))
        return AccessRequest(self.environment.providers[self.protocol], sealed, is_synced=True)

    async def post(self, access_id: str, request: AccessRequest, *, refresh: bool = False) -> None:
        """The call as the API makes it, beside a worker that runs what it asks for."""
        calling = asyncio.create_task(
            self.services.accesses.add_accesses(self.principal, {access_id: request}, refresh=refresh, is_attended=True)
        )
        while not calling.done():
            await self.run_queued()
            await asyncio.wait({calling}, timeout=0.01)
        await self.run_queued()  # the API answers once there is header data, and the worker goes on
        try:
            await calling
        except KontorError as error:
            self.told.append(f"{type(error).__name__}: {error}")

    async def run_queued(self) -> None:
        for (fetch_id,) in self.query("select id from fetches where user_id = %s and state = 'QUEUED'", self.user_id):
            await self.services.fetching.run(fetch_id)

    async def list_notices(self, access_id: str) -> set[NoticeKind]:
        view: Any = await self.services.accesses.read_access(self.principal, access_id)
        kinds = {notice.kind for notice in (*view.access.messages, *view.access.issues)}
        if any(stored.gap is not None for stored in view.products):
            kinds.add(NoticeKind.BALANCE_MISMATCH)
        return kinds

    async def is_complete(self, access_id: str) -> bool:
        view: Any = await self.services.accesses.read_access(self.principal, access_id)
        return view.access.status is AccessStatus.COMPLETE

    async def connect(self, access_id: str = "a") -> bool:
        """As a patient customer does: enter what is asked for, and try again where the bank fails."""
        await self.post(access_id, await self.enter_credentials())
        for _ in range(MAX_ATTEMPTS):
            notices = await self.list_notices(access_id)
            if NoticeKind.SCA_NEEDED in notices:
                await self.authorise(access_id)
            elif notices & REFUSED:
                await self.post(access_id, await self.enter_credentials())
            elif await self.is_complete(access_id):
                return True
            else:
                await self.refresh(access_id)
        return await self.is_complete(access_id)

    async def refresh(self, access_id: str = "a") -> None:
        """All history, with the customer present."""
        await self.post(access_id, AccessRequest(), refresh=True)

    async def refresh_recent(self, access_id: str = "a") -> None:
        """What background refresh asks for: some weeks before the newest booking."""
        async with self.services.database.transaction(self.user_id) as connection:
            access = await accesses.lock_access(connection, self.user_id, access_id)
            secrets = await accesses.find_secrets(connection, self.user_id, access_id)
            if access is None or secrets is None or secrets.credentials is None:
                return
            await request_fetch(
                connection, self.user_id, access_id, secrets.lease_key, is_attended=True, all_history=False
            )
        await self.run_queued()

    async def authorise(self, access_id: str = "a") -> bool:
        """A consent, from the bank's first question to its last."""
        consents = self.services.consents
        try:
            view = await consents.start_consent(self.principal, access_id, None, ConsentOptions(ADDRESS, CALLBACK))
            for _ in range(MAX_ANSWERS):
                if not view.dialogue.position.state.is_open:
                    break
                kind, value = choose_answer(view.dialogue)
                view = await consents.answer(self.principal, view.dialogue.id, kind, make_answer(kind, value))
        except (NotOpenError, BusyError) as error:
            self.told.append(f"{type(error).__name__}: {error}")
            return False
        await self.run_queued()
        self.told.append(f"consent {view.dialogue.position.state}")
        return view.dialogue.position.state is ScaState.GIVEN

    # Payments

    async def find_giro(self, access_id: str = "a") -> UUID | None:
        view: Any = await self.services.accesses.read_access(self.principal, access_id)
        return next(
            (stored.id for stored in view.products if stored.product.category is ProductCategory.CHECKING), None
        )

    def make_order(self, recipient: str = "Erika Muster") -> Order:
        number = self.random.getrandbits(32)
        amount = Decimal(self.random.randint(100, 900)) / 100
        return Order(recipient, SHOP, amount, purpose=f"Rechnung {self.login.rpartition('+')[2]} {number}")

    async def pay(
        self,
        orders: tuple[Order, ...],
        kind: PaymentKind = PaymentKind.SINGLE,
        *,
        access_id: str = "a",
        lost_from: int | None = None,
        **facts: Any,
    ) -> Payment | None:
        """As a customer does who answers everything, and now and then presses the button twice.

        With `lost_from` the bank's responses to that answer of the customer, and to all later ones, are lost.
        """
        product = await self.find_giro(access_id)
        if product is None:
            return None
        payment_id = UUID(int=self.random.getrandbits(128), version=4)
        self.payments.append(payment_id)
        request = PaymentRequest(
            kind, orders, payment_id=payment_id, customer_ip=ADDRESS, callback_url=CALLBACK, **facts
        )
        debtor = await self.services.payments.debtors.find_stored(self.principal, access_id, product, kind)
        for _ in range(self.random.choice((1, 1, 2))):
            view = await self.services.payments.initiate(self.principal, debtor, request)
        for number in range(1, MAX_ANSWERS):
            if not view.payment.state.is_under_way:
                break
            if number == lost_from:
                self.break_next(Fault.LOST_ANSWER)
            view = await self._answer_payment(view.payment)
        again = await self.services.payments.initiate(self.principal, debtor, request)
        await self.run_queued()
        return again.payment

    async def _answer_payment(self, payment: Payment) -> Any:
        payments = self.services.payments
        try:
            if payment.dialogue.is_payee_open:
                return await payments.accept_payees(self.principal, payment.id)
            kind, value = choose_answer(payment.dialogue)
            return await payments.answer(self.principal, payment.id, kind, make_answer(kind, value))
        except (PaymentNotOpenError, BusyError) as error:
            self.told.append(f"{type(error).__name__}: {error}")
            return await payments.read_payment(self.principal, payment.id)

    async def read_payments(self) -> list[Payment]:
        return await self.services.payments.list_payments(self.principal)

    async def look_up(self) -> None:
        """What recovery does in a worker, without the pauses between two questions."""
        self.environment.owner.execute(
            "update payments set next_lookup_at = now() where user_id = %s and next_lookup_at is not null"
            " and state = 'UNKNOWN'",
            [self.user_id],
        )
        await self.services.payments.recovery.recover()
        await self.run_queued()

    async def give_up_open_payments(self) -> None:
        for payment in await self.read_payments():
            if payment.state is PaymentState.OPEN:
                await self.services.payments.answer(
                    self.principal, payment.id, AnswerKind.CANCEL, make_answer(AnswerKind.CANCEL, "")
                )


def choose_answer(dialogue: Any) -> tuple[AnswerKind, str]:
    """What a customer answers to the open question."""
    match dialogue.position.state:
        case ScaState.METHOD:
            return AnswerKind.METHOD, dialogue.methods[0].code
        case ScaState.MEDIUM:
            return AnswerKind.MEDIUM, dialogue.media[0].name
        case ScaState.TAN:
            chosen = None if dialogue.chosen_method is None else dialogue.chosen_method.code
            return AnswerKind.TAN, TANS.get(chosen or "", "24")
        case ScaState.CONFIRMATION:
            return AnswerKind.CONFIRMED, ""
    return AnswerKind.CANCEL, ""
