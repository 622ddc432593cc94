"""Users who pay, as a tenant drives them."""

import asyncio
import base64
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4, uuid5

import httpx
from psycopg import AsyncConnection
from scripted_bank import Plan, ScriptedBank

from kontor.domain.accesses import make_product_id
from kontor.domain.mandates import DebitForm
from kontor.domain.principals import Principal
from kontor.domain.products import Product, ProductCategory
from kontor.domain.schedules import StandingAction
from kontor.domain.scopes import ALL_SCOPES, USER_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.accesses.accesses import AccessRequest
from kontor.services.bundle import Services
from kontor.services.identity.tenants import new_role, new_tenant
from kontor.services.identity.users import NewUser
from kontor.storage import accesses, products

BANK = UUID(int=0)
CUSTOMER = "/customer/v2"
PRESENT = {"Customer-IP-Address": "8.8.8.8"}
CALLBACK = {"callbackUrl": "https://example.com/back?state=1"}
IBAN = "DE89370400440532013000"
DEBTOR_IBAN = "DE02120300000000202051"
DETAILS = {
    "recipient": "Erika Mustermann",
    "purpose": "Rechnung 4711",
    "iban": IBAN,
    "bic": "COBADEFFXXX",
    "currency": "EUR",
    "amount": 12.3,
}
GIRO = Product(
    "giro", ProductCategory.CHECKING, "Girokonto", "Anna", "EUR", iban=DEBTOR_IBAN, balance=Decimal(100),
    can_transfer=True, can_bulk_transfer=True, standing_order_actions=tuple(StandingAction),
    debit_forms=tuple(DebitForm),
)  # fmt: skip
SAVINGS = Product("spar", ProductCategory.SAVINGS, "Sparbuch", "Anna", "EUR", can_transfer=False)
LIMITED = replace(
    GIRO,
    key="limited",
    iban=None,
    can_bulk_transfer=False,
    standing_order_actions=(StandingAction.CREATE,),
    debit_forms=(DebitForm.CORE_SINGLE,),
)


@dataclass
class Tenant:
    name: str
    app: tuple[str, str]
    is_regulated: bool


async def make_tenant(services: Services, *, is_regulated: bool, may_collect: bool = False) -> Tenant:
    name = f"p-{uuid4().hex[:12]}"
    administration = services.tenant_administration
    tenant = new_tenant(name, is_regulated=is_regulated, scopes=ALL_SCOPES)
    await administration.create_tenant(replace(tenant, callback_bases=("https://example.com/",)))
    _, secret = await administration.create_client(name, "app", ClientKind.USER, USER_SCOPES, may_collect=may_collect)
    await administration.create_role(name, "app", new_role("customer", USER_SCOPES, is_default=True))
    return Tenant(name, (f"{name}/app", secret), is_regulated)


@dataclass
class PaymentEnvironment:
    """The service at a scripted bank, with a regulated and a redirect tenant."""

    services: Services
    bank: ScriptedBank
    http: httpx.AsyncClient
    regulated: Tenant
    redirecting: Tenant
    owner_url: Secret

    async def new_payer(self, tenant: Tenant | None = None, *, is_synced: bool = True, **plan: Any) -> "Payer":
        """A user with an access of three products; `plan` is how the bank treats the login."""
        tenant = tenant or self.regulated
        username = f"payer-{uuid4().hex[:12]}"
        user = await self.services.users.create_user_by_operator(tenant.name, NewUser(username, Secret("a password")))
        principal = Principal(
            user.tenant_id, tenant.name, tenant.is_regulated, uuid4(), "app", frozenset(), user.id, user.pseudonym
        )
        payer = Payer(self, tenant, principal, username, f"login{uuid4().hex[:12]}")
        self.bank.plan(payer.login, **plan)
        await payer.store_access(is_synced=is_synced)
        await payer.log_in()
        return payer

    async def execute(self, text: str, *values: Any) -> Any:
        """As the owner of the tables, who sees everybody's rows."""
        async with await AsyncConnection.connect(self.owner_url.reveal(), autocommit=True) as connection:
            cursor = await connection.execute(text, list(values))
            return await cursor.fetchall() if cursor.description else None


@dataclass
class Payer:
    """A user with a token, an access and products, at the scripted bank."""

    environment: PaymentEnvironment
    tenant: Tenant
    principal: Principal
    username: str
    login: str
    access_id: str = ""
    token: str = ""

    @property
    def plan(self) -> Plan:
        return self.environment.bank.plans[self.login]

    async def encrypt(self, text: str) -> str:
        encrypted = await self.environment.services.encryption.encrypt(self.principal, text.encode())
        return base64.b64encode(encrypted).decode()

    async def credentials(self, login: str | None = None) -> dict[str, str]:
        return {"userid": await self.encrypt(login or self.login), "pin": await self.encrypt("demo")}

    async def store_access(self, *, is_synced: bool = True) -> None:
        self.access_id = str(uuid4())
        request = AccessRequest(BANK, await self.credentials(), True)
        principal = replace(self.principal, is_regulated=True)
        await self.environment.services.accesses.store_access(principal, self.access_id, request)
        assert self.principal.user_id is not None
        async with self.environment.services.database.transaction(self.principal.user_id) as connection:
            for number, product in enumerate((GIRO, SAVINGS, LIMITED)):
                await products.upsert_product(
                    connection, self.principal.user_id, self.product(product), self.access_id, number, product
                )
            if not is_synced:
                await accesses.change_options(
                    connection,
                    self.principal.user_id,
                    self.access_id,
                    is_synced=False,
                    selected_products=None,
                    wants_statements=False,
                )
                await accesses.forget_credentials(connection, self.principal.user_id, self.access_id)

    async def log_in(self, scope: str | None = None) -> str:
        form = {"grant_type": "password", "username": self.username, "password": "a password"}
        answer = await self.environment.http.post(
            "/auth/oauth2/token", data=form | ({"scope": scope} if scope else {}), auth=self.tenant.app
        )
        assert answer.status_code == 200, answer.text
        self.token = answer.json()["access_token"]
        return self.token

    def product(self, product: Product = GIRO) -> UUID:
        assert self.principal.user_id is not None
        return make_product_id(self.principal.user_id, self.access_id, product.key)

    # Calls

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    async def get(self, url: str, **facts: Any) -> httpx.Response:
        return await self.environment.http.get(url, headers=self.headers | facts.pop("headers", {}), **facts)

    async def post(self, url: str, body: Any, **facts: Any) -> httpx.Response:
        return await self.environment.http.post(
            url, json=body, headers=self.headers | facts.pop("headers", {}), **facts
        )

    async def delete(self, url: str, **facts: Any) -> httpx.Response:
        return await self.environment.http.delete(url, headers=self.headers | facts.pop("headers", {}), **facts)

    async def put(self, url: str, body: Any, **facts: Any) -> httpx.Response:
        return await self.environment.http.put(url, json=body, headers=self.headers | facts.pop("headers", {}), **facts)

    def path(self, what: str = "single-transfer", product: Product = GIRO) -> str:
        return f"{CUSTOMER}/bankzugaenge/{self.access_id}/{self.product(product)}/payment/{what}"

    async def order(
        self, body: Any = None, *, query: Any = None, headers: Any = None, what: str = "single-transfer", **details: Any
    ) -> httpx.Response:
        """A transfer on the product's path; an own payment id each time, unless the query says otherwise."""
        if body is None:
            body = {"instant": False, "transferDetails": DETAILS | details}
        query = {"paymentId": str(uuid4())} if query is None else query
        return await self.post(self.path(what), body, params=CALLBACK | query, headers=PRESENT | (headers or {}))

    async def pay(self, **facts: Any) -> "Transfer":
        answer = await self.order(**facts)
        assert answer.status_code == 200, answer.text
        return Transfer(self, answer.json())

    async def list_payments(self) -> list[Any]:
        answer = await self.get(f"{CUSTOMER}/payments")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def audit(self, payment_id: str) -> list[str]:
        rows = await self.environment.execute(
            "select action from audit_entries where chain = %s and object like %s order by serial",
            self.principal.tenant_id,
            f"%payment {payment_id}%",
        )
        return [row[0] for row in rows]


@dataclass
class Transfer:
    """One transfer, as its tenant drives it."""

    payer: Payer
    status: dict[str, Any]

    @property
    def id(self) -> str:
        return self.status["transfer"]["paymentId"]

    @property
    def codes(self) -> list[str]:
        return [message["code"] for message in self.status["messages"]]

    @property
    def rels(self) -> list[str]:
        return [relation["rel"] for relation in self.status["relations"]]

    def href(self, rel: str) -> str:
        return next(relation["href"] for relation in self.status["relations"] if relation["rel"] == rel)

    @property
    def executions(self) -> int:
        """How often the bank has executed it."""
        return self.payer.environment.bank.executed[str(self.bank_id)]

    @property
    def bank_id(self) -> UUID:
        assert self.payer.principal.user_id is not None
        return uuid5(self.payer.principal.user_id, f"payment {self.id}")

    async def read(self) -> dict[str, Any]:
        answer = await self.payer.get(self.href("self"))
        assert answer.status_code == 200, answer.text
        self.status = answer.json()
        return self.status

    async def answer(self, rel: str, body: Any = None) -> "Transfer":
        """Follow a relation that is offered: it answers 200, and the status is then the stored one."""
        href = self.href(rel)
        answer = await (self.payer.get(href) if rel == "poll" else self.payer.post(href, body or {}))
        assert answer.status_code == 200, answer.text
        given = answer.json()
        assert given == await self.read()
        return self

    async def tan(self, value: str = "12") -> "Transfer":
        return await self.answer("authenticate", {"scaAuthenticationData": value})

    async def state(self) -> str:
        rows = await self.payer.environment.execute("select state from payments where id = %s", self.id)
        return rows[0][0]


SOON = "update payments set next_lookup_at = now() where id = %s and next_lookup_at is not null"


async def recover(transfer):
    """What the worker does every few seconds, as if the time for it had come."""
    await transfer.payer.environment.execute(SOON, transfer.id)
    await transfer.payer.environment.services.payments.recovery.recover()
    await transfer.read()


async def start_held(payer, place):
    """A payment that is held up at the bank; (task, payment id)."""
    payer.plan.held_at = place
    payment_id = str(uuid4())
    task = asyncio.create_task(payer.pay(query={"paymentId": payment_id}))
    assert await asyncio.to_thread(payer.plan.at_the_door.wait, 60)
    return task, payment_id
