"""What a user does on a page: each action belongs to the pages that offer it, and to no other."""

from uuid import UUID

from kontor.domain.errors import InvalidError
from kontor.domain.sca_machine import AnswerKind
from kontor.domain.secrets import Secret
from kontor.webform.authorisations import find_authorisation
from kontor.webform.deeds import Action, Deed
from kontor.webform.pages import Page, describe_problems, make_page
from kontor.webform.payment_actions import PAYMENT_ACTIONS, choose_payment_source_again, submit_payment_credentials

LONGEST_TAN = 64


async def act(page: Page, deed: Deed) -> Page | None:
    """Do it. The page again, with what is wrong, or None when the session has moved on."""
    name = deed.value("action")
    if name == "cancel":
        await deed.redirects.leave(deed.view.session)
        return None
    action = _ACTIONS.get((page.name, name))
    return None if action is None else await action(deed)


async def _accept(deed: Deed) -> Page | None:
    await deed.redirects.accept_legal(deed.view.session)
    return None


async def _decline(deed: Deed) -> Page | None:
    await deed.redirects.decline_legal(deed.view.session)
    return None


async def _choose_provider(deed: Deed) -> Page | None:
    try:
        await deed.redirects.choose_provider(deed.view.session, UUID(deed.value("provider")))
    except (ValueError, InvalidError):
        return make_page(deed.view, deed.texts, error=deed.texts("provider.unavailable"))
    return None


async def _submit_credentials(deed: Deed) -> Page | None:
    if deed.view.payment is not None:
        return await submit_payment_credentials(deed)
    provider = deed.view.provider
    if provider is None:
        return None
    values = {
        one.key: deed.value(f"field-{one.key}") if one.is_secret else deed.value(f"field-{one.key}").strip()
        for one in provider.login_fields
    }
    secrets = {key: Secret(value) for key, value in values.items()}
    wrong = await deed.redirects.submit_credentials(deed.view.session, secrets)
    if not wrong:
        return None
    shown = {one.key: values[one.key] for one in provider.login_fields if not one.is_secret}
    problems = describe_problems(provider, values, wrong, deed.texts)
    return make_page(deed.view, deed.texts, values=shown, errors=problems)


async def _choose_again(deed: Deed) -> Page | None:
    if deed.view.payment is not None:
        return await choose_payment_source_again(deed)
    await deed.redirects.choose_again(deed.view.session)
    return None


async def _choose_method(deed: Deed) -> Page | None:
    return await _choose(deed, AnswerKind.METHOD)


async def _choose_medium(deed: Deed) -> Page | None:
    return await _choose(deed, AnswerKind.MEDIUM)


async def _choose(deed: Deed, kind: AnswerKind) -> Page | None:
    if not deed.value("choice"):
        return make_page(deed.view, deed.texts, error=deed.texts("choice.missing"))
    await deed.redirects.answer(deed.view.session, kind, deed.value("choice"))
    return None


async def _submit_tan(deed: Deed) -> Page | None:
    """A TAN is asked for with and without blanks in it; the bank wants it without."""
    tan = "".join(deed.value("tan").split())
    if not tan or len(tan) > LONGEST_TAN:
        return make_page(deed.view, deed.texts, error=deed.texts("tan.missing"))
    authorisation = find_authorisation(deed.view)
    seen = None if authorisation is None else authorisation.position.wrong_tans
    await deed.redirects.answer(deed.view.session, AnswerKind.TAN, tan, seen)
    return None


async def _confirm(deed: Deed) -> Page | None:
    await deed.redirects.answer(deed.view.session, AnswerKind.CONFIRMED, "")
    return None


async def _come_back(deed: Deed) -> Page | None:
    """From the bank's page by another way than its redirect; the bank knows whether it was confirmed."""
    await deed.redirects.answer(deed.view.session, AnswerKind.RETURNED, "")
    return None


async def _confirm_accounts(deed: Deed) -> Page | None:
    chosen = set()
    for text in deed.form.get("account", []):
        try:
            chosen.add(UUID(text))
        except ValueError:
            continue
    if await deed.redirects.confirm_accounts(deed.view.session, chosen):
        return None
    return make_page(deed.view, deed.texts, error=deed.texts("accounts.missing"))


async def _retry(deed: Deed) -> Page | None:
    await deed.redirects.retry(deed.view.session)
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
