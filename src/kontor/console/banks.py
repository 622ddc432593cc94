"""Accesses as people see them: a bank, how it is doing, and what it has to say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, NoReturn
from urllib.parse import quote, urlsplit

from kontor.console.accesses import Product, read_product
from kontor.console.gateway import Gateway, segment, together
from kontor.console.visits import Facts, RedirectTo, Visit
from kontor.pages.formatting import BERLIN
from kontor_client import Answer, ApiError

ACCESSES = "/customer/v2/bankzugaenge"
PAGE = "/console/accounts"
COMPLETE = "VOLLSTAENDIG"
CONSENT_ENDS = "CONSENT_ENDS"
# What a user has to know first; the order decides where several are true.
STATES_BY_CODE = {"BA1010": "locked", "BA1011": "wrong", "BA1012": "incomplete"}
FAULTS_BY_CODE = {"BA1051": "unreachable", "BA999": "failed"}
PARTIAL_CODES = {"BA1052", "BA1060", "BA1062", "BA1063"}
# What the state of a bank says already, in more words.
SAID_BY_STATE = {*STATES_BY_CODE, *FAULTS_BY_CODE, "BA3000"}
UNFINISHED = "unfinished"  # begun in the web form, and no accounts chosen yet
ENDING = "ending"  # the consent still holds, and can be renewed already
CONNECTED = ("connected", "fetching", "partial", "unreachable", ENDING)
# What the bank does not take any more, or not yet: other credentials help.
REFUSED = ("wrong", "incomplete", "locked")
TONES = {
    "connected": "good", "fetching": "plain", UNFINISHED: "", "authenticate": "", "partial": "", "unreachable": "",
    ENDING: "", "locked": "bad", "wrong": "bad", "incomplete": "bad", "failed": "bad",
}  # fmt: skip
# How the web form says that somebody comes back, and whether that is good news.
OUTCOMES = {
    "ACCOUNT_CREATED": "good", "FINISHED": "good", "LEGAL_NOT_ACCEPTED": "", "USER_CANCELLED": "",
    "BACKEND_ERROR": "bad", "INVALID_CREDENTIALS": "bad", "INVALID_TAN": "bad", "ERROR": "bad",
    "NO_CALLBACK_URL": "bad", "INVALID_CALLBACK_URL": "bad", "SESSION_EXPIRED": "", "PAYMENT_FAILED": "bad",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Message:
    code: str
    text: str
    details: str | None
    is_error: bool


@dataclass(frozen=True, slots=True)
class Bank:
    """An access. `renewal` is where the API starts authentication, when the bank wants it.

    `wants_statements`: fetches bring account statements. `has_statements`: does the bank offer them? None: unknown.
    `ending` is what the API says about a consent that ends soon.
    """

    id: str
    name: str
    logo: str | None
    state: str
    messages: Sequence[Message]
    refreshed_at: datetime | None
    is_synced: bool
    products: Sequence[Product]
    renewal: str | None
    wants_statements: bool = False
    has_statements: bool | None = None
    provider_id: str = ""
    ending: str | None = None

    @property
    def holders(self) -> str:
        """Whose accounts these are: what tells two accesses to one bank apart."""
        named = [product.facts.get("inhaber", "").strip() for product in self.products]
        return ", ".join(dict.fromkeys(name for name in named if name))

    @property
    def has_refused(self) -> bool:
        """The bank did not take the credentials."""
        return self.state in REFUSED

    @property
    def tone(self) -> str:
        return TONES[self.state]

    @property
    def is_connected(self) -> bool:
        """The bank is asked for news; it may be out of reach at the moment."""
        return self.state in CONNECTED

    @property
    def further_messages(self) -> list[Message]:
        """Those that tell more than the state."""
        return [message for message in self.messages if message.details or message.code not in SAID_BY_STATE]


async def list_banks(api: Gateway) -> list[Bank]:
    """All accesses with what the last attempt at each had to say, and what the catalogue knows about their banks."""
    accesses: Mapping[str, Any] = await api.get(ACCESSES)
    provider_ids = sorted({access["providerId"] for access in accesses.values() if is_finished(access)})
    finished = [key for key, access in accesses.items() if is_finished(access)]
    answers = await together(
        *(find_or_none(api, f"{ACCESSES}/{segment(key)}/issues") for key in finished),
        *(find_or_none(api, f"/providers/v2/{segment(provider_id)}") for provider_id in provider_ids),
    )
    issues = dict(zip(finished, answers[: len(finished)], strict=True))
    providers = dict(zip(provider_ids, answers[len(finished) :], strict=True))
    return [
        read_bank(access, issues[key] or {}, providers[access["providerId"]])
        if key in issues
        else read_unfinished(access)
        for key, access in accesses.items()
    ]


def is_still_fetched(accesses: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether transactions are still to come without anybody doing anything: a first fetch is under way."""
    return any(is_finished(access) and _name_state(access) == "fetching" for access in accesses.values())


def _name_state(access: Mapping[str, Any]) -> str:
    codes = [message["code"] for message in access.get("messages", [])]
    return name_state(access["status"], codes, needs_authentication=find_path(access, "start_sca") is not None)


def is_finished(access: Mapping[str, Any]) -> bool:
    """The API names the bank once the user has chosen accounts in the web form."""
    return "providerId" in access


async def find_or_none(api: Gateway, path: str, **params: Any) -> Any:
    """A bank may have left the catalogue since, and an access may be deleted while we look."""
    try:
        return await api.get(path, **params)
    except ApiError as error:
        if error.status not in (403, 404) or error.is_token_invalid:
            raise
        return None


def read_unfinished(access: Mapping[str, Any]) -> Bank:
    renewal = find_path(access, "start_sca")
    return Bank(access["id"], "", None, UNFINISHED, [], None, access["sync"], [], renewal)


def read_bank(access: Mapping[str, Any], issues: Mapping[str, Any], provider: Mapping[str, Any] | None) -> Bank:
    provider_id = access.get("providerId", "")
    products = [read_product(access["id"], product, provider_id) for product in access.get("bankprodukte", [])]
    messages = _read_messages([*access.get("messages", []), *issues.get("messages", [])])
    renewal = find_path(access, "start_sca")
    logo = find_path(provider, "logo") if provider is not None else None
    own_name = next((product.bank for product in products if product.bank), "")
    return Bank(
        access["id"],
        provider["name"] if provider is not None else own_name,
        logo,
        name_state(access["status"], [message.code for message in messages], needs_authentication=renewal is not None),
        messages,
        read_time(access.get("aktualisierungszeitpunkt")),
        access["sync"],
        products,
        renewal,
        access.get("kontoauszuege", False),
        provider.get("kontoauszuege") if provider is not None else False,
        provider_id,
    )


def mark_ending(banks: Sequence[Bank], alerts: Sequence[Mapping[str, Any]]) -> list[Bank]:
    """With what the API's notices say about consents that end soon: those banks are still connected."""
    ends = {}
    for alert in alerts:
        if alert["art"] == CONSENT_ENDS and alert["objekt"]["rel"] == "bankzugang":
            ends[urlsplit(alert["objekt"]["href"]).path.rpartition("/")[2]] = alert["text"]
    return [
        replace(bank, state=ENDING, ending=ends[segment(bank.id)])
        if bank.state == "authenticate" and segment(bank.id) in ends
        else bank
        for bank in banks
    ]


def name_state(status: str, codes: Sequence[str], *, needs_authentication: bool) -> str:
    """One word for how an access is doing; the texts say it in the user's language."""
    for code, state in STATES_BY_CODE.items():
        if code in codes:
            return state
    if needs_authentication or "BA3000" in codes:
        return "authenticate"
    for code, state in FAULTS_BY_CODE.items():
        if code in codes:
            return state
    if status != COMPLETE:
        return "fetching"
    return "partial" if PARTIAL_CODES.intersection(codes) else "connected"


def _read_messages(said: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Each once: what an access says stands among its issues, too."""
    read = [
        Message(message["code"], message["message"], message.get("details"), message["level"] == "ERROR")
        for message in said
    ]
    return list(dict.fromkeys(read))


def find_relation(facts: Mapping[str, Any], name: str) -> str | None:
    return next((relation["href"] for relation in facts.get("relations", []) if relation["rel"] == name), None)


def find_path(facts: Mapping[str, Any], name: str) -> str | None:
    """Where a relation leads, within this service."""
    href = find_relation(facts, name)
    if href is None:
        return None
    split = urlsplit(href)
    return split.path + (f"?{split.query}" if split.query else "")


def read_time(text: str | None) -> datetime | None:
    """A timestamp of the API, which is meant in Berlin."""
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=BERLIN)


def sum_by_currency(products: Sequence[Product]) -> dict[str, Decimal]:
    """The euro first."""
    totals: dict[str, Decimal] = {}
    for product in products:
        if product.balance is not None:
            totals[product.currency] = totals.get(product.currency, Decimal(0)) + product.balance
    return dict(sorted(totals.items(), key=lambda item: (item[0] != "EUR", item[0])))


# The web form


def add_callback(location: str, own_url: str, page: str = PAGE) -> str:
    """The web form's address, with the way back to a page of the console, by default that of accounts."""
    return f"{location}{'&' if '?' in location else '?'}callbackUrl={quote(own_url + page, safe='')}"


def find_form(visit: Visit, headers: Mapping[str, str], page: str = PAGE) -> str:
    """The web form that an answer leads to, with the way back to the page; the page itself where it leads to none."""
    location = headers.get("location", "")
    return add_callback(location, visit.own_url, page) if "/webform" in location else page


def describe_outcome(visit: Visit) -> Facts:
    """What the web form says about somebody who comes back."""
    outcome = visit.query.get("baReentry")
    return {
        "outcome": outcome if outcome is None or outcome in OUTCOMES else "OTHER",
        "outcome_tone": OUTCOMES.get(outcome or "", ""),
    }


async def refresh_bank(visit: Visit, access_id: str, wishes: Mapping[str, Any], page: str, notice: str) -> NoReturn:
    """Fetch now, and go back to the page with a notice, or to the web form where the bank wants authentication.

    The access must exist: of an unknown id the API would begin a new one.
    """
    try:
        answer = await send_present(visit, ACCESSES, params={"refresh": True}, json={access_id: wishes})
    except ApiError as error:
        if error.status != 504:
            raise
        raise RedirectTo(page, notice="bank_slow") from None
    if answer.status == 451:
        raise RedirectTo(find_form(visit, answer.headers, page))
    raise RedirectTo(page, notice="bank_later" if "retry-after" in answer.headers else notice)


async def send_present(visit: Visit, path: str, **more: Any) -> Answer:
    """A POST that says that the user is here; in a private network, where an address says nothing, without it."""
    try:
        return await visit.api.send("POST", path, headers=tell_presence(visit), **more)
    except ApiError as error:
        if not is_about_address(error):
            raise
    return await visit.api.send("POST", path, **more)


def is_about_address(error: ApiError) -> bool:
    return error.status == 400 and "Customer-IP-Address" in error.text


def tell_presence(visit: Visit) -> dict[str, str]:
    """Says that the user is here. With a proxy in front of us, its last word about the browser counts."""
    client = visit.request.client
    hops = visit.request.headers.get("x-forwarded-for", "").split(",")
    address = hops[-1].strip() or (client.host if client is not None else "")
    return {"Customer-IP-Address": address} if address else {}
