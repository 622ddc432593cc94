"""What a user does on a page: each action belongs to the pages that offer it, and to no other."""

from uuid import UUID

from kontor.domain.errors import InvalidError
from kontor.domain.sca_machine import AnswerKind
from kontor.domain.secrets import Secret
from kontor.webform.authorisations import find_authorisation
from kontor.webform.pages import Page, describe_problems, make_page
from kontor.webform.payment_actions import PAYMENT_ACTIONS, choose_payment_source_again, submit_payment_credentials
from kontor.webform.submissions import Action, FormSubmission

LONGEST_TAN = 64


async def act(page: Page, submission: FormSubmission) -> Page | None:
    """Do it. The page again, with what is wrong, or None when the session has moved on."""
    name = submission.value("action")
    if name == "cancel":
        await submission.redirects.leave(submission.view.session)
        return None
    action = _ACTIONS.get((page.name, name))
    return None if action is None else await action(submission)


async def _accept(submission: FormSubmission) -> Page | None:
    await submission.redirects.accept_legal(submission.view.session)
    return None


async def _decline(submission: FormSubmission) -> Page | None:
    await submission.redirects.decline_legal(submission.view.session)
    return None


async def _choose_provider(submission: FormSubmission) -> Page | None:
    try:
        await submission.redirects.choose_provider(submission.view.session, UUID(submission.value("provider")))
    except (ValueError, InvalidError):
        return make_page(submission.view, submission.texts, error=submission.texts("provider.unavailable"))
    return None


async def _submit_credentials(submission: FormSubmission) -> Page | None:
    if submission.view.payment is not None:
        return await submit_payment_credentials(submission)
    provider = submission.view.provider
    if provider is None:
        return None
    values = {
        one.key: submission.value(f"field-{one.key}") if one.is_secret else submission.value(f"field-{one.key}").strip()
        for one in provider.login_fields
    }
    secrets = {key: Secret(value) for key, value in values.items()}
    wrong = await submission.redirects.submit_credentials(submission.view.session, secrets)
    if not wrong:
        return None
    shown = {one.key: values[one.key] for one in provider.login_fields if not one.is_secret}
    problems = describe_problems(provider, values, wrong, submission.texts)
    return make_page(submission.view, submission.texts, values=shown, errors=problems)


async def _choose_again(submission: FormSubmission) -> Page | None:
    if submission.view.payment is not None:
        return await choose_payment_source_again(submission)
    await submission.redirects.choose_again(submission.view.session)
    return None


async def _choose_method(submission: FormSubmission) -> Page | None:
    return await _choose(submission, AnswerKind.METHOD)


async def _choose_medium(submission: FormSubmission) -> Page | None:
    return await _choose(submission, AnswerKind.MEDIUM)


async def _choose(submission: FormSubmission, kind: AnswerKind) -> Page | None:
    if not submission.value("choice"):
        return make_page(submission.view, submission.texts, error=submission.texts("choice.missing"))
    await submission.redirects.answer(submission.view.session, kind, submission.value("choice"))
    return None


async def _submit_tan(submission: FormSubmission) -> Page | None:
    """A TAN is asked for with and without blanks in it; the bank wants it without."""
    tan = "".join(submission.value("tan").split())
    if not tan or len(tan) > LONGEST_TAN:
        return make_page(submission.view, submission.texts, error=submission.texts("tan.missing"))
    authorisation = find_authorisation(submission.view)
    seen = None if authorisation is None else authorisation.position.wrong_tans
    await submission.redirects.answer(submission.view.session, AnswerKind.TAN, tan, seen)
    return None


async def _confirm(submission: FormSubmission) -> Page | None:
    await submission.redirects.answer(submission.view.session, AnswerKind.CONFIRMED, "")
    return None


async def _come_back(submission: FormSubmission) -> Page | None:
    """From the bank's page by another way than its redirect; the bank knows whether it was confirmed."""
    await submission.redirects.answer(submission.view.session, AnswerKind.RETURNED, "")
    return None


async def _confirm_accounts(submission: FormSubmission) -> Page | None:
    chosen = set()
    for text in submission.form.get("account", []):
        try:
            chosen.add(UUID(text))
        except ValueError:
            continue
    if await submission.redirects.confirm_accounts(submission.view.session, chosen):
        return None
    return make_page(submission.view, submission.texts, error=submission.texts("accounts.missing"))


async def _retry(submission: FormSubmission) -> Page | None:
    await submission.redirects.retry(submission.view.session)
    return None


_ACTIONS: dict[tuple[str, str], Action] = {
    ("legal", "accept"): _accept,
    ("legal", "decline"): _decline,
    ("provider", "choose"): _choose_provider,
    ("credentials", "submit"): _submit_credentials,
    ("credentials", "other-bank"): _choose_again,
    ("connecting", "retry"): _retry,
    ("method", "choose"): _choose_method,
    ("medium", "choose"): _choose_medium,
    ("tan", "submit"): _submit_tan,
    ("confirmation", "confirm"): _confirm,
    ("redirect", "confirm"): _come_back,
    ("accounts", "confirm"): _confirm_accounts,
    ("failed", "retry"): _retry,
    ("failed", "other-bank"): _choose_again,
    **PAYMENT_ACTIONS,
}
