"""The tables as ORM classes, as far as the endpoints need them."""

from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from sqlalchemy import ARRAY, DateTime, ForeignKey, LargeBinary, Numeric, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class Tenant(Base):
    __tablename__ = "tenants"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str]
    is_regulated: Mapped[bool]


class Client(Base):
    __tablename__ = "clients"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id"))
    name: Mapped[str]


class User(Base):
    __tablename__ = "users"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id"))
    username: Mapped[str]
    is_active: Mapped[bool]
    pseudonym: Mapped[UUID]
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class AccessToken(Base):
    __tablename__ = "access_tokens"

    hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id"))
    client_id: Mapped[UUID] = mapped_column(ForeignKey("clients.id"))
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    scopes: Mapped[list[str]] = mapped_column(ARRAY(Text))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))

    tenant: Mapped[Tenant] = relationship()
    client: Mapped[Client] = relationship()
    user: Mapped[User | None] = relationship()


class Product(Base):
    __tablename__ = "products"

    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"), primary_key=True)
    id: Mapped[UUID] = mapped_column(primary_key=True)
    access_id: Mapped[str]
    name: Mapped[str | None]


class Transaction(Base):
    __tablename__ = "transactions"

    user_id: Mapped[UUID] = mapped_column(primary_key=True)
    product_id: Mapped[UUID] = mapped_column(primary_key=True)
    id: Mapped[UUID] = mapped_column(primary_key=True)
    booked_on: Mapped[date]
    ordinal: Mapped[int]
    amount: Mapped[Decimal] = mapped_column(Numeric(20, 2))
    currency: Mapped[str]
    booked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    value_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    purpose: Mapped[str | None]
    booking_text: Mapped[str | None]
    gv_code: Mapped[str | None]
    prima_nota: Mapped[str | None]
    counterparty_name: Mapped[str | None]
    counterparty_iban: Mapped[str | None]
    counterparty_bic: Mapped[str | None]
    is_pending: Mapped[bool]
    batch_id: Mapped[str | None]

    @property
    def sort_key(self) -> str:
        # Tuned: strftime would take three times as long.
        return f"{self.booked_on.isoformat().replace('-', '')}{self.ordinal:012}"

    @property
    def pending_mark(self) -> bool | None:
        return True if self.is_pending else None

    @property
    def identifier(self) -> dict[str, str] | None:
        return None if self.batch_id is None else {"batchId": self.batch_id}
