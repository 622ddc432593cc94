"""Which scope each endpoint of the customer and provider interfaces asks for: 403 without it, before anything else."""

import pytest

from banking import ACCESSES, narrow, new_customer
from kontor.domain.scopes import CUSTOMER_MODIFY, CUSTOMER_READ, PROVIDER_READ

PRODUCT = f"{ACCESSES}/none/00000000-0000-0000-0000-000000000001"
ENDPOINTS = [
    ("GET", "/providers/v2", PROVIDER_READ, 200),
    ("GET", "/providers/v2/00000000-0000-0000-0000-000000000000", PROVIDER_READ, 200),
    ("GET", "/providers/v2/00000000-0000-0000-0000-000000000000/statistics", PROVIDER_READ, 200),
    ("GET", "/customer/v2", CUSTOMER_READ, 200),
    ("GET", ACCESSES, CUSTOMER_READ, 200),
    ("POST", ACCESSES, CUSTOMER_MODIFY, 400),
    ("DELETE", ACCESSES, CUSTOMER_MODIFY, 200),
    ("GET", f"{ACCESSES}/none", CUSTOMER_READ, 404),
    ("DELETE", f"{ACCESSES}/none", CUSTOMER_MODIFY, 404),
    ("GET", f"{ACCESSES}/none/issues", CUSTOMER_READ, 404),
    ("GET", PRODUCT, CUSTOMER_READ, 404),
    ("GET", f"{PRODUCT}/kontoumsaetze", CUSTOMER_READ, 404),
    ("POST", f"{PRODUCT}/kontoumsaetze", CUSTOMER_MODIFY, 404),
    ("GET", f"{PRODUCT}/depotpositionen", CUSTOMER_READ, 404),
]
SCOPES = (PROVIDER_READ, CUSTOMER_READ, CUSTOMER_MODIFY)


@pytest.fixture(scope="module")
def by_scope(bank_server, shared):
    customer = new_customer(shared)
    return {scope: narrow(customer, scope) for scope in SCOPES}


def call(customer, method, path):
    content = b"not JSON" if method == "POST" else None
    headers = customer.headers | {"Content-Type": "application/json"}
    return customer.http.request(method, path, content=content, headers=headers)


@pytest.mark.parametrize(("method", "path", "scope", "status"), ENDPOINTS)
def test_endpoint_is_open_with_its_scope_and_403_without(by_scope, method, path, scope, status):
    assert call(by_scope[scope], method, path).status_code == status
    for other in SCOPES:
        if other != scope:
            answer = call(by_scope[other], method, path)
            assert answer.status_code == 403
            assert f'error="insufficient_scope", scope="{scope}"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize(("method", "path", "scope", "status"), ENDPOINTS)
def test_endpoint_without_a_token_is_401(http, bank_server, method, path, scope, status):
    answer = http.request(method, path)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
