"""Connecting a bank, and new credentials for one, where the tenant may handle credentials: all on these pages."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from kontor.console import banks
from kontor.console.banks import (
    ACCESSES,
    REFUSED,
    Bank,
    find_or_none,
    find_relation,
    is_about_address,
    list_banks,
    tell_presence,
)
from kontor.console.connecting import (
    FIELD,
    MAX_FIELD_LENGTH,
    MAX_QUERY_LENGTH,
    PAGE,
    SHOWN_BANKS,
    ConsentStatus,
    can_connect,
    encrypt,
    find_agreed_problems,
    list_agreed,
    list_own,
    read_agreed,
    read_choice,
    read_consent,
    read_health,
    read_healths,
    write_agreed,
)
from kontor.console.gateway import segment, together
from kontor.console.sessions import read_dialogue
from kontor.console.visits import Facts, Form, RedirectTo, View, Visit, field_of
from kontor.domain.login_formats import compile_format
from kontor.pages.browser import BadRequestError
from kontor_client import ApiError

CONSENTS = "/customer/v2/consent"
ANSWERS = {"method": "chosenScaMethodId", "medium": "chosenScaMedia", "tan": "scaAuthenticationData"}
Provider = Mapping[str, Any]


async def show_connect(visit: Visit) -> Facts:
    """The choice of a bank; with `provider` or `access`, the fields of that bank."""
    if "access" in visit.query:
        bank = await _find_bank(visit, visit.query["access"])
        return await _describe_fields(visit, await _find_provider(visit, bank.provider_id), bank.id, bank=bank)
    if "provider" in visit.query:
        provider = await _find_provider(visit, visit.query["provider"])
        return await _describe_fields(visit, provider, str(uuid4()))
    query = visit.query.get("q", "").strip()[:MAX_QUERY_LENGTH]
    own, found, statistics = await together(
        list_banks(visit.api), _search(visit, query), visit.api.get("/providers/v2/statistics")
    )
    choices = [read_choice(provider, visit.texts) for provider in found if can_connect(provider)]
    return {
        "provider": None,
        "query": query,
        "own": list_own(own),
        "found": choices,
        "healths": read_healths(statistics),
    }


async def _search(visit: Visit, query: str) -> list[Provider]:
    if not query:
        return []
    found: list[Provider] = await visit.api.get("/providers/v2", q=query)
    return found[:SHOWN_BANKS]


async def _find_provider(visit: Visit, provider_id: str) -> Provider:
    provider: Provider | None = await find_or_none(visit.api, f"/providers/v2/{segment(provider_id)}")
    if provider is None or not can_connect(provider):
        raise RedirectTo(PAGE, notice="bank_unknown")
    return provider


async def _find_bank(visit: Visit, access_id: str) -> Bank:
    """One that is connected, whose bank is known."""
    found = next((bank for bank in await list_banks(visit.api) if bank.id == access_id and bank.provider_id), None)
    if found is None:
        raise RedirectTo(banks.PAGE, notice="bank_gone")
    return found


async def _describe_fields(
    visit: Visit,
    provider: Provider,
    access_id: str,
    *,
    bank: Bank | None = None,
    values: Mapping[str, str] | None = None,
    problems: Mapping[str, str] | None = None,
    refusal: str | None = None,
    agreed: Mapping[str, str] | None = None,
) -> Facts:
    """`refusal` is what the bank said to the last attempt, as a word. Of what was entered only secrets are dropped.

    `agreed` is what was entered for the permission, about which only a new bank is asked.
    """
    statistics = await find_or_none(visit.api, f"/providers/v2/{segment(provider['id'])}/statistics")
    fields = [
        {
            "key": field["fieldkey"],
            "label": field["label"],
            "hint": field.get("hint"),
            "is_secret": field["secret"],
            "pattern": compile_format(field["format"]).html_pattern(),
            "value": "" if field["secret"] else (values or {}).get(field["fieldkey"], ""),
            "problem": (problems or {}).get(field["fieldkey"]),
        }
        for field in provider["authenticationInfo"]["fields"]
    ]
    return {
        "provider": read_choice(provider, visit.texts),
        "login_hint": provider["authenticationInfo"].get("loginHint"),
        "fields": fields,
        "agreed": [] if bank else list_agreed(agreed or {}, problems or {}),
        "today": visit.today,
        "access_id": access_id,
        "bank": bank,
        "health": read_health(statistics),
        "refusal": refusal,
        "longest": MAX_FIELD_LENGTH,
    }


async def send(visit: Visit, form: Form) -> Facts | None:
    """To the bank. An attempt that is repeated is about the same access: its credentials are replaced."""
    access_id = field_of(form, "access")
    if not access_id:
        raise BadRequestError
    provider = await _find_provider(visit, field_of(form, "provider"))
    is_change = field_of(form, "is_change") == "yes"
    bank = await _find_bank(visit, access_id) if is_change else None
    values = _read_values(provider, form)
    agreed = {} if is_change else read_agreed(form)
    problems = _find_problems(provider, values) | find_agreed_problems(agreed, visit.today)
    refusal = None
    if not problems:
        refusal = await _ask_bank(visit, provider, access_id, values, agreed)
    return await _describe_fields(
        visit, provider, access_id, bank=bank, values=values, problems=problems, refusal=refusal, agreed=agreed
    )


def _read_values(provider: Provider, form: Form) -> dict[str, str]:
    return {
        field["fieldkey"]: value if field["secret"] else value.strip()
        for field in provider["authenticationInfo"]["fields"]
        for value in [field_of(form, FIELD + field["fieldkey"])]
    }


def _find_problems(provider: Provider, values: Mapping[str, str]) -> dict[str, str]:
    problems = {}
    for field in provider["authenticationInfo"]["fields"]:
        value = values[field["fieldkey"]]
        if not value:
            problems[field["fieldkey"]] = "missing"
        elif not compile_format(field["format"]).matches(value):
            problems[field["fieldkey"]] = "malformed"
    return problems


async def _ask_bank(
    visit: Visit, provider: Provider, access_id: str, values: Mapping[str, str], agreed: Mapping[str, str]
) -> str:
    """On to the bank's questions, or to the accounts. What the bank refused, as a word."""
    encrypted = await together(*(encrypt(visit.api, value) for value in values.values()))
    credentials = dict(zip(values, encrypted, strict=True))
    wanted = {"providerId": provider["id"], "credentials": credentials} | write_agreed(agreed)
    try:
        await begin_dialogue(visit, access_id, {access_id: wanted})
    except ApiError as error:
        if error.status == 409:
            return "busy"
        if error.status == 504:
            raise RedirectTo(banks.PAGE, notice="bank_slow") from None
        if error.status != 400 or not _can_do_without(error):
            raise
        await _add_without_dialogue(visit, access_id, wanted)
    return await _find_refusal(visit, access_id) or "failed"


async def begin_dialogue(visit: Visit, access_id: str, body: Any = None) -> None:
    """A dialogue that asks for consent. Goes on to its page, unless it has failed already."""
    path = f"{ACCESSES}/{segment(access_id)}/consent"
    params = {"callbackUrl": f"{visit.own_url}{PAGE}/back"}
    answer = await visit.api.send("POST", path, params=params, json=body, headers=tell_presence(visit))
    consent_id = answer.headers["location"].rpartition("/")[2]
    status = read_consent(await visit.api.get(f"{CONSENTS}/{segment(consent_id)}"))
    if status.is_given:
        raise RedirectTo(banks.PAGE, notice="bank_added")
    place = f"{segment(access_id)}/{segment(consent_id)}"
    if status.step is not None:
        raise RedirectTo(f"{PAGE}/{place}", kept=place)


def _can_do_without(error: ApiError) -> bool:
    """No dialogue, in a network without public addresses or where the console's own is not allowed: just a fetch."""
    return is_about_address(error) or error.text.startswith("callbackUrl")


async def _add_without_dialogue(visit: Visit, access_id: str, wanted: Mapping[str, Any]) -> None:
    await banks.send_present(visit, ACCESSES, json={access_id: wanted})
    if await _find_refusal(visit, access_id) is None:
        raise RedirectTo(banks.PAGE, notice="bank_added")


async def _find_refusal(visit: Visit, access_id: str) -> str | None:
    """What an access says about its last attempt."""
    found = next((bank for bank in await list_banks(visit.api) if bank.id == access_id), None)
    return found.state if found is not None and found.state in (*REFUSED, "unreachable", "failed") else None


# The bank's questions


async def show_consent(visit: Visit) -> Facts:
    status = await _read_status(visit)
    if status.is_given:
        raise RedirectTo(banks.PAGE, notice="bank_added")
    return await _describe_consent(visit, status)


async def _describe_consent(visit: Visit, status: ConsentStatus, *, is_empty: bool = False) -> Facts:
    bank = await _find_bank(visit, visit.path("access"))
    return {
        "bank": bank,
        "consent": status,
        "redirect_url": find_relation(status.facts, "redirect_url"),
        "is_empty": is_empty,
    }


async def answer(visit: Visit, form: Form) -> Facts | None:
    """A method, a medium, a TAN, or nothing: confirmed in the app."""
    step, value = field_of(form, "step"), "".join(field_of(form, "answer").split())
    if step == "medium":
        value = field_of(form, "answer")
    if step in ANSWERS and not value:
        return await _describe_consent(visit, await _read_status(visit), is_empty=True)
    await _post(visit, "", {ANSWERS[step]: value} if step in ANSWERS else {})
    raise RedirectTo(_find_page(visit))


async def cancel(visit: Visit, form: Form) -> Facts | None:
    await _post(visit, "/cancel", None)
    raise RedirectTo(banks.PAGE, notice="bank_cancelled")


async def come_back(visit: Visit) -> Facts:
    """From the bank's own page, whose query says what happened there; the browser knows to which dialogue."""
    place = read_dialogue(visit.request)
    if place is None:
        raise RedirectTo(banks.PAGE)
    consent_id = place.rpartition("/")[2]
    await _send_answer(visit, consent_id, "", {"scaAuthenticationData": urlencode(visit.query)})
    raise RedirectTo(f"{PAGE}/{place}")


async def _read_status(visit: Visit) -> ConsentStatus:
    return read_consent(await visit.api.get(f"{CONSENTS}/{segment(visit.path('consent'))}"))


async def _post(visit: Visit, step: str, body: Any) -> None:
    await _send_answer(visit, segment(visit.path("consent")), step, body)


async def _send_answer(visit: Visit, consent_id: str, step: str, body: Any) -> None:
    """An answer that came too late changes nothing: the page shows where the dialogue stands."""
    try:
        await visit.api.send("POST", f"{CONSENTS}/{consent_id}{step}", json=body)
    except ApiError as error:
        if error.status not in (404, 409):
            raise


def _find_page(visit: Visit) -> str:
    return f"{PAGE}/{segment(visit.path('access'))}/{segment(visit.path('consent'))}"


VIEWS: list[View] = [
    View("connect", "/connect", show_connect, parent="accounts", actions={"send": send}),
    View("connect_back", "/connect/back", come_back, parent="accounts"),
    View(
        "consent", "/connect/{access:str}/{consent:str}", show_consent, parent="accounts",
        actions={"answer": answer, "cancel": cancel},
    ),
]  # fmt: skip
