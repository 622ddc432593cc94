"""From where a payment is made: a stored product, or an account at a bank whose credentials come with the order."""

from dataclasses import dataclass
from uuid import UUID

from kontor.domain.accesses import Access
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.order_checks import OrderError, OrderProblem, check_iban
from kontor.domain.payments import PaymentKind
from kontor.domain.principals import Principal, user_of
from kontor.domain.products import Product
from kontor.domain.providers import Provider
from kontor.domain.secrets import Secret
from kontor.domain.stored_products import StoredProduct
from kontor.services.banks import Providers, find_missing_fields
from kontor.services.security import Encryption, UserEncryption
from kontor.storage import accesses, products
from kontor.storage.database import Database

MAX_PRODUCT_LENGTH = 64


@dataclass(frozen=True, slots=True)
class Debtor:
    """`product` is the account in the caller's words, `product_key` in the bank's.

    `credentials` are None where those of the access are used.
    """

    provider_id: UUID
    product: str
    product_key: str
    lease_key: bytes
    access: Access | None = None
    product_id: UUID | None = None
    credentials: dict[str, Secret] | None = None

    @property
    def access_id(self) -> str | None:
        return None if self.access is None else self.access.id


class PaymentDebtors:
    def __init__(
        self, database: Database, providers: Providers, encryption: Encryption, user_encryption: UserEncryption
    ) -> None:
        self._database = database
        self._providers = providers
        self._encryption = encryption
        self._user_encryption = user_encryption

    async def require_product(self, principal: Principal, access_id: str, product_id: UUID) -> None:
        """Raises NotFoundError unless it is a product of the user."""
        async with self._database.connect(principal.user_id) as connection:
            if not await products.has_product(connection, user_of(principal), access_id, product_id):
                raise NotFoundError

    async def find_product(self, principal: Principal, access_id: str, product_id: UUID) -> Product:
        async with self._database.connect(principal.user_id) as connection:
            stored = await products.find_product(connection, user_of(principal), access_id, product_id)
        if stored is None:
            raise NotFoundError
        return stored.product

    async def find_stored(self, principal: Principal, access_id: str, product_id: UUID, kind: PaymentKind) -> Debtor:
        """A product of the user, with the credentials of its access."""
        user_id = user_of(principal)
        async with self._database.connect(principal.user_id) as connection:
            stored = await products.find_product(connection, user_id, access_id, product_id)
            access = await accesses.find_access(connection, user_id, access_id)
            secrets = await accesses.find_secrets(connection, user_id, access_id)
        if stored is None or access is None or secrets is None:
            raise NotFoundError
        check_support(stored.product, kind)
        if secrets.credentials is None or secrets.lease_key is None or not access.is_synced:
            message = "the access has no stored credentials to pay with"
            raise OrderError(OrderProblem.NOT_POSSIBLE, message)
        return Debtor(access.provider_id, str(product_id), stored.product.key, secrets.lease_key, access, product_id)

    async def find_legacy(
        self, principal: Principal, provider_id: UUID, product_id: UUID
    ) -> tuple[StoredProduct, Access]:
        """A product of the user at this provider. Raises NotFoundError where there is none."""
        user_id = user_of(principal)
        async with self._database.connect(principal.user_id) as connection:
            for stored in await products.list_products(connection, user_id):
                if stored.id == product_id:
                    access = await accesses.find_access(connection, user_id, stored.access_id)
                    if access is not None and access.provider_id == provider_id:
                        return stored, access
        raise NotFoundError

    async def find_given(
        self, principal: Principal, provider_id: UUID, encrypted: dict[str, str], product: str, kind: PaymentKind
    ) -> Debtor:
        """An account at a bank, with credentials that came with the order.

        `product` is the id of one of the user's own products at this provider, or an IBAN, or the bank's own key.
        """
        provider = self._providers.find(provider_id)
        if provider is None:
            raise InvalidError("there is no such provider", "provider")
        asked = {field.key for field in provider.login_fields}
        given = {key: value for key, value in encrypted.items() if key in asked}
        opened = await self._encryption.decrypt(principal.tenant_id, given)
        return await self.find_opened(principal, provider, opened, product, kind)

    async def find_opened(
        self, principal: Principal, provider: Provider, credentials: dict[str, Secret], product: str, kind: PaymentKind
    ) -> Debtor:
        """As `find_given`, with credentials in the clear."""
        missing = find_missing_fields(provider, credentials)
        if missing:
            raise OrderError(OrderProblem.CREDENTIALS, f"incomplete or malformed: {', '.join(missing)}", "credentials")
        lease_key = self._user_encryption.digest_login(provider, credentials, user_of(principal))
        found = await self._find_own(principal, provider, product)
        if found is not None:
            stored, access = found
            check_support(stored.product, kind)
            return Debtor(provider.id, product, stored.product.key, lease_key, access, stored.id, credentials)
        return Debtor(provider.id, product, _read_key(product), lease_key, credentials=credentials)

    async def _find_own(
        self, principal: Principal, provider: Provider, product: str
    ) -> tuple[StoredProduct, Access] | None:
        """The user's product of that id, IBAN or key, at that provider."""
        wanted = product.replace(" ", "")
        user_id = user_of(principal)
        async with self._database.connect(principal.user_id) as connection:
            for stored in await products.list_products(connection, user_id):
                names = (str(stored.id), stored.product.iban, stored.product.key)
                if wanted.lower() not in [name.lower() for name in names if name is not None]:
                    continue
                access = await accesses.find_access(connection, user_id, stored.access_id)
                if access is not None and access.provider_id == provider.id:
                    return stored, access
        return None


def check_support(product: Product, kind: PaymentKind) -> None:
    if kind is PaymentKind.DIRECT_DEBIT:
        if not product.debit_forms:
            raise OrderError(OrderProblem.NOT_POSSIBLE, "no direct debits can be collected for this product")
        return
    if not product.can_transfer:
        raise OrderError(OrderProblem.NOT_POSSIBLE, "no transfers can be made from this product")
    if kind is PaymentKind.BULK and not product.can_bulk_transfer:
        raise OrderError(OrderProblem.NOT_POSSIBLE, "no bulk transfers can be made from this product")


def _read_key(product: str) -> str:
    """An IBAN without blanks; or whatever the bank itself calls the account, but no id of ours that leads nowhere."""
    compact = product.replace(" ", "")
    if not compact or len(compact) > MAX_PRODUCT_LENGTH or not compact.isprintable():
        raise OrderError(OrderProblem.DATA, "expected a product id, an IBAN or the bank's own key", "product")
    try:
        UUID(compact)
    except ValueError:
        is_iban = len(compact) > 14 and compact[:2].isalpha() and compact[2:4].isdigit()
        return check_iban(compact, "product") if is_iban else compact
    raise OrderError(OrderProblem.DATA, "there is no such product", "product")
