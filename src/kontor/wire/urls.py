"""Every address that is sent out. All begin with the configured base address, whatever the request's Host said."""

from uuid import UUID


class Urls:
    def __init__(self, base_url: str) -> None:
        self.base = base_url

    def user(self, tenant: str, user_id: UUID) -> str:
        return f"{self.base}/auth/mgmt/v1/tenants/{tenant}/users/{user_id}"

    def role_user(self, tenant: str, client: str, role: str, user_id: UUID) -> str:
        return f"{self.base}/auth/mgmt/v1/tenants/{tenant}/clients/{client}/roles/{role}/users/{user_id}"
