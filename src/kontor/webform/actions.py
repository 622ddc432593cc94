"""What a user does on a page: each action belongs to the pages that offer it, and to no other."""

from uuid import UUID

from kontor.domain.errors import InvalidError
from kontor.domain.sca_machine import AnswerKind
from kontor.services.redirects import PaymentFormView
from kontor.webform.access_actions import ACCESS_ACTIONS
from kontor.webform.pages import Page, make_page, pages_of
from kontor.webform.payment_actions import PAYMENT_ACTIONS
from kontor.webform.submissions import Action, FormSubmission

MAX_TAN_LENGTH = 64


async def act(page: Page, submission: FormSubmission) -> Page | None:
    """Do it. The page again, with what is wrong, or None when the session has moved on."""
    name = submission.value("action")
    if name == "cancel":
        await submission.redirects.leave(submission.view.session)
        return None
    flow = PAYMENT_ACTIONS if isinstance(submission.view, PaymentFormView) else ACCESS_ACTIONS
    action = _ACTIONS.get((page.name, name)) or flow.get((page.name, name))
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
    if not tan or len(tan) > MAX_TAN_LENGTH:
        return make_page(submission.view, submission.texts, error=submission.texts("tan.missing"))
    authorisation = pages_of(submission.view).find_authorisation()
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


async def _retry(submission: FormSubmission) -> Page | None:
    await submission.redirects.retry(submission.view.session)
    return None


_ACTIONS: dict[tuple[str, str], Action] = {
    ("legal", "accept"): _accept,
    ("legal", "decline"): _decline,
    ("provider", "choose"): _choose_provider,
    ("connecting", "retry"): _retry,
    ("method", "choose"): _choose_method,
    ("medium", "choose"): _choose_medium,
    ("tan", "submit"): _submit_tan,
    ("confirmation", "confirm"): _confirm,
    ("redirect", "confirm"): _come_back,
    ("failed", "retry"): _retry,
}
