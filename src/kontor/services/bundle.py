"""All use cases in one place, as the edges receive them."""

from dataclasses import dataclass
from typing import TypedDict

from kontor.services.accesses import Accesses, Refreshing
from kontor.services.alerts import Alerts, Pushes
from kontor.services.analyses import Analyses, OwnCategories, TaggingRules, TenantRules, TransactionTagging
from kontor.services.banks import BankTracing, Providers
from kontor.services.compute import Compute
from kontor.services.credit_files import CreditFiles
from kontor.services.fetching import Fetching
from kontor.services.identity import Authorizations, Operators, OwnLogins, TenantAdministration, Tenants, Tokens, Users
from kontor.services.merchants import MerchantQuestions, TenantMerchants
from kontor.services.operations import Housekeeping, Ops, Workers
from kontor.services.payments import PaymentDrafts, PaymentExports, Payments
from kontor.services.planning import Budgets, SavingsGoals
from kontor.services.redirects import Redirects
from kontor.services.sca import Consents
from kontor.services.security import Encryption, KeyRotation
from kontor.services.statements import AccountStatements, Exports, ImportForms, Imports
from kontor.services.transactions import (
    Balances,
    Completeness,
    CustomerTransactions,
    Deltas,
    Searches,
    TransactionEdits,
    Transactions,
    TransactionUpdates,
)
from kontor.services.webhooks import Deliveries, Events, Webhooks
from kontor.storage.database import Database


class Plans(TypedDict):
    """Those of the services that a user plans with, is told by, and shows to others."""

    budgets: Budgets
    savings_goals: SavingsGoals
    alerts: Alerts
    pushes: Pushes
    credit_files: CreditFiles


@dataclass(frozen=True, slots=True)
class Services:
    database: Database
    compute: Compute
    tenants: Tenants
    tenant_administration: TenantAdministration
    users: Users
    tokens: Tokens
    own_logins: OwnLogins
    authorizations: Authorizations
    encryption: Encryption
    key_rotation: KeyRotation
    housekeeping: Housekeeping
    providers: Providers
    accesses: Accesses
    transactions: Transactions
    searches: Searches
    deltas: Deltas
    customer_transactions: CustomerTransactions
    transaction_updates: TransactionUpdates
    transaction_edits: TransactionEdits
    balances: Balances
    completeness: Completeness
    transaction_tagging: TransactionTagging
    tagging_rules: TaggingRules
    own_categories: OwnCategories
    tenant_rules: TenantRules
    tenant_merchants: TenantMerchants
    merchant_questions: MerchantQuestions
    analyses: Analyses
    budgets: Budgets
    savings_goals: SavingsGoals
    alerts: Alerts
    pushes: Pushes
    credit_files: CreditFiles
    imports: Imports
    import_forms: ImportForms
    exports: Exports
    account_statements: AccountStatements
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
    bank_tracing: BankTracing
