"""A service that answers what a test tells it to, in the order of the requests."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID, uuid4

from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from asgi_servers import serve_app
from enablebanking_talk import DEMO_BANK, ServiceDialogue, make_enablebanking_connector
from kontor.connectors.aspsps import AspspBank
from kontor.connectors.base import Answer, Fetch, NeedRedirect, Returned, Step

SESSION = "3f0f9b0e-1d3c-4c57-9a53-0e6f7f0a0001"
UID, OTHER_UID = "3f0f9b0e-1d3c-4c57-9a53-0e6f7f0a0002", "3f0f9b0e-1d3c-4c57-9a53-0e6f7f0a0003"
IBAN = "DE89370400440532013000"
APPLICATION_ID = str(UUID(int=4711))


@dataclass(frozen=True)
class Seen:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class ScriptedService:
    """`answers` by "METHOD /path": a body, or a status with one. Of a list each counts once, the last one for good."""

    answers: dict[str, Any]
    seen: list[Seen] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return
        body = (await receive()).get("body", b"")
        headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        query = {name: values[-1] for name, values in parse_qs(scope["query_string"].decode()).items()}
        told = json.loads(body) if body else None
        self.seen.append(Seen(scope["method"], scope["path"], query, headers, told))
        planned = self.answers.get(f"{scope['method']} {scope['path']}", (404, {"message": "nothing here"}))
        if isinstance(planned, list):
            planned = planned.pop(0) if len(planned) > 1 else planned[0]
        status, answer = planned if isinstance(planned, tuple) else (200, planned)
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        listed = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": listed})
        await send({"type": "http.response.body", "body": content})

    def list_seen(self, ending: str) -> list[Seen]:
        return [seen for seen in self.seen if seen.path.endswith(ending)]


def refuse(error: str | None, message: str = "No", status: int = 400, **facts: Any) -> tuple[int, dict[str, Any]]:
    return status, {"code": status, "message": message, "error": error, **facts}


def show_account(uid: str | None = UID, **facts: Any) -> dict[str, Any]:
    """As Enable Banking sends it, with nulls for what the bank does not tell."""
    return {
        "uid": uid,
        "account_id": {"iban": IBAN, "other": None},
        "all_account_ids": None,
        "account_servicer": {"bic_fi": "COBADEFFXXX", "clearing_system_member_id": None, "name": "Bank"},
        "name": "Erika Muster",
        "details": "Girokonto",
        "usage": "PRIV",
        "cash_account_type": "CACC",
        "product": None,
        "currency": "EUR",
        "credit_limit": None,
        "identification_hash": "hash-1",
        "identification_hashes": ["hash-1", "hash-2"],
    } | facts


def show_booking(amount: str = "12.34", **facts: Any) -> dict[str, Any]:
    return {
        "entry_reference": None,
        "transaction_amount": {"currency": "EUR", "amount": amount},
        "credit_debit_indicator": "DBIT",
        "status": "BOOK",
        "booking_date": "2026-11-10",
        "value_date": "2026-11-11",
        "transaction_date": None,
        "creditor": {"name": "Supermarkt", "postal_address": None},
        "creditor_account": {"iban": None, "other": None},
        "debtor": None,
        "remittance_information": ["Einkauf"],
        "bank_transaction_code": None,
        "note": None,
    } | facts


def list_answers(accounts: list[dict[str, Any]] | None = None, bookings: Any = (), **others: Any) -> dict[str, Any]:
    """Of a service with one session. `bookings` of every account, or by their ids."""
    accounts = [show_account()] if accounts is None else accounts
    until = "2027-05-11T12:00:00+00:00"
    answers: dict[str, Any] = {
        "POST /auth": {"url": "http://127.0.0.1/page", "authorization_id": str(uuid4()), "psu_id_hash": "x"},
        "POST /sessions": {
            "session_id": SESSION,
            "accounts": accounts,
            "aspsp": {"name": "Demo-Bank", "country": "DE"},
            "psu_type": "personal",
            "access": {"valid_until": until},
        },
        f"GET /sessions/{SESSION}": {
            "status": "AUTHORIZED",
            "accounts": [account["uid"] for account in accounts],
            "accounts_data": [
                {key: account[key] for key in ("uid", "identification_hash", "identification_hashes")}
                for account in accounts
                if account["uid"]
            ],
            "access": {"valid_until": until},
        },
        f"DELETE /sessions/{SESSION}": {"message": "OK"},
    }
    for account in accounts:
        uid = account["uid"]
        money = {"currency": account["currency"], "amount": "100.00"}
        answers[f"GET /accounts/{uid}/balances"] = {
            "balances": [{"name": "", "balance_amount": money, "balance_type": "CLBD", "reference_date": "2026-11-12"}]
        }
        listed = bookings.get(uid, ()) if isinstance(bookings, dict) else bookings
        answers[f"GET /accounts/{uid}/transactions"] = {"transactions": list(listed), "continuation_key": None}
    return answers | others


def write_key(folder: Path, bits: int = 2048) -> Path:
    key = generate_private_key(public_exponent=65537, key_size=bits)
    file = folder / "application.pem"
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return file


@dataclass
class Stage:
    """A scripted service, and dialogues with it."""

    service: ScriptedService
    url: str
    key_file: Path

    def talk(self, bank: AspspBank = DEMO_BANK, **limits: Any) -> ServiceDialogue:
        return ServiceDialogue(make_enablebanking_connector(self.url, APPLICATION_ID, self.key_file, bank, **limits))

    def come_back(self, dialogue: ServiceDialogue, job: Fetch = Fetch(), kept: Any = None, **told: str) -> Step:  # noqa: B008
        """From the bank's page, with a code unless something else is told."""
        question = dialogue.begin(job, kept)
        assert isinstance(question, NeedRedirect), question
        return dialogue.resume(question, self.answer(question, **told))

    @staticmethod
    def answer(question: NeedRedirect, **told: str) -> Answer:
        values = {"state": question.state["returns_with"]} | (told or {"code": "c0de"})
        return Returned("&".join(f"{name}={value}" for name, value in values.items()))


@contextmanager
def running_stage(key_file: Path, answers: dict[str, Any]) -> Iterator[Stage]:
    service = ScriptedService(answers)
    with serve_app(service) as url:
        yield Stage(service, url, key_file)
