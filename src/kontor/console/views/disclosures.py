"""What the customer allows advisers to read: give, see, withdraw, and see who has read what."""

from dataclasses import replace

from kontor.console.disclosures import SCOPES, Wish, name_problem, read_disclosure, read_wish, start_wish
from kontor.console.gateway import segment, together
from kontor.console.visits import BASE, Facts, Form, RedirectTo, View, Visit, field_of
from kontor.domain.disclosures import MAX_MONTHS
from kontor.domain.notice_periods import move_by_months
from kontor_client import ApiError

DISCLOSURES = "/customer/v2/freigaben"
MAX_ASKED = 10  # for how many the latest read is shown


async def show(visit: Visit) -> Facts:
    return await _show(visit, start_wish(visit.today))


async def _show(visit: Visit, wish: Wish, shown: str | None = None) -> Facts:
    found = [read_disclosure(freigabe, visit.today) for freigabe in await visit.api.get(DISCLOSURES)]
    asked = found[:MAX_ASKED]
    reads = await together(*(visit.api.get(f"{DISCLOSURES}/{disclosure.id}/zugriffe") for disclosure in asked))
    return {
        "disclosures": sorted(found, key=lambda disclosure: (not disclosure.is_valid, disclosure.valid_until)),
        "reads": {disclosure.id: listed for disclosure, listed in zip(asked, reads, strict=True)},
        "scopes": SCOPES,
        "wish": wish,
        "shown": shown,
        "last_day": move_by_months(visit.today, MAX_MONTHS),
    }


async def preview(visit: Visit, form: Form) -> Facts:
    """The sentence that will be recorded, to read before agreeing to it."""
    wish = read_wish(form, visit.today)
    if wish.problem is not None:
        return await _show(visit, wish)
    return await _show(visit, wish, wish.describe(visit.session.tenant or "")) | {"status": 200}


async def edit(visit: Visit, form: Form) -> Facts:
    return await _show(visit, replace(read_wish(form, visit.today), problem=None)) | {"status": 200}


async def give(visit: Visit, form: Form) -> Facts:
    """Only what the customer has read: where the sentence would be another one by now, it is shown again."""
    wish = read_wish(form, visit.today)
    if wish.problem is not None:
        return await _show(visit, wish)
    text = wish.describe(visit.session.tenant or "")
    if field_of(form, "shown") != text:
        return await _show(visit, wish, text)
    try:
        await visit.api.send("POST", DISCLOSURES, json=wish.body)
    except ApiError as error:
        if error.status != 400:
            raise
        return await _show(visit, replace(wish, problem=name_problem(error.text)))
    raise RedirectTo(f"{BASE}/disclosures", notice="disclosure_given")


async def withdraw(visit: Visit, form: Form) -> None:
    number = segment(field_of(form, "disclosure"))
    await visit.api.send("DELETE", f"{DISCLOSURES}/{number}")
    raise RedirectTo(f"{BASE}/disclosures/{number}", notice="disclosure_withdrawn")


async def show_reads(visit: Visit) -> Facts:
    """Who has read by one of them, also after it was withdrawn."""
    number = visit.path("disclosure")
    reads, found = await together(
        visit.api.get(f"{DISCLOSURES}/{segment(number)}/zugriffe"), visit.api.get(DISCLOSURES)
    )
    disclosures = [read_disclosure(freigabe, visit.today) for freigabe in found]
    return {
        "disclosure": next((disclosure for disclosure in disclosures if disclosure.id == number), None),
        "reads": reads,
    }


VIEWS = [
    View(
        "disclosures",
        "/disclosures",
        show,
        group="data",
        actions={"preview": preview, "edit": edit, "give": give, "withdraw": withdraw},
    ),
    View("disclosure", "/disclosures/{disclosure:str}", show_reads, parent="disclosures"),
]
