"""Scopes: what a token may do."""

from collections.abc import Iterable

PROVIDER_READ = "http://service/provider/read"
CUSTOMER_READ = "http://service/customer/read"
CUSTOMER_MODIFY = "http://service/customer/modify"
CUSTOMER_TRANSFER = "http://service/customer/ueberweisung"
CUSTOMER_CREDIT = "http://service/customer/credit"
CUSTOMER_TAGS = "http://service/customer/tags"
ADVISER_READ = "http://service/adviser/read"

TENANTS_READ = "auth/tenants/read"
CLIENTS_READ = "auth/tenants/clients/read"
ROLES_ASSIGN = "auth/tenants/clients/roles/assign"
USERS_READ = "auth/tenants/users/read"
USERS_CREATE = "auth/tenants/users/create"
WEBHOOKS_MANAGE = "auth/tenants/webhooks/manage"
RULES_MANAGE = "auth/tenants/rules/manage"

# What clients and roles get unless scopes are named.
USER_SCOPES = (PROVIDER_READ, CUSTOMER_READ, CUSTOMER_MODIFY, CUSTOMER_TRANSFER, CUSTOMER_CREDIT)
MANAGEMENT_SCOPES = (TENANTS_READ, CLIENTS_READ, ROLES_ASSIGN, USERS_READ, USERS_CREATE, WEBHOOKS_MANAGE)

ALL_USER_SCOPES = (*USER_SCOPES, CUSTOMER_TAGS, ADVISER_READ)
ALL_MANAGEMENT_SCOPES = (*MANAGEMENT_SCOPES, RULES_MANAGE)
ALL_SCOPES = ALL_USER_SCOPES + ALL_MANAGEMENT_SCOPES

INCLUDED_SCOPES = {CUSTOMER_MODIFY: (CUSTOMER_TAGS,)}

MEANINGS = {
    PROVIDER_READ: "read the provider catalogue",
    CUSTOMER_READ: "read accesses, products, transactions and analyses",
    CUSTOMER_MODIFY: "add, change and delete accesses; answer SCA; includes customer/tags",
    CUSTOMER_TRANSFER: "everything about payments",
    CUSTOMER_CREDIT: "affordability and credit check",
    CUSTOMER_TAGS: "correct categories; own categories, rules, notes, keywords and parts; say what a contract is",
    ADVISER_READ: "read analyses of customers who allow it",
    TENANTS_READ: "read the tenant",
    CLIENTS_READ: "read clients and roles",
    ROLES_ASSIGN: "assign users to roles",
    USERS_READ: "read users",
    USERS_CREATE: "create, change, deactivate, reactivate and erase users",
    WEBHOOKS_MANAGE: "administer webhooks",
    RULES_MANAGE: "administer the tenant's categories and tagging rules",
}


def add_included_scopes(scopes: Iterable[str]) -> frozenset[str]:
    """These scopes and those that they include."""
    named = frozenset(scopes)
    return named.union(*(INCLUDED_SCOPES.get(scope, ()) for scope in named))
