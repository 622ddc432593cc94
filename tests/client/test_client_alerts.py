"""Alerts through the client, against the service."""

import msgspec
import pytest
from comparing import find_lost

from banking import DEMO_BANK, new_customer
from kontor_client import ApiError, Kontor
from kontor_client.models.alerts import AlertStatus
from kontor_client.sessions import encode_json


def test_alerts_are_listed_read_and_set(bank_server, shared):
    with Kontor(bank_server, new_customer(shared).token) as client:
        access = client.add_access(DEMO_BANK, {"userid": "leer+alerts", "pin": "wrong"})
        [alert] = client.list_alerts(status=AlertStatus.NEW, limit=5)
        said = client.request("GET", "/customer/v2/hinweise").json()
        assert find_lost(said, msgspec.json.decode(encode_json([alert]))) == []
        assert (alert.kind, alert.object.rel, alert.amount) == ("BANK_NEEDS_USER", "bankzugang", None)
        assert alert.object.href.endswith(access.id)
        assert client.read_alert(alert.id, language="en").text.startswith("Your bank refuses")
        client.update_alert(alert.id, AlertStatus.DONE)
        assert client.list_alerts(status=AlertStatus.NEW) == []
        with pytest.raises(ApiError, match="not back"):
            client.update_alert(alert.id, AlertStatus.READ)
