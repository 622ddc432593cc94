"""Account statements: the files of each account, and whether a bank is asked for them."""

from kontor.console.accesses import Product
from kontor.console.banks import (
    ACCESSES,
    UNFINISHED,
    Bank,
    describe_outcome,
    find_form,
    find_path,
    is_about_address,
    list_banks,
    refresh_bank,
    send_present,
)
from kontor.console.gateway import together
from kontor.console.statements import AccountOfStatements, read_years
from kontor.console.visits import Facts, Form, RedirectTo, View, Visit, field_of
from kontor.pages.browser import BadRequestError
from kontor_client import ApiError

PAGE = "/console/statements"


async def show_statements(visit: Visit) -> Facts:
    banks = [bank for bank in await list_banks(visit.api) if bank.state != UNFINISHED]
    found = await together(*(_list_accounts(visit, bank) for bank in banks))
    return describe_outcome(visit) | {"banks": list(zip(banks, found, strict=True))}


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
        raise RedirectTo(await _start_renewal(visit, bank.renewal))
    await refresh_bank(visit, bank.id, {"kontoauszuege": True}, PAGE, "statements_requested")


async def stop(visit: Visit, form: Form) -> Facts | None:
    """What is stored stays."""
    await _wish(visit, await _find_bank(visit, form), False)
    raise RedirectTo(PAGE, notice="statements_stopped")


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
    return find_form(visit, answer.headers, PAGE)


async def _find_bank(visit: Visit, form: Form) -> Bank:
    """An id that is unknown would begin a new access of this name."""
    access_id = field_of(form, "access")
    if not access_id:
        raise BadRequestError
    bank = next((bank for bank in await list_banks(visit.api) if bank.id == access_id), None)
    if bank is None:
        raise RedirectTo(PAGE, notice="bank_gone")  # deleted in another tab
    return bank


VIEWS: list[View] = [
    View("statements", "/statements", show_statements, group="money", actions={"request": request, "stop": stop}),
]
