"""What a tenant knows of merchants, for its administration: list, approve, change, reject, delete."""

from uuid import UUID

from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.merchants import Merchant, MerchantState
from kontor.domain.principals import Principal
from kontor.services.analyses import choose_category, fits_payments
from kontor.services.security import auditing
from kontor.storage import merchants, queue, tenant_rules
from kontor.storage.database import Connection, Database


class TenantMerchants:
    """Every call is bound to the tenant of the principal. Stored transactions follow in the background."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_merchants(
        self, principal: Principal, state: MerchantState | None, after: str, limit: int
    ) -> list[Merchant]:
        async with self._database.connect() as connection:
            return await merchants.list_merchants(connection, principal.tenant_id, state, after, limit)

    async def read_merchant(self, principal: Principal, merchant_id: UUID) -> Merchant:
        async with self._database.connect() as connection:
            return await _require_merchant(connection, principal.tenant_id, merchant_id)

    async def approve(self, principal: Principal, merchant_id: UUID, category: str | None) -> None:
        """Another category than the model's, where one is given."""
        if category is not None:
            category = choose_category(category, "tagTreeItem", {}).basis
            if not fits_payments(category):
                raise InvalidError("is no category of payments", "tagTreeItem")
        async with self._database.transaction() as connection:
            await tenant_rules.increment_rules_version(connection, principal.tenant_id)
            known = await _require_merchant(connection, principal.tenant_id, merchant_id)
            category = category or known.category
            if category is None:
                raise InvalidError("is needed, as no category is known yet", "tagTreeItem")
            await merchants.set_state(connection, principal.tenant_id, merchant_id, MerchantState.APPROVED, category)
            await _finish(connection, principal, "merchant.approve", merchant_id)

    async def reject(self, principal: Principal, merchant_id: UUID) -> None:
        """Nothing is known of it from now on, and the model is not asked again."""
        async with self._database.transaction() as connection:
            await tenant_rules.increment_rules_version(connection, principal.tenant_id)
            known = await _require_merchant(connection, principal.tenant_id, merchant_id)
            await merchants.set_state(
                connection, principal.tenant_id, merchant_id, MerchantState.REJECTED, known.category
            )
            await _finish(connection, principal, "merchant.reject", merchant_id)

    async def delete(self, principal: Principal, merchant_id: UUID) -> None:
        """Nothing of it stays. The model may be asked again."""
        async with self._database.transaction() as connection:
            await tenant_rules.increment_rules_version(connection, principal.tenant_id)
            if not await merchants.delete_merchant(connection, principal.tenant_id, merchant_id):
                raise NotFoundError
            await _finish(connection, principal, "merchant.delete", merchant_id)


async def _require_merchant(connection: Connection, tenant_id: UUID, merchant_id: UUID) -> Merchant:
    found = await merchants.find_merchant(connection, tenant_id, merchant_id)
    if found is None:
        raise NotFoundError
    return found


async def _finish(connection: Connection, principal: Principal, action: str, merchant_id: UUID) -> None:
    await queue.enqueue_retag_tenant(connection, principal.tenant_id)
    actor, subject = auditing.name_actor(principal), f"merchant {merchant_id}"
    await auditing.record(connection, principal.tenant_id, actor, action, subject)
