"""What a user does on the pages of an access."""

from uuid import UUID

from kontor.domain.secrets import Secret
from kontor.webform.pages import Page, describe_problems, make_page
from kontor.webform.submissions import Action, FormSubmission


async def _submit_credentials(submission: FormSubmission) -> Page | None:
    provider = submission.view.provider
    if provider is None:
        return None
    values = {
        field.key: submission.value(f"field-{field.key}")
        if field.is_secret
        else submission.value(f"field-{field.key}").strip()
        for field in provider.login_fields
    }
    secrets = {key: Secret(value) for key, value in values.items()}
    wrong = await submission.redirects.accesses.submit_credentials(submission.view.session, secrets)
    if not wrong:
        return None
    shown = {field.key: values[field.key] for field in provider.login_fields if not field.is_secret}
    problems = describe_problems(provider, values, wrong, submission.texts)
    return make_page(submission.view, submission.texts, values=shown, errors=problems)


async def _choose_again(submission: FormSubmission) -> Page | None:
    await submission.redirects.accesses.choose_again(submission.view.session)
    return None


async def _confirm_accounts(submission: FormSubmission) -> Page | None:
    chosen = set()
    for text in submission.form.get("account", []):
        try:
            chosen.add(UUID(text))
        except ValueError:
            continue
    if await submission.redirects.accesses.confirm_accounts(submission.view.session, chosen):
        return None
    return make_page(submission.view, submission.texts, error=submission.texts("accounts.missing"))


ACCESS_ACTIONS: dict[tuple[str, str], Action] = {
    ("credentials", "submit"): _submit_credentials,
    ("credentials", "other-bank"): _choose_again,
    ("accounts", "confirm"): _confirm_accounts,
    ("failed", "other-bank"): _choose_again,
}
