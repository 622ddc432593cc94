"""The pages of a session that adds an access or renews its consent."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from kontor.domain.redirects import Failure, FormStep, UseCase
from kontor.pages.formatting import format_date
from kontor.pages.texts import Texts
from kontor.services.redirects import AccessFormView, is_beginning
from kontor.services.sca import DIALOGUE_LIFETIME
from kontor.webform.accounts import show_account
from kontor.webform.authorisations import Authorisation, make_authorisation
from kontor.webform.flow_pages import SCA_PAGES, FlowPages

RETRY_AFTER = timedelta(seconds=45)  # a beginning that takes longer may have died with its process
STEP_NUMBERS = {"provider": 1, "credentials": 2, "connecting": 2, "accounts": 4}
LATE_FAILURES = (Failure.WRONG_TAN, Failure.TOO_LATE, Failure.REFUSED, Failure.NO_METHOD)
STEP_COUNT = 4
STEP_NAMES = ("one", "two", "three", "four")


class AccessPages(FlowPages):
    def __init__(self, view: AccessFormView) -> None:
        super().__init__(view)
        self._view = view

    @property
    def facts(self) -> Mapping[str, Callable[[Texts], dict[str, Any]]]:
        return {
            "credentials": self._show_credentials,
            "connecting": self._show_connecting,
            "accounts": self._show_accounts,
            "failed": self._show_failed,
        }

    def find_name(self) -> str:
        consent = self._view.consent
        if self.session.step is not FormStep.SCA:
            return self.session.step.lower()
        if consent is None or is_beginning(consent):
            return "connecting"
        return SCA_PAGES.get(consent.dialogue.position.state, "connecting")

    def make_key(self, name: str) -> str:
        session, consent = self.session, self._view.consent
        if name == "credentials":
            provider = "" if session.provider_id is None else session.provider_id.hex
            return f"{name}-{provider}-{session.wrong_logins}"
        if session.step in (FormStep.SCA, FormStep.FAILED) and session.dialogue_id is not None:
            tries = consent.dialogue.position.wrong_tans if consent else 0
            return f"{name}-{session.dialogue_id.hex[:12]}-{tries}"
        return name

    def describe(self, name: str, texts: Texts) -> dict[str, Any]:
        """Which of how many steps, while an access is added."""
        if self.session.use_case is not UseCase.CREATE_ACCOUNT or name in ("legal", "end"):
            return {}
        number = STEP_NUMBERS.get(name, 3)
        if name == "failed":
            number = 3 if self.session.notice in LATE_FAILURES else 2
        return {
            "step_number": number,
            "step_count": STEP_COUNT,
            "step_name": texts(f"steps.{STEP_NAMES[number - 1]}"),
        }

    def describe_end(self, texts: Texts) -> dict[str, Any]:
        access, provider = self._view.access, self._view.provider
        accounts = [] if access is None else [show_account(product, texts) for product in access.products]
        return super().describe_end(texts) | {"done": {"bank": provider and provider.name, "accounts": accounts}}

    def find_authorisation(self) -> Authorisation | None:
        consent = self._view.consent
        if consent is None:
            return None
        return make_authorisation(consent.dialogue, consent.secrets.challenge, consent.dialogue.expires_at)

    def _show_credentials(self, texts: Texts) -> dict[str, Any]:
        return {"asks_account": False, "can_choose_again": self.session.use_case is UseCase.CREATE_ACCOUNT}

    def _show_connecting(self, texts: Texts) -> dict[str, Any]:
        if self._view.consent is None:
            return {"can_retry": False}
        age = datetime.now(UTC) - (self._view.consent.dialogue.expires_at - DIALOGUE_LIFETIME)
        return {"can_retry": age > RETRY_AFTER}

    def _show_accounts(self, texts: Texts) -> dict[str, Any]:
        options = self._view.session.options
        until = options.usable_until
        return {
            "accounts": [show_account(product, texts) for product in self._view.offered],
            "purpose": options.purpose,
            "until": None if until is None else format_date(until, texts.language),
            "error": None,
        }

    def _show_failed(self, texts: Texts) -> dict[str, Any]:
        failure = self.session.notice
        assert failure is not None
        return {
            "text_key": f"failed.{failure.lower()}.text",
            "detail": None,
            "failure": failure.lower(),
            "can_retry": failure.can_retry,
            "can_choose_again": self.session.use_case is UseCase.CREATE_ACCOUNT,
        }
