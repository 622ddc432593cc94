"""Scopes: what a token may do."""

PROVIDER_READ = "http://service/provider/read"
CUSTOMER_READ = "http://service/customer/read"
CUSTOMER_MODIFY = "http://service/customer/modify"
CUSTOMER_TRANSFER = "http://service/customer/ueberweisung"
CUSTOMER_CREDIT = "http://service/customer/credit"

TENANTS_READ = "auth/tenants/read"
CLIENTS_READ = "auth/tenants/clients/read"
ROLES_ASSIGN = "auth/tenants/clients/roles/assign"
USERS_READ = "auth/tenants/users/read"
USERS_CREATE = "auth/tenants/users/create"
WEBHOOKS_MANAGE = "auth/tenants/webhooks/manage"

USER_SCOPES = (PROVIDER_READ, CUSTOMER_READ, CUSTOMER_MODIFY, CUSTOMER_TRANSFER, CUSTOMER_CREDIT)
MANAGEMENT_SCOPES = (TENANTS_READ, CLIENTS_READ, ROLES_ASSIGN, USERS_READ, USERS_CREATE, WEBHOOKS_MANAGE)
ALL_SCOPES = USER_SCOPES + MANAGEMENT_SCOPES

MEANINGS = {
    PROVIDER_READ: "read the provider catalogue",
    CUSTOMER_READ: "read accesses, products, transactions and analyses",
    CUSTOMER_MODIFY: "add, change and delete accesses; answer SCA; correct categories",
    CUSTOMER_TRANSFER: "everything about payments",
    CUSTOMER_CREDIT: "affordability and credit check",
    TENANTS_READ: "read the tenant",
    CLIENTS_READ: "read clients and roles",
    ROLES_ASSIGN: "assign users to roles",
    USERS_READ: "read users",
    USERS_CREATE: "create, change, deactivate, reactivate and erase users",
    WEBHOOKS_MANAGE: "administer webhooks",
}
