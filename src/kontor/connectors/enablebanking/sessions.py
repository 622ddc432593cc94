"""Authorising a session: the customer is sent to the bank, and comes back with a code that is worth one session."""

from datetime import UTC, date, datetime, timedelta
from hmac import compare_digest
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qs

import msgspec

from kontor.connectors.aspsps import AspspBank
from kontor.connectors.base import Answer, Context, FailureKind, NeedRedirect, Returned, State
from kontor.connectors.enablebanking.client import Client, part
from kontor.connectors.enablebanking.failures import MAX_WORDS_LENGTH, RETURNED_KINDS, CallError
from kontor.connectors.enablebanking.messages import Account, Authorization, Session, SessionFacts
from kontor.connectors.enablebanking.rows import choose_key
from kontor.connectors.json_values import read_time
from kontor.domain.clocks import find_banking_day

MAX_CONSENT = timedelta(days=180)  # what European law allows
MARGIN = timedelta(minutes=5)  # by which our clock may be ahead
AUTHORIZED = "AUTHORIZED"
LANGUAGE = "de"
# By these words banks say that the customer has changed his mind; other words of theirs are a refusal.
CANCEL_WORDS = ("cancel", "abort", "abgebrochen", "abbruch", "denied by user", "user denied")


class Sessions:
    def __init__(self, client: Client, bank: AspspBank, context: Context) -> None:
        self._client = client
        self._bank = bank
        self._context = context

    def ask(self, state: State) -> NeedRedirect:
        """Send the customer to the bank."""
        callback = self._context.callback_url
        if callback is None:
            raise CallError(FailureKind.REJECTED, "a redirect needs a callback URL")
        longest = min(timedelta(seconds=self._bank.maximum_consent_validity), MAX_CONSENT)
        until = datetime.now(UTC) + longest - min(MARGIN, longest / 2)
        request_state = token_urlsafe(24)
        body: dict[str, Any] = {
            "access": {"valid_until": until.isoformat(), "balances": True, "transactions": True},
            "aspsp": {"name": self._bank.name, "country": self._bank.country},
            "state": request_state,
            "redirect_url": callback,
            "psu_type": self._bank.psu_type,
            "language": LANGUAGE,
        }
        if self._context.customer:
            body["psu_id"] = self._context.customer
        opened = self._client.post("/auth", body, Authorization)
        return NeedRedirect(
            self._client.check_page(opened.url), state | {"stage": "redirect", "returns_with": request_state}
        )

    def return_from_page(self, state: State, answer: Answer) -> State:
        """The session that the customer has authorised, as it is kept."""
        if not isinstance(answer, Returned):
            raise CallError(FailureKind.REJECTED, "this answer does not fit the open step")
        # The bank's values follow those that the caller's address has of its own.
        told = {name: given[-1] for name, given in parse_qs(answer.query).items()}
        if not compare_digest(told.get("state", "").encode(), state["returns_with"].encode()):
            raise CallError(FailureKind.REJECTED, "the customer came back from another authorisation")
        if "error" in told:
            raise _read_error(told["error"], told.get("error_description"))
        if not told.get("code"):
            raise CallError(FailureKind.REJECTED, "the bank's page brought no authorisation code")
        session = self._client.post("/sessions", {"code": told["code"]}, Session)
        return self._keep(session.session_id, session.access.valid_until, session.accounts, state["known"])

    def read(self, kept: State) -> State | None:
        """The session of last time with the accounts that it has today; None where it is over."""
        facts = self._client.get(f"/sessions/{part(kept['session'])}", SessionFacts)
        if facts.status != AUTHORIZED:
            return None
        known = {entry["account"].get("uid"): entry["account"] for entry in kept["accounts"]}
        accounts = [_deserialize(entry["account"]) for entry in kept["accounts"] if entry["account"].get("uid") is None]
        for listed in facts.accounts_data:
            if listed.uid in known:
                accounts.append(_deserialize(known[listed.uid]))
            else:
                read = self._client.get(
                    f"/accounts/{part(listed.uid)}/details", Account, headers=self._client.name_customer(self._bank)
                )
                read.uid = listed.uid
                accounts.append(read)
        return self._keep(kept["session"], facts.access.valid_until, accounts, list_keys(kept))

    def close(self, session: str) -> None:
        self._client.delete(f"/sessions/{part(session)}")

    def _keep(self, session: str, until: str | None, accounts: Any, known: dict[str, str]) -> State:
        entries: list[State] = []
        taken: set[tuple[str, str]] = set()
        for account in accounts:
            key = known.get(account.identification_hash) or choose_key(account)
            if (key, account.currency) in taken:  # another account that bears the same number
                key = account.identification_hash
            if (key, account.currency) in taken:
                continue
            taken.add((key, account.currency))
            entries.append({"key": key, "account": _serialize(account)})
        return {"session": session, "until": str(self._find_end(until)), "accounts": entries}

    def _find_end(self, until: str | None) -> date:
        at = read_time(until)
        return self._context.today + MAX_CONSENT if at is None else find_banking_day(at)


def list_keys(kept: State | None) -> dict[str, str]:
    """The keys of products by the lasting hashes of their accounts: a new session has the same hashes."""
    if kept is None:
        return {}
    return {entry["account"]["identification_hash"]: entry["key"] for entry in kept["accounts"]}


def list_accounts(kept: State) -> dict[str, list[Account]]:
    """By the keys of their products."""
    accounts: dict[str, list[Account]] = {}
    for entry in kept["accounts"]:
        accounts.setdefault(entry["key"], []).append(_deserialize(entry["account"]))
    return accounts


def _serialize(account: Account) -> State:
    values: State = msgspec.json.decode(msgspec.json.encode(account))
    return {name: value for name, value in values.items() if value is not None}


def _deserialize(values: State) -> Account:
    return msgspec.json.decode(msgspec.json.encode(values), type=Account)


def _read_error(error: str, description: str | None) -> CallError:
    """Banks also say `access_denied` where the customer did not change his mind: their words tell."""
    words = ": ".join(filter(None, (error, description)))[:MAX_WORDS_LENGTH]
    kind = RETURNED_KINDS.get(error, FailureKind.REJECTED)
    if kind is FailureKind.CANCELLED and description and not any(word in description.lower() for word in CANCEL_WORDS):
        kind = FailureKind.REJECTED
    return CallError(kind, words)
