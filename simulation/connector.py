"""How the workers of a simulation reach its bank."""

import json
import socket
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from kontor.connectors.base import Done, Failed, FailureKind, Fetched, Headers, Progress, Step
from kontor.domain.products import Product, ProductCategory
from kontor.domain.providers import LoginField, Provider, ProviderChannel
from kontor.domain.transactions import Transaction

KIND = "simulated"
KEY = "giro"
CALL_SECONDS = 30
PROVIDERS = tuple(
    Provider(
        UUID(int=number + 1),
        f"Bank {number + 1}",
        KIND,
        (LoginField("userid", "Login", False, "^.{1,64}$"), LoginField("pin", "PIN", True, "^.{1,64}$")),
        (ProviderChannel(KIND, (ProductCategory.CHECKING,)),),
    )
    for number in range(5)
)


class SimulatedConnector:
    """One call of the bank per fetch: the products are known without one, so that a fetch is one line in its book."""

    kind = KIND

    def __init__(self, port: int) -> None:
        self._port = port

    def begin(self, provider: Any, credentials: Any, job: Any, connector_state: Any, context: Any) -> Step:
        login = credentials["userid"].reveal()
        since = job.since.get(KEY)
        start = "2000-01-01T00:00:00+00:00" if since is None else f"{since.isoformat()}T00:00:00+00:00"
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=CALL_SECONDS) as line:
                line.sendall(json.dumps({"login": login, "since": start}).encode() + b"\n")
                with line.makefile("rb") as answer:
                    text = answer.readline()
        except OSError:
            return Failed(FailureKind.UNREACHABLE)
        if not text.endswith(b"\n"):
            return Failed(FailureKind.UNREACHABLE)
        product = Product(KEY, ProductCategory.CHECKING, "Girokonto", login, "EUR", balance=Decimal(0))
        return Progress(Headers((product,)), {"rows": json.loads(text)})

    def resume(self, provider: Any, credentials: Any, state: Any, answer: Any, context: Any) -> Step:
        rows = tuple(
            Transaction(
                Decimal(cents) / 100, "EUR", datetime.fromisoformat(at).astimezone(UTC), purpose=purpose, bank_id=id
            )
            for id, at, cents, purpose in state["rows"]
        )
        return Done(Fetched({KEY: rows}))
