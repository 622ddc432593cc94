"""Addresses for tenants' clients and for operators."""

from urllib.parse import quote
from uuid import UUID

from kontor.wire.relations import Relation


class ManagementUrls:
    def __init__(self, base_url: str) -> None:
        self.base = base_url

    # Management

    def user(self, tenant: str, user_id: UUID) -> str:
        return f"{self.base}/auth/mgmt/v1/tenants/{tenant}/users/{user_id}"

    def role_user(self, tenant: str, client: str, role: str, user_id: UUID) -> str:
        return f"{self.base}/auth/mgmt/v1/tenants/{tenant}/clients/{client}/roles/{role}/users/{user_id}"

    def webhook(self, tenant: str, webhook_id: UUID) -> str:
        return f"{self.base}/auth/mgmt/v1/tenants/{tenant}/webhooks/{webhook_id}"

    def tenant_rule(self, tenant: str, rule_id: UUID) -> str:
        return f"{self.base}/auth/mgmt/v1/tenants/{tenant}/tagging-rules/{rule_id}"

    def tenant_category(self, tenant: str, system_id: int) -> str:
        return f"{self.base}/auth/mgmt/v1/tenants/{tenant}/categories/{system_id}"

    def tenant_merchant(self, tenant: str, merchant_id: UUID) -> str:
        return f"{self.base}/auth/mgmt/v1/tenants/{tenant}/merchants/{merchant_id}"

    # Operators

    def ops_access_relations(self, user_id: UUID, access_id: str, *, is_paused: bool) -> list[Relation]:
        here = f"{self.base}/ops/v1/accesses/{user_id}/{quote(access_id, safe='')}"
        change = "resume" if is_paused else "pause"
        return [Relation("self", here), Relation("retry", f"{here}/retry"), Relation(change, f"{here}/{change}")]

    def ops_job_relations(self, job_id: int, *, is_held: bool) -> list[Relation]:
        here = f"{self.base}/ops/v1/jobs/{job_id}"
        return [Relation("self", here), *([Relation("retry", f"{here}/retry")] if is_held else [])]
