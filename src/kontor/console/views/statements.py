"""Account statements: the files of each account, and whether a bank is asked for them."""

from collections.abc import Mapping

from kontor.console.accesses import Product
from kontor.console.banks import (
    ACCESSES,
    OUTCOMES,
    UNFINISHED,
    Bank,
    add_callback,
    find_path,
    is_about_address,
    list_banks,
    send_present,
)
from kontor.console.gateway import together
from kontor.console.statements import AccountOfStatements, read_years
from kontor.console.visits import Facts, Form, GoTo, View, Visit, field_of
from kontor.pages.browser import BadRequestError
from kontor_client import ApiError

PAGE = "/console/statements"


async def show_statements(visit: Visit) -> Facts:
    banks = [bank for bank in await list_banks(visit.api) if bank.state != UNFINISHED]
    found = await together(*(_list_accounts(visit, bank) for bank in banks))
    outcome = visit.query.get("baReentry")
    return {
        "banks": list(zip(banks, found, strict=True)),
        "outcome": outcome if outcome is None or outcome in OUTCOMES else "OTHER",
        "outcome_tone": OUTCOMES.get(outcome or "", ""),
    }


async def _list_accounts(visit: Visit, bank: Bank) -> list[AccountOfStatements]:
    """Accounts that may have statements: the API has a list of them."""
    listed = [(product, path) for product in bank.products if (path := find_path(product.facts, "get_kontoauszuege"))]
    return list(await together(*(_read_account(visit, product, path) for product, path in listed)))


async def _read_account(visit: Visit, product: Product, path: str) -> AccountOfStatements:
    return AccountOfStatements(product, read_years(product, await visit.api.get(path)))


async def request(visit: Visit, form: Form) -> Facts | None:
    """Asks the bank now, and from now on. To the web form where the bank wants the customer to authenticate."""
    bank = await _find_bank(visit, form)
    if bank.renewal is not None:
        await _wish(visit, bank, True)
        raise GoTo(await _start_renewal(visit, bank.renewal))
    try:
        answer = await send_present(visit, ACCESSES, params={"refresh": True}, json={bank.id: {"kontoauszuege": True}})
    except ApiError as error:
        if error.status != 504:
            raise
        raise GoTo(PAGE, notice="bank_slow") from None
    if answer.status == 451:
        raise GoTo(_find_form(visit, answer.headers))
    raise GoTo(PAGE, notice="bank_later" if "retry-after" in answer.headers else "statements_requested")


async def stop(visit: Visit, form: Form) -> Facts | None:
    """What is stored stays."""
    await _wish(visit, await _find_bank(visit, form), False)
    raise GoTo(PAGE, notice="statements_stopped")


async def _wish(visit: Visit, bank: Bank, is_wanted: bool) -> None:
    await visit.api.send("POST", ACCESSES, json={bank.id: {"kontoauszuege": is_wanted}})


async def _start_renewal(visit: Visit, path: str) -> str:
    """Where the user goes. Of a tenant that handles credentials itself, back: the page says what the bank wants."""
    try:
        answer = await send_present(visit, path)
    except ApiError as error:
        if error.status != 400 or is_about_address(error):
            raise
        return PAGE
    return _find_form(visit, answer.headers)


def _find_form(visit: Visit, headers: Mapping[str, str]) -> str:
    location = headers.get("location", "")
    return add_callback(location, visit.base_url, PAGE) if "/webform" in location else PAGE


async def _find_bank(visit: Visit, form: Form) -> Bank:
    """An id that is unknown would begin a new access of this name."""
    access_id = field_of(form, "access")
    if not access_id:
        raise BadRequestError
    bank = next((bank for bank in await list_banks(visit.api) if bank.id == access_id), None)
    if bank is None:
        raise GoTo(PAGE, notice="bank_gone")  # deleted in another tab
    return bank


VIEWS: list[View] = [
    View("statements", "/statements", show_statements, group="money", actions={"request": request, "stop": stop}),
]
