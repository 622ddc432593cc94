"""What a user does on the pages of a payment."""

from uuid import UUID

from kontor.domain.errors import InvalidError
from kontor.domain.orders import OrderError
from kontor.domain.payments import Payment
from kontor.domain.secrets import Secret
from kontor.services.form_sessions import StaleStepError
from kontor.services.providers import find_missing_fields
from kontor.webform.deeds import Action, Deed
from kontor.webform.pages import Page, describe_problems, make_page
from kontor.webform.payment_forms import describe_iban_problem, read_details

ACCOUNT = "account-iban"
OTHER_BANK = "other"


def _payment(deed: Deed) -> Payment:
    if deed.view.payment is None:
        raise StaleStepError
    return deed.view.payment.payment


async def _confirm(deed: Deed) -> Page | None:
    """As it is, or as the user has changed it."""
    page = make_page(deed.view, deed.texts)
    if page.facts["is_editable"]:
        payment = _payment(deed)
        details, errors, values = read_details(deed.value, payment.given[0], deed.texts)
        if details is None:
            return make_page(deed.view, deed.texts, errors=errors, values=values)
        try:
            await deed.redirects.payments.change(deed.view.session, details)
        except OrderError as error:
            is_date = (error.field or "").endswith("Date")
            name, text = ("date", "payment.date_past") if is_date else ("recipient", "payment.refused")
            return make_page(deed.view, deed.texts, errors={name: deed.texts(text)}, values=values)
    await deed.redirects.payments.confirm(deed.view.session)
    return None


async def _choose_source(deed: Deed) -> Page | None:
    chosen = deed.value("choice")
    if chosen == OTHER_BANK:
        await deed.redirects.payments.choose_other_bank(deed.view.session)
        return None
    for access in deed.view.sources:
        for product in access.products:
            if chosen == str(product.id):
                return await _pay_from(deed, product.access_id, product.id)
    return make_page(deed.view, deed.texts, error=deed.texts("source.missing"))


async def _pay_from(deed: Deed, access_id: str, product_id: UUID) -> Page | None:
    try:
        await deed.redirects.payments.choose_product(deed.view.session, access_id, product_id)
    except InvalidError:
        return make_page(deed.view, deed.texts, error=deed.texts("source.impossible"))
    return None


async def submit_payment_credentials(deed: Deed) -> Page | None:
    provider = deed.view.provider
    if provider is None:
        raise StaleStepError
    values = {
        one.key: deed.value(f"field-{one.key}") if one.is_secret else deed.value(f"field-{one.key}").strip()
        for one in provider.login_fields
    }
    secrets = {key: Secret(value) for key, value in values.items()}
    problems = describe_problems(provider, values, find_missing_fields(provider, secrets), deed.texts)
    account = deed.value(ACCOUNT).strip()
    problem = None if deed.view.session.is_source_fixed else describe_iban_problem(account, deed.texts)
    if problem is None and not problems:
        try:
            await deed.redirects.payments.submit_credentials(deed.view.session, provider, secrets, account)
        except InvalidError:
            problem = deed.texts("source.impossible")
        else:
            return None
    if problem is not None:
        problems[ACCOUNT] = problem
    shown = {one.key: values[one.key] for one in provider.login_fields if not one.is_secret}
    return make_page(deed.view, deed.texts, values=shown, errors=problems, account_value=account)


async def _go_back(deed: Deed) -> Page | None:
    await deed.redirects.payments.go_back(deed.view.session)
    return None


async def choose_payment_source_again(deed: Deed) -> Page | None:
    await deed.redirects.payments.choose_again(deed.view.session)
    return None


async def _accept_payees(deed: Deed) -> Page | None:
    await deed.redirects.payments.accept_payees(deed.view.session, _payment(deed))
    return None


async def _use_name(deed: Deed) -> Page | None:
    name = make_page(deed.view, deed.texts).facts["suggestion"]
    if name is None:
        raise StaleStepError
    try:
        await deed.redirects.payments.use_name(deed.view.session, _payment(deed), name)
    except InvalidError:  # a name that no bank would take from us
        return make_page(deed.view, deed.texts, error=deed.texts("payees.unusable"))
    return None


PAYMENT_ACTIONS: dict[tuple[str, str], Action] = {
    ("payment", "confirm"): _confirm,
    ("source", "choose"): _choose_source,
    ("source", "back"): _go_back,
    ("provider", "back"): choose_payment_source_again,
    ("payees", "accept"): _accept_payees,
    ("payees", "use-name"): _use_name,
    ("payees", "change"): _go_back,
}
