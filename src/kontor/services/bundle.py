"""All use cases in one place, as the edges receive them."""

from dataclasses import dataclass

from kontor.services.accesses import Accesses
from kontor.services.analyses import Analyses
from kontor.services.balances import Balances
from kontor.services.compute import Compute
from kontor.services.consents import Consents
from kontor.services.deliveries import Deliveries
from kontor.services.encryption import Encryption
from kontor.services.events import Events
from kontor.services.exports import Exports
from kontor.services.fetching import Fetching
from kontor.services.housekeeping import Housekeeping
from kontor.services.imports import Imports
from kontor.services.operators import Operators
from kontor.services.ops import Ops
from kontor.services.payment_drafts import PaymentDrafts
from kontor.services.payment_exports import PaymentExports
from kontor.services.payments import Payments
from kontor.services.providers import Providers
from kontor.services.redirects import Redirects
from kontor.services.refreshing import Refreshing
from kontor.services.searches import Searches
from kontor.services.tagging import TransactionTagging
from kontor.services.tenants import TenantAdministration, Tenants
from kontor.services.tokens import Tokens
from kontor.services.transactions import Transactions
from kontor.services.users import Users
from kontor.services.webhooks import Webhooks
from kontor.services.workers import Workers
from kontor.storage.database import Database


@dataclass(frozen=True, slots=True)
class Services:
    database: Database
    compute: Compute
    tenants: Tenants
    tenant_administration: TenantAdministration
    users: Users
    tokens: Tokens
    encryption: Encryption
    housekeeping: Housekeeping
    providers: Providers
    accesses: Accesses
    transactions: Transactions
    searches: Searches
    balances: Balances
    transaction_tagging: TransactionTagging
    analyses: Analyses
    imports: Imports
    exports: Exports
    fetching: Fetching
    consents: Consents
    redirects: Redirects
    payments: Payments
    payment_drafts: PaymentDrafts
    payment_exports: PaymentExports
    refreshing: Refreshing
    operators: Operators
    ops: Ops
    workers: Workers
    events: Events
    webhooks: Webhooks
    deliveries: Deliveries
