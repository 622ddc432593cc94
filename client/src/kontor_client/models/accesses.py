"""Accesses to banks, their products and positions."""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

from kontor_client.errors import Message
from kontor_client.models.shapes import Linked, Model


class AccessStatus(StrEnum):
    """How far the first fetch is."""

    STARTED = "GESTARTET"
    HEADERS = "KOPFDATEN"
    COMPLETE = "VOLLSTAENDIG"


class ProductCategory(StrEnum):
    CHECKING = "GIROKONTO"
    SAVINGS = "SPARKONTO"
    FIXED_TERM = "FESTGELDKONTO"
    LOAN = "KREDITKONTO"
    CALL_MONEY = "TAGESGELDKONTO"
    HOME_SAVINGS = "BAUSPARKONTO"
    OTHER_ACCOUNT = "SONSTIGESKONTO"
    CREDIT_CARD = "KREDITKARTE"
    OTHER_CARD = "SONSTIGEKARTE"
    DEPOT = "DEPOT"
    OTHER_PRODUCT = "SONSTIGESPRODUKT"


class SecurityMethod(Model, rename={"code": "kodierung", "hint": "hinweis"}):
    code: str
    name: str
    hint: str | None = None


class TanMedium(
    Model, rename={"medium_class": "medienklasse", "valid_from": "gueltigVon", "valid_until": "gueltigBis"}
):
    name: str
    medium_class: str
    valid_from: datetime | None = None
    valid_until: datetime | None = None


class Product(
    Linked,
    kw_only=True,
    rename={
        "name": "bezeichnung",
        "category": "kategorie",
        "updated_at": "aktualisierungszeitpunkt",
        "holder": "inhaber",
        "can_transfer": "transferSupport",
        "balance": "saldo",
        "balance_at": "saldoDatum",
        "balance_source": "saldoDatenquelle",
        "currency": "waehrung",
        "account_number": "kontonummer",
        "bank_code": "blz",
        "institution": "kreditinstitut",
        "overdraft_limit": "ueberziehungslimit",
        "credit_limit": "verfuegungsrahmen",
        "credit_drawn": "verfuegterBetrag",
        "contract_number": "vertragsnummer",
        "contract_type": "vertragstyp",
        "contract_status": "vertragsstatus",
        "contract_amount": "vertragssumme",
        "contract_at": "vertragsDatum",
        "savings_interest_rate": "sparzinssatz",
        "debit_interest_rate": "schuldzinssatz",
        "savings_progress": "sparfortschritt",
        "is_saving": "sparzustand",
    },
):
    """An account, a card, a depot or a home-savings contract. Compare `category` with `ProductCategory`."""

    id: str
    status: str
    name: str
    category: str
    updated_at: datetime
    holder: str
    can_transfer: bool
    balance: Decimal | None = None
    balance_at: datetime | None = None
    balance_source: str | None = None
    currency: str | None = None
    account_number: str | None = None
    iban: str | None = None
    bic: str | None = None
    bank_code: str | None = None
    institution: str | None = None
    messages: list[Message] = []
    overdraft_limit: Decimal | None = None
    credit_limit: Decimal | None = None
    credit_drawn: Decimal | None = None
    contract_number: str | None = None
    contract_type: str | None = None
    contract_status: str | None = None
    contract_amount: Decimal | None = None
    contract_at: datetime | None = None
    rating: Decimal | None = None
    savings_interest_rate: Decimal | None = None
    debit_interest_rate: Decimal | None = None
    savings_progress: Decimal | None = None
    is_saving: bool | None = None


class AccountStatement(
    Model,
    rename={
        "number": "nummer",
        "year": "jahr",
        "starts_on": "von",
        "ends_on": "bis",
        "created_on": "erstellt",
        "size": "groesse",
    },
):
    """A statement as the bank has issued it. Its file can be read where `status` is `VORHANDEN`."""

    id: str
    status: str
    number: int | None = None
    year: int | None = None
    format: str | None = None
    starts_on: date | None = None
    ends_on: date | None = None
    created_on: date | None = None
    size: int | None = None


class Access(
    Linked,
    kw_only=True,
    rename={
        "provider_id": "providerId",
        "updated_at": "aktualisierungszeitpunkt",
        "is_synced": "sync",
        "expires_at": "timeout",
        "media": "tanMedien",
        "methods": "sicherheitsverfahren",
        "active_method": "aktivesSicherheitsverfahren",
        "products": "bankprodukte",
        "wants_statements": "kontoauszuege",
    },
):
    """A customer's access to a bank. Compare `status` with `AccessStatus`.

    `provider_id` is None until the user has chosen accounts in the web form; `start_sca` leads back there.
    """

    id: str
    status: str
    updated_at: datetime
    is_synced: bool
    provider_id: str | None = None
    expires_at: datetime | None = None
    media: list[TanMedium] = []
    methods: list[SecurityMethod] = []
    active_method: SecurityMethod | None = None
    messages: list[Message] = []
    products: list[Product] = []
    wants_statements: bool = False

    @property
    def is_complete(self) -> bool:
        return self.status == AccessStatus.COMPLETE

    @property
    def needs_authentication(self) -> bool:
        """The bank demands strong customer authentication: `give_consent`."""
        return self.find_href("start_sca") is not None


class AccessIssues(
    Linked, kw_only=True, rename={"provider_id": "providerId", "updated_at": "aktualisierungszeitpunkt"}
):
    """What the last attempt to fetch an access had to say."""

    id: str
    updated_at: datetime
    provider_id: str | None = None
    messages: list[Message] = []


class Customer(Linked, kw_only=True, rename={"accesses": "bankzugaenge"}):
    accesses: dict[str, Access] = {}
    messages: list[Message] = []


class Position(
    Model,
    rename={
        "quantity": "menge",
        "unit": "handelseinheit",
        "price": "kurs",
        "price_at": "kursDatum",
        "currency": "waehrung",
        "exchange_rate": "waehrungskurs",
        "exchange": "handelsplatz",
        "total_value": "gesamtwert",
    },
):
    """A securities position of a depot."""

    name: str | None = None
    quantity: Decimal | None = None
    unit: str | None = None
    isin: str | None = None
    wkn: str | None = None
    price: Decimal | None = None
    price_at: datetime | None = None
    currency: str | None = None
    exchange_rate: Decimal | None = None
    exchange: str | None = None
    total_value: Decimal | None = None


class FormSession(Linked, kw_only=True, rename="camel"):
    """A session of the web form. Compare `status` with OPEN, FINISHED, ABORTED, EXPIRED."""

    id: str
    use_case: str
    status: str
    step: str
    created_at: datetime
    expires_at: datetime
    access_id: str | None = None
    payment_id: str | None = None
    last_error: Message | None = None
    ba_reentry: str | None = None
