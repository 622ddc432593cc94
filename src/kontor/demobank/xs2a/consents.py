"""Consents: what a third party may see, for how long and how often."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import msgspec

from kontor.connectors.base import Answer, Context, Failed, Fetch, State, Step
from kontor.connectors.demo import authentication
from kontor.connectors.demo.scenarios import find_scenario
from kontor.connectors.job_state import serialize_job
from kontor.demobank.faults import Fault
from kontor.demobank.xs2a.aspsp import DemoAspsp
from kontor.demobank.xs2a.authorising import (
    Authoriser,
    Subject,
    choose_approach,
    show_authorisation,
    show_opening,
)
from kontor.demobank.xs2a.bodies import AccountAccess, AccountReference, AuthorisationBody, ConsentBody, make_link
from kontor.demobank.xs2a.dialects import STANDARD, Dialect, OAuthUse
from kontor.demobank.xs2a.exchanges import RefusedError, Request, Response
from kontor.demobank.xs2a.modes import Xs2aMode
from kontor.demobank.xs2a.resources import Approach, Authorisation, BoundedStore, Consent

CONSENT_DAYS = 180
MAX_UNATTENDED = 4
ONE_OFF_MINUTES = 20


class ConsentSubject(Subject):
    def __init__(self, consent: Consent, aspsp: DemoAspsp) -> None:
        self.resource = self._consent = consent
        self._aspsp = aspsp

    def begin(self, login: str, context: Context) -> Step:
        return authentication.begin({"login": login, "job": serialize_job(Fetch())}, find_scenario(login))

    def answer(self, state: State, answer: Answer, context: Context) -> Step | None:
        scenario = find_scenario(state["login"])
        return authentication.resume(state, scenario, answer, self._aspsp.bank, context)

    def finish(self, authorisation: Authorisation) -> None:
        consent = self._consent
        if consent.status != "received":
            return
        if authorisation.status == "finalised":
            consent.status = "valid"
            consent.authorised_at = self._aspsp.read_time()
        else:
            consent.status = "rejected"
        consent.used_on = self._aspsp.today

    def refuse(self, failed: Failed) -> RefusedError:
        return RefusedError("SCA_INVALID", failed.detail or "")


class Consents:
    def __init__(self, aspsp: DemoAspsp, authoriser: Authoriser, dialect: Dialect = STANDARD) -> None:
        self._aspsp = aspsp
        self._authoriser = authoriser
        self._dialect = dialect
        self._kept: BoundedStore[Consent] = BoundedStore()

    def create(self, request: Request) -> Response:
        body = request.read_body(ConsentBody)
        today = self._aspsp.today
        if body.valid_until < today:
            raise RefusedError("PERIOD_INVALID", "validUntil lies in the past.")
        if not any(value is not msgspec.UNSET for value in msgspec.structs.asdict(body.access).values()):
            raise RefusedError("FORMAT_ERROR", "access is empty.")
        number, login = str(uuid4()), request.login
        consent = Consent(
            number,
            f"/v1/consents/{number}",
            login,
            choose_approach(login),
            access=body.access,
            is_recurring=body.recurring_indicator,
            valid_until=min(body.valid_until, today + timedelta(days=CONSENT_DAYS)),
            frequency=min(body.frequency_per_day, MAX_UNATTENDED) if body.recurring_indicator else 1,
            used_on=today,
        )
        authorisation = None
        if self._dialect.oauth is OAuthUse.FOR_CONSENT:
            consent.approach = Approach.REDIRECT
            self._kept.put(number, consent)
            links = {"self": consent.path, "status": f"{consent.path}/status", "scaOAuth": self._dialect.discovery_path}
            body_out: dict[str, Any] = {"consentStatus": consent.status, "consentId": number}
            body_out["_links"] = {name: make_link(path) for name, path in links.items()}
            return Response(201, body_out, {"ASPSP-SCA-Approach": str(consent.approach)} | request.locate(consent.path))
        if consent.approach is Approach.REDIRECT and not request.has("tpp-explicit-authorisation-preferred"):
            authorisation = self._authoriser.open(ConsentSubject(consent, self._aspsp), request)
        self._kept.put(number, consent)
        shown, headers = show_opening(consent, authorisation)
        body_out = {"consentStatus": consent.status, "consentId": number, **shown}
        return Response(201, body_out, headers | request.locate(consent.path))

    def read(self, request: Request, consent_id: str) -> Response:
        consent = self.find(consent_id)
        shown = {
            "access": msgspec.to_builtins(consent.access),
            "recurringIndicator": consent.is_recurring,
            "validUntil": str(consent.valid_until),
            "frequencyPerDay": consent.frequency,
            "lastActionDate": str(consent.used_on),
            "consentStatus": consent.status,
        }
        if consent.status == "valid":
            shown["_links"] = {"account": make_link("/v1/accounts")}
        return Response(200, shown)

    def read_status(self, request: Request, consent_id: str) -> Response:
        return Response(200, {"consentStatus": self.find(consent_id).status})

    def delete(self, request: Request, consent_id: str) -> Response:
        consent = self.find(consent_id)
        with consent.lock:
            if consent.status in ("received", "valid"):
                consent.status = "terminatedByTpp"
                for authorisation in consent.authorisations.values():
                    authorisation.status = authorisation.status if authorisation.is_over else "failed"
        return Response(204)

    def grant(self, consent_id: str, login: str) -> None:
        """The customer has allowed it at the OAuth server."""
        consent = self.find(consent_id)
        with consent.lock:
            consent.login = login
            consent.status = "valid"
            consent.authorised_at = self._aspsp.read_time()

    def grant_all(self, login: str) -> Consent:
        """What a token allows at a bank without consents."""
        number, today = str(uuid4()), self._aspsp.today
        access = AccountAccess(all_psd2="allAccounts")
        until = today + timedelta(days=CONSENT_DAYS)
        consent = Consent(number, f"/v1/consents/{number}", login, Approach.REDIRECT, access=access, valid_until=until)
        self._kept.put(number, consent)
        self.grant(number, login)
        return consent

    # Authorisations

    def authorise(self, request: Request, consent_id: str) -> Response:
        body = request.read_body(AuthorisationBody)
        consent = self.find(consent_id)
        with consent.lock:
            if consent.status != "received":
                raise RefusedError("STATUS_INVALID", "Diese Einwilligung ist nicht mehr offen.")
            return show_authorisation(self._authoriser.open(ConsentSubject(consent, self._aspsp), request, body), 201)

    def list_authorisations(self, request: Request, consent_id: str) -> Response:
        return Response(200, {"authorisationIds": list(self.find(consent_id).authorisations)})

    def read_authorisation(self, request: Request, consent_id: str, authorisation_id: str) -> Response:
        consent = self.find(consent_id, is_looking=False)
        with consent.lock:
            authorisation = _find(consent, authorisation_id)
            self._authoriser.look(ConsentSubject(consent, self._aspsp), authorisation)
            return Response(200, {"scaStatus": authorisation.status})

    def update_authorisation(self, request: Request, consent_id: str, authorisation_id: str) -> Response:
        body = request.read_body(AuthorisationBody)
        consent = self.find(consent_id)
        with consent.lock:
            authorisation = _find(consent, authorisation_id)
            self._authoriser.update(ConsentSubject(consent, self._aspsp), authorisation, request, body)
            return show_authorisation(authorisation, 200)

    # Use

    def find(self, consent_id: str, *, is_looking: bool = True) -> Consent:
        consent = self._kept.find(consent_id)
        if consent is None:
            raise RefusedError("CONSENT_UNKNOWN", "Diese Einwilligung gibt es nicht.")
        with consent.lock:
            if is_looking:
                for authorisation in consent.authorisations.values():
                    if authorisation.approach is Approach.REDIRECT:
                        self._authoriser.look(ConsentSubject(consent, self._aspsp), authorisation)
            if consent.status == "valid" and self._is_over(consent):
                consent.status = "expired"
        return consent

    def use(self, request: Request, part: str) -> Consent:
        """The consent of this request, if it holds, and counted if nobody sits in front of the screen."""
        consent = self.find(request.headers["consent-id"])
        is_short = Xs2aMode.CONSENT_ENDS_EARLY in self._aspsp.modes and not request.is_attended
        if is_short or request.visit.fault is Fault.EARLY_END:
            consent.status = "expired"
        if consent.status == "expired":
            raise RefusedError("CONSENT_EXPIRED", "Die Einwilligung ist abgelaufen.")
        if consent.status != "valid":
            raise RefusedError("CONSENT_INVALID", "Die Einwilligung gilt nicht.")
        with consent.lock:
            consent.used_on = self._aspsp.today
            if not request.is_attended:
                key = (self._aspsp.today, part)
                if consent.uses.get(key, 0) >= consent.frequency:
                    raise RefusedError("ACCESS_EXCEEDED", "Heute wurde oft genug ohne den Kunden gefragt.")
                consent.uses[key] = consent.uses.get(key, 0) + 1
        return consent

    def _is_over(self, consent: Consent) -> bool:
        if consent.valid_until < self._aspsp.today:
            return True
        is_fresh = self.is_fresh(consent, ONE_OFF_MINUTES)
        return not consent.is_recurring and not is_fresh

    def is_fresh(self, consent: Consent, minutes: int) -> bool:
        """Has the customer authenticated just now?"""
        at = consent.authorised_at
        return at is not None and self._aspsp.read_time() - at <= timedelta(minutes=minutes)


def _find(consent: Consent, authorisation_id: str) -> Authorisation:
    authorisation = consent.authorisations.get(authorisation_id)
    if authorisation is None:
        raise RefusedError("RESOURCE_UNKNOWN", "Diese Freigabe gibt es nicht.")
    return authorisation


def covers(consent: Consent, iban: str | None, part: str) -> bool:
    """May this part (accounts, balances, transactions) of the account be seen?"""
    access = consent.access
    if access.all_psd2 is not msgspec.UNSET:
        return True
    if access.available_accounts_with_balance is not msgspec.UNSET:
        return part in ("accounts", "balances")
    if access.available_accounts is not msgspec.UNSET:
        return part == "accounts"
    parts = ("accounts", "balances", "transactions") if part == "accounts" else (part,)
    listed = [references for name in parts if (references := getattr(access, name)) is not msgspec.UNSET]
    named: list[AccountReference] = [reference for references in listed for reference in references]
    # Lists without any account leave the choice to the customer at the bank, who takes all of them.
    is_open = all(not references for references in _list_parts(consent))
    return bool(listed) and (is_open or any(reference.iban == iban for reference in named))


def _list_parts(consent: Consent) -> list[list[AccountReference]]:
    access = consent.access
    return [
        references
        for references in (access.accounts, access.balances, access.transactions)
        if references is not msgspec.UNSET
    ]
