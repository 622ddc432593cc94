"""Webhooks: administration, and the verification of what arrives."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks import Webhook

from kontor_client import Kontor, SignatureError, verify_webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = json.dumps(
    {
        "type": "transactions.new",
        "serial": 42,
        "createdAt": "2026-11-15 09:30:00",
        "tenant": "demo",
        "user": "5f2b4c1e-8b41-4d4e-9d55-3b1d7f0c2a10",
        "bankzugang": {"id": "my-bank", "href": "https://kontor.example/customer/v2/bankzugaenge/my-bank"},
        "produkte": [{"id": "1f0e6ad3-55a5-5d7a-8e0f-3f0b0c4f9e21", "neueUmsaetze": 3}],
        "later": "added by a newer service",
    }
).encode()


def sign(body=BODY, at=None, secret=SECRET):
    at = at or datetime.now(UTC)
    signature = Webhook(secret).sign("msg_1", at, body.decode())
    return {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(int(at.timestamp())), "Webhook-Signature": signature}


def test_a_call_of_the_service_is_read():
    found = verify_webhook(SECRET, sign(), BODY)
    assert (found.type, found.serial, found.access.id) == ("transactions.new", 42, "my-bank")
    assert found.created_at == datetime(2026, 11, 15, 9, 30)  # noqa: DTZ001 (German wall time)
    assert [(product.id, product.count) for product in found.products] == [("1f0e6ad3-55a5-5d7a-8e0f-3f0b0c4f9e21", 3)]


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (sign(), BODY.replace(b"42", b"43")),
        (sign(secret="whsec_" + "A" * 32), BODY),
        (sign(at=datetime.now(UTC) - timedelta(hours=1)), BODY),
        ({}, BODY),
        (sign() | {"Webhook-Timestamp": "yesterday"}, BODY),
        (sign() | {"Webhook-Signature": "v1,!!!"}, BODY),
    ],
    ids=["changed", "other secret", "old", "unsigned", "no time", "no signature"],
)
def test_anything_else_is_refused(headers, body):
    with pytest.raises(SignatureError):
        verify_webhook(SECRET, headers, body)


def test_a_webhook_is_registered_changed_and_deleted(tenant, server):
    with Kontor.login_client(server, *tenant.admin) as client:
        made = client.create_webhook(tenant.name, "https://8.8.8.8/hook", events=["payment.status"])
        assert made.secret.startswith("whsec_")
        assert made.secret not in repr(made) + str(made)
        changed = client.change_webhook(tenant.name, made.id, is_active=False, description="a trial")
        assert (changed.is_active, changed.description, changed.secret) == (False, "a trial", None)
        assert client.change_webhook(tenant.name, made.id, rotate_secret=True).secret not in (None, made.secret)
        assert [webhook.id for webhook in client.list_webhooks(tenant.name)] == [made.id]
        assert client.list_deliveries(tenant.name, made.id) == []
        assert client.list_events(tenant.name, made.id).events == []
        client.delete_webhook(tenant.name, made.id)
        assert client.list_webhooks(tenant.name) == []
