"""Payments: transfers, dated transfers and standing orders. The bank's questions are answered in the web form, or here
where the tenant may handle credentials."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

from kontor.console.accesses import Product, list_products
from kontor.console.banks import (
    ACCESSES,
    add_callback,
    find_path,
    find_relation,
    is_finished,
    tell_presence,
)
from kontor.console.gateway import segment, together
from kontor.console.payments import (
    KINDS,
    ORDERED_KINDS,
    PAGE,
    PERIODS,
    Entered,
    PaymentStatus,
    StandingOrder,
    find_bank_code,
    find_explanation,
    is_iban,
    list_standing_orders,
    name_refusal,
    read_amount,
    read_entered,
    read_existing,
    read_payment,
    write_body,
)
from kontor.console.visits import Facts, Form, RedirectTo, View, Visit, field_of
from kontor.pages.browser import BadRequestError
from kontor_client import ApiError

PAYMENTS = "/customer/v2/payment"
SHOWN_PAYMENTS = 20
# How the web form says that somebody comes back, and whether that is good news.
OUTCOMES = {"FINISHED": "good", "USER_CANCELLED": "", "SESSION_EXPIRED": ""}
UNCLEAR = "payment_unclear"
# What is said on the list about a standing order that could not be deleted.
NOTICES = {"twice": "payment_busy", "address": "payment_address", "callback": "payment_callback"}
ANSWERS = {"method": "chosenScaMethodId", "medium": "chosenScaMedia", "tan": "scaAuthenticationData"}


async def show_payments(visit: Visit) -> Facts:
    products = await _list_products(visit)
    orders, payments = await together(list_standing_orders(visit.api, products), _list_payments(visit))
    rels = {relation["rel"] for product in products for relation in product.facts.get("relations", [])}
    is_allowed = payments is not None
    outcome = visit.query.get("baReentry")
    return {
        "orders": orders,
        "payments": payments,
        "is_allowed": is_allowed,
        "can_transfer": is_allowed and "initiate_single_transfer" in rels,
        "can_repeat": is_allowed and "initiate_standing_order" in rels,
        "deleting": next((each for each in orders if each.id == visit.query.get("delete") and each.deleted_at), None),
        "outcome": outcome if outcome is None or outcome in OUTCOMES else "OTHER",
        "outcome_tone": OUTCOMES.get(outcome or "", "bad"),
        "payment_id": str(uuid4()),
    }


async def _list_payments(visit: Visit) -> list[PaymentStatus] | None:
    """None where the client that signed the user in may not order payments."""
    try:
        listed = await visit.api.get(f"{PAYMENTS}s", limit=SHOWN_PAYMENTS)
    except ApiError as error:
        if error.status != 403 or error.is_token_invalid:
            raise
        return None
    return [read_payment(status) for status in listed]


async def delete(visit: Visit, form: Form) -> Facts | None:
    payment_id = _read_payment_id(form)
    orders = await list_standing_orders(visit.api, await _list_products(visit))
    order = next((order for order in orders if order.id == field_of(form, "order")), None)
    if order is None or order.deleted_at is None:
        raise RedirectTo(PAGE)  # another tab was faster
    try:
        await _order(visit, payment_id, "DELETE", order.deleted_at)
    except ApiError as error:
        if error.status not in (400, 409) or name_refusal(error) not in NOTICES:
            raise
        raise RedirectTo(PAGE, notice=NOTICES[name_refusal(error)]) from None
    raise AssertionError("an order leads on")


# A new one


async def show_new(visit: Visit) -> Facts:
    products = await _list_products(visit)
    wanted = visit.query.get("order")
    if wanted is None:
        kind = visit.choose("kind", ORDERED_KINDS)
        return _describe(visit, products, Entered(visit.query.get("account", ""), kind))
    order = await _find_order(visit, products, wanted)
    return _describe(visit, products, read_existing(order))


async def order(visit: Visit, form: Form) -> Facts | None:
    payment_id, entered = _read_payment_id(form), read_entered(form)
    products = await _list_products(visit)
    method, path = await _find_target(visit, products, entered)
    amount = read_amount(entered.amount, visit.language)
    problem = _find_problem(entered, amount, path)
    if problem is not None or amount is None or path is None:
        return _describe(visit, products, entered, problem=problem, payment_id=payment_id)
    bic = entered.bic or await _find_bic(visit, entered.iban)
    if bic is None:
        return _describe(visit, products, entered, problem="bic", payment_id=payment_id)
    try:
        await _order(visit, payment_id, method, path, write_body(entered, amount, bic))
    except ApiError as error:
        if error.status not in (400, 409):
            raise
        problem = name_refusal(error)
        details = find_explanation(error, visit.language) if problem == "refused" else None
        return _describe(visit, products, entered, problem=problem, details=details)
    raise AssertionError("an order leads on")


def _describe(
    visit: Visit,
    products: list[Product],
    entered: Entered,
    *,
    problem: str | None = None,
    details: str | None = None,
    payment_id: str = "",
) -> Facts:
    rel = "initiate_standing_order" if entered.kind == "standing-order" else "initiate_single_transfer"
    return {
        "accounts": [product for product in products if find_path(product.facts, rel) is not None],
        "entered": entered,
        "periods": PERIODS,
        "tomorrow": visit.today + timedelta(days=1),
        "problem": problem,
        "wrong_field": (problem or "").removesuffix("_wrong"),
        "details": details,
        "payment_id": payment_id or str(uuid4()),
    }


def _find_problem(entered: Entered, amount: Any, path: str | None) -> str | None:
    """The first field that cannot be right; the API looks at all of them once more."""
    if path is None:
        return "account"
    missing = [name for name in ("recipient", "iban", "purpose") if not getattr(entered, name)]
    if missing:
        return missing[0]
    if not is_iban(entered.iban):
        return "iban_wrong"
    if amount is None or amount <= 0:
        return "amount"
    return "day" if entered.kind == "standing-order" and not entered.day else None


async def _find_target(visit: Visit, products: list[Product], entered: Entered) -> tuple[str, str | None]:
    """Method and path of the API; no path where the account cannot do it."""
    if entered.order:
        return "PUT", (await _find_order(visit, products, entered.order)).changed_at
    rel = "initiate_standing_order" if entered.kind == "standing-order" else "initiate_single_transfer"
    product = next((product for product in products if f"{product.access_id}/{product.id}" == entered.account), None)
    return "POST", None if product is None else find_path(product.facts, rel)


async def _find_order(visit: Visit, products: list[Product], order_id: str) -> StandingOrder:
    orders = await list_standing_orders(visit.api, products)
    found = next((order for order in orders if order.id == order_id), None)
    if found is None or found.changed_at is None:
        raise RedirectTo(PAGE)
    return found


async def _find_bic(visit: Visit, iban: str) -> str | None:
    """Of the catalogue. Whoever pays abroad knows the BIC, or asks the payee."""
    code = find_bank_code(iban)
    if code is None:
        return None
    found = await visit.api.get("/providers/v2", blz=code)
    return next((provider["bic"] for provider in found if provider.get("bic")), None)


def _read_payment_id(form: Form) -> str:
    try:
        return str(UUID(field_of(form, "payment_id")))
    except ValueError:
        raise BadRequestError from None


async def _order(visit: Visit, payment_id: str, method: str, path: str, body: Any = None) -> None:
    """On to the web form, or to the page of the payment. The same form sent twice is the same payment.

    An order without an answer may be at the bank: the list shows it, and no empty form invites to give it again.
    """
    params = {"paymentId": payment_id, "callbackUrl": f"{visit.own_url}{PAGE}/back/{segment(payment_id)}"}
    headers = tell_presence(visit) | {"Idempotency-Key": payment_id}
    try:
        answer = await visit.api.send(method, path, params=params, json=body, headers=headers)
    except ApiError as error:
        if error.status < 500:
            raise
        raise RedirectTo(PAGE, notice=UNCLEAR) from None
    if answer.status == 451:
        raise RedirectTo(add_callback(answer.headers["location"], visit.own_url, PAGE))
    raise RedirectTo(read_payment(answer.json()).url)


async def _list_products(visit: Visit) -> list[Product]:
    accesses = await visit.api.get(ACCESSES)
    return list_products({key: access for key, access in accesses.items() if is_finished(access)})


# One payment


async def show_payment(visit: Visit) -> Facts:
    payment = read_payment(await visit.api.get(_find_path(visit)))
    return {"payment": payment, "redirect_url": find_relation(payment.facts, "redirect_url"), "is_wrong": False}


async def answer(visit: Visit, form: Form) -> Facts | None:
    """A method, a medium, a TAN, or nothing: confirmed in the app."""
    step = field_of(form, "step")
    value = field_of(form, "answer").strip()
    if step in ANSWERS and not value:
        return await show_payment(visit) | {"is_wrong": True}
    return await _send(visit, "", {ANSWERS[step]: value} if step in ANSWERS else {})


async def accept_payee(visit: Visit, form: Form) -> Facts | None:
    return await _send(visit, "/confirm-vop")


async def cancel(visit: Visit, form: Form) -> Facts | None:
    return await _send(visit, "/cancel")


async def come_back(visit: Visit) -> Facts:
    """From the bank's own page, whose query says what happened there."""
    payment = await _find_payment(visit, visit.path("payment"))
    if payment is None:
        raise RedirectTo(f"{PAGE}?{urlencode(visit.query)}" if visit.query else PAGE)
    if payment.step == "redirect":
        path = f"{PAYMENTS}/{payment.kind}/{segment(payment.id)}"
        notice = await _post(visit, path, {"scaAuthenticationData": urlencode(visit.query)})
        raise RedirectTo(payment.url, notice=notice)
    raise RedirectTo(payment.url)


async def _find_payment(visit: Visit, payment_id: str) -> PaymentStatus | None:
    """One that was ordered here."""
    for kind in ORDERED_KINDS:
        try:
            return read_payment(await visit.api.get(f"{PAYMENTS}/{kind}/{segment(payment_id)}"))
        except ApiError as error:
            if error.status not in (400, 404):
                raise
    return None


async def _send(visit: Visit, step: str, body: Any = None) -> Facts | None:
    notice = await _post(visit, _find_path(visit) + step, body)
    raise RedirectTo(f"{PAGE}/{visit.path('kind')}/{segment(visit.path('payment'))}", notice=notice)


async def _post(visit: Visit, path: str, body: Any) -> str | None:
    """An answer that came too late changes nothing: the page shows where the payment stands.

    The key of a notice for an answer whose outcome is not known.
    """
    try:
        await visit.api.send("POST", path, json=body)
    except ApiError as error:
        if error.status >= 500:
            return UNCLEAR
        if error.status != 409:
            raise
    return None


def _find_path(visit: Visit) -> str:
    kind = visit.path("kind")
    if kind not in KINDS:
        raise BadRequestError
    return f"{PAYMENTS}/{kind}/{segment(visit.path('payment'))}"


VIEWS: list[View] = [
    View("payments", "/payments", show_payments, group="money", actions={"delete": delete}),
    View("payment_new", "/payments/new", show_new, parent="payments", actions={"order": order}),
    View("payment_back", "/payments/back/{payment:str}", come_back, parent="payments"),
    View(
        "payment", "/payments/{kind:str}/{payment:str}", show_payment, parent="payments",
        actions={"answer": answer, "accept_payee": accept_payee, "cancel": cancel},
    ),
]  # fmt: skip
