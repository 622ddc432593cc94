"""What a user does on the pages of a payment."""

from uuid import UUID

from kontor.domain.errors import InvalidError
from kontor.domain.order_checks import OrderError
from kontor.domain.payments import Payment
from kontor.domain.secrets import Secret
from kontor.services.banks import find_missing_fields
from kontor.services.redirects import PaymentFormView, StaleStepError
from kontor.webform.pages import Page, describe_problems, make_page
from kontor.webform.payment_forms import describe_iban_problem, read_details
from kontor.webform.submissions import Action, FormSubmission

ACCOUNT = "account-iban"
OTHER_BANK = "other"


def _view(submission: FormSubmission) -> PaymentFormView:
    assert isinstance(submission.view, PaymentFormView), "these actions are for payments only"
    return submission.view


def _payment(submission: FormSubmission) -> Payment:
    return _view(submission).payment.payment


async def _confirm(submission: FormSubmission) -> Page | None:
    """As it is, or as the user has changed it."""
    page = make_page(submission.view, submission.texts)
    if page.facts["is_editable"]:
        payment = _payment(submission)
        details, errors, values = read_details(submission.value, payment.given[0], submission.texts)
        if details is None:
            return make_page(submission.view, submission.texts, errors=errors, values=values)
        try:
            await submission.redirects.payments.change(submission.view.session, details)
        except OrderError as error:
            is_date = (error.field or "").endswith("Date")
            name, text = ("date", "payment.date_past") if is_date else ("recipient", "payment.refused")
            return make_page(submission.view, submission.texts, errors={name: submission.texts(text)}, values=values)
    await submission.redirects.payments.confirm(submission.view.session)
    return None


async def _choose_source(submission: FormSubmission) -> Page | None:
    chosen = submission.value("choice")
    if chosen == OTHER_BANK:
        await submission.redirects.payments.choose_other_bank(submission.view.session)
        return None
    for access in _view(submission).sources:
        for product in access.products:
            if chosen == str(product.id):
                return await _pay_from(submission, product.access_id, product.id)
    return make_page(submission.view, submission.texts, error=submission.texts("source.missing"))


async def _pay_from(submission: FormSubmission, access_id: str, product_id: UUID) -> Page | None:
    try:
        await submission.redirects.payments.choose_product(submission.view.session, access_id, product_id)
    except InvalidError:
        return make_page(submission.view, submission.texts, error=submission.texts("source.impossible"))
    return None


async def _submit_credentials(submission: FormSubmission) -> Page | None:
    provider = submission.view.provider
    if provider is None:
        raise StaleStepError
    values = {
        field.key: submission.value(f"field-{field.key}")
        if field.is_secret
        else submission.value(f"field-{field.key}").strip()
        for field in provider.login_fields
    }
    secrets = {key: Secret(value) for key, value in values.items()}
    problems = describe_problems(provider, values, find_missing_fields(provider, secrets), submission.texts)
    account = submission.value(ACCOUNT).strip()
    problem = None if submission.view.session.is_source_fixed else describe_iban_problem(account, submission.texts)
    if problem is None and not problems:
        try:
            await submission.redirects.payments.submit_credentials(submission.view.session, provider, secrets, account)
        except InvalidError:
            problem = submission.texts("source.impossible")
        else:
            return None
    if problem is not None:
        problems[ACCOUNT] = problem
    shown = {field.key: values[field.key] for field in provider.login_fields if not field.is_secret}
    return make_page(submission.view, submission.texts, values=shown, errors=problems, account_value=account)


async def _go_back(submission: FormSubmission) -> Page | None:
    await submission.redirects.payments.go_back(submission.view.session)
    return None


async def _choose_source_again(submission: FormSubmission) -> Page | None:
    await submission.redirects.payments.choose_again(submission.view.session)
    return None


async def _accept_payees(submission: FormSubmission) -> Page | None:
    await submission.redirects.payments.accept_payees(submission.view.session, _payment(submission))
    return None


async def _use_name(submission: FormSubmission) -> Page | None:
    name = make_page(submission.view, submission.texts).facts["suggestion"]
    if name is None:
        raise StaleStepError
    try:
        await submission.redirects.payments.use_name(submission.view.session, _payment(submission), name)
    except InvalidError:  # a name that no bank would take from us
        return make_page(submission.view, submission.texts, error=submission.texts("payees.unusable"))
    return None


PAYMENT_ACTIONS: dict[tuple[str, str], Action] = {
    ("payment", "confirm"): _confirm,
    ("source", "choose"): _choose_source,
    ("source", "back"): _go_back,
    ("credentials", "submit"): _submit_credentials,
    ("credentials", "other-bank"): _choose_source_again,
    ("failed", "other-bank"): _choose_source_again,
    ("provider", "back"): _choose_source_again,
    ("payees", "accept"): _accept_payees,
    ("payees", "use-name"): _use_name,
    ("payees", "change"): _go_back,
}
