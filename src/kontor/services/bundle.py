"""All use cases in one place, as the edges receive them."""

from dataclasses import dataclass

from kontor.services.encryption import Encryption
from kontor.services.housekeeping import Housekeeping
from kontor.services.tenants import TenantAdministration, Tenants
from kontor.services.tokens import Tokens
from kontor.services.users import Users
from kontor.storage.database import Database


@dataclass(frozen=True, slots=True)
class Services:
    database: Database
    tenants: Tenants
    tenant_administration: TenantAdministration
    users: Users
    tokens: Tokens
    encryption: Encryption
    housekeeping: Housekeeping
