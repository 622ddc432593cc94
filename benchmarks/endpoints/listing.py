"""A thousand transactions, with a user's token: `GET /customer/v2/bankzugaenge/{access}/{product}/kontoumsaetze`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends, HTTPException
from psycopg import AsyncConnection
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer
from sqlalchemy import select
from sqlalchemy.orm import load_only

from benchmarks.conventional.database import DatabaseSession
from benchmarks.conventional.models import AccessToken, Product, Transaction
from benchmarks.conventional.security import UserScope
from benchmarks.endpoints import Endpoint, Request, Targets
from benchmarks.environment import BenchmarkEnvironment
from kontor.domain.scopes import CUSTOMER_READ
from kontor.domain.searches import Window
from kontor.services.transactions.transactions import PIECE_ROWS
from kontor.storage.database import fetch_row
from kontor.storage.transactions import list_json
from kontor.wire.transactions import FIELDS

CUSTOMERS = 8
TRANSACTIONS = 1000


# What is requested: the lists of several customers in turn, so that no answer is the one before.


async def prepare(environment: BenchmarkEnvironment) -> list[Request]:
    requests = []
    for _ in range(CUSTOMERS):
        customer = await environment.add_customer()
        requests.append(Request(await environment.add_transactions(customer, TRANSACTIONS), customer.token))
    return requests


# The limit

FIND_PRODUCT = "select 1 from products where user_id = $1 and access_id = $2 and id = $3"
ALL = Window(limit=PIECE_ROWS)


async def read_ready(connection: AsyncConnection[Any], principal: Sequence[Any], path: str) -> bytes | None:
    user_id = principal[6]
    access_id, product_id = path.split("/")[4:6]
    if await fetch_row(connection, FIND_PRODUCT, [user_id, access_id, product_id]) is None:
        return None
    rows, _, _ = await list_json(connection, user_id, UUID(product_id), ALL, FIELDS)
    return b"[" + rows + b"]"


async def ask(connection: AsyncConnection[Any], principal: Sequence[Any], path: str) -> None:
    await read_ready(connection, principal, path)


# The conventional reference

router = APIRouter()
BERLIN = ZoneInfo("Europe/Berlin")


def format_timestamp(at: datetime) -> str:
    # Tuned: strftime would take twice as long.
    return at.astimezone(BERLIN).replace(tzinfo=None).isoformat(" ", "seconds")


Timestamp = Annotated[datetime, PlainSerializer(format_timestamp, return_type=str)]


class Identifier(BaseModel):
    batchId: str  # noqa: N815


class TransactionOut(BaseModel):
    """Made straight from the ORM object, which is what FastAPI does with a `response_model`."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    # A number, as Kontor sends it. Pydantic writes a Decimal as a string; with `float` it writes -5.0 for -5.00, which
    # is the same number. To keep the decimals, the JSON would have to be made in Python, which is far slower.
    betrag: float = Field(validation_alias="amount")
    waehrung: str = Field(validation_alias="currency")
    verwendungszweck: str | None = Field(validation_alias="purpose")
    buchungstext: str | None = Field(validation_alias="booking_text")
    gvCode: str | None = Field(validation_alias="gv_code")  # noqa: N815
    primanotaNummer: str | None = Field(validation_alias="prima_nota")  # noqa: N815
    buchungsdatum: Timestamp | None = Field(validation_alias="booked_at")
    wertstellungsdatum: Timestamp | None = Field(validation_alias="value_at")
    gegenkontoInhaber: str | None = Field(validation_alias="counterparty_name")  # noqa: N815
    gegenkontoIban: str | None = Field(validation_alias="counterparty_iban")  # noqa: N815
    gegenkontoBic: str | None = Field(validation_alias="counterparty_bic")  # noqa: N815
    hash: str = Field(validation_alias="sort_key")
    vorgemerkt: bool | None = Field(validation_alias="pending_mark")
    identifier: Identifier | None


# Tuned: only the columns that are shown, none of what else a transaction has.
SHOWN = load_only(
    Transaction.id,
    Transaction.booked_on,
    Transaction.ordinal,
    Transaction.amount,
    Transaction.currency,
    Transaction.booked_at,
    Transaction.value_at,
    Transaction.purpose,
    Transaction.booking_text,
    Transaction.gv_code,
    Transaction.prima_nota,
    Transaction.counterparty_name,
    Transaction.counterparty_iban,
    Transaction.counterparty_bic,
    Transaction.is_pending,
    Transaction.batch_id,
)


@router.get(
    "/customer/v2/bankzugaenge/{access_id}/{product_id}/kontoumsaetze",
    response_model=list[TransactionOut],
    response_model_exclude_none=True,
)
async def list_transactions(
    access_id: str,
    product_id: UUID,
    token: Annotated[AccessToken, Depends(UserScope(CUSTOMER_READ))],
    session: DatabaseSession,
) -> Sequence[Transaction]:
    product = await session.scalar(
        select(Product)
        .where(Product.user_id == token.user_id, Product.access_id == access_id, Product.id == product_id)
        .options(load_only(Product.id))
    )
    if product is None:
        raise HTTPException(404, "There is no such object.")
    transactions = await session.scalars(
        select(Transaction)
        .where(Transaction.user_id == token.user_id, Transaction.product_id == product.id)
        .order_by(Transaction.booked_on.desc(), Transaction.ordinal.desc())
        .options(SHOWN)
    )
    return transactions.all()


ENDPOINT = Endpoint(
    name="listing",
    title="1,000 transactions, listed with a user's token",
    targets=Targets(conventional=8.0, limit=0.6),
    prepare=prepare,
    read_ready=read_ready,
    ask=ask,
    router=router,
    connections=4,
)
