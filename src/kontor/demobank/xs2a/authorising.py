"""How customers authenticate here: embedded with PIN, method and TAN, decoupled in their app, or on the bank's page.

The steps themselves are those of the demo bank in process; this file puts them into the standard's words.
"""

from base64 import b64encode
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from kontor.connectors.base import (
    Answer,
    ChooseMedium,
    ChooseMethod,
    Context,
    Done,
    Failed,
    FailureKind,
    NeedConfirmation,
    NeedMedium,
    NeedMethod,
    NeedRedirect,
    NeedTan,
    Poll,
    Returned,
    State,
    Step,
    Tan,
)
from kontor.connectors.demo.scenarios import APP_TAN, CHIP_TAN, LIST_TAN, PHOTO_TAN, REDIRECT, find_scenario
from kontor.demobank.faults import Fault
from kontor.demobank.xs2a.aspsp import DemoAspsp
from kontor.demobank.xs2a.bodies import AuthorisationBody, make_link
from kontor.demobank.xs2a.exchanges import RefusedError, Request, Response
from kontor.demobank.xs2a.modes import Xs2aMode
from kontor.demobank.xs2a.resources import Approach, Authorisation, Payment, Resource
from kontor.domain.callbacks import add_to_query
from kontor.domain.sca import Challenge
from kontor.domain.secrets import Secret

MAX_WRONG_TANS = 3
KINDS = {CHIP_TAN.code: "CHIP_OTP", PHOTO_TAN.code: "PHOTO_OTP", APP_TAN.code: "PUSH_OTP", LIST_TAN.code: "SMTP_OTP"}


class Subject:
    """What is authorised: how its authentication begins and goes on, and what follows when it is done.

    `begin` and `answer` return the next step; `answer` None when the customer is authenticated. `finish` is told how it
    ended.
    """

    resource: Resource
    needs_confirmation: bool = False

    def begin(self, login: str, context: Context) -> Step:
        raise NotImplementedError

    def answer(self, state: State, answer: Answer, context: Context) -> Step | None:
        raise NotImplementedError

    def finish(self, authorisation: Authorisation) -> None:
        raise NotImplementedError

    def refuse(self, failed: Failed) -> RefusedError:
        raise NotImplementedError


def choose_approach(login: str | None) -> Approach:
    if login is None:
        return Approach.EMBEDDED
    methods = find_scenario(login).methods
    if REDIRECT in methods:
        return Approach.REDIRECT
    return Approach.DECOUPLED if APP_TAN in methods else Approach.EMBEDDED


class Authoriser:
    def __init__(self, aspsp: DemoAspsp, draw_code: Callable[[], str]) -> None:
        self._aspsp = aspsp
        self._draw_code = draw_code

    # Starting

    def open(self, subject: Subject, request: Request, body: AuthorisationBody | None = None) -> Authorisation:
        """A new authorisation, as far as what is known leads."""
        resource = subject.resource
        login = request.login or resource.login
        number = str(uuid4())
        authorisation = Authorisation(
            number, f"{resource.authorisations_path}/{number}", choose_approach(login), request.redirect_url, login
        )
        if login is not None:
            resource.login = login
            resource.approach = authorisation.approach
            authorisation.status = "psuIdentified"
            self._identify(subject, authorisation)
        if body is not None:
            self._take(subject, authorisation, body)
        resource.authorisations[number] = authorisation
        return authorisation

    def update(self, subject: Subject, authorisation: Authorisation, request: Request, body: AuthorisationBody) -> None:
        if authorisation.is_over:
            raise RefusedError("STATUS_INVALID", "Diese Freigabe ist abgeschlossen.")
        if authorisation.login is None and request.login is not None:
            authorisation.login = subject.resource.login = request.login
            authorisation.approach = subject.resource.approach = choose_approach(request.login)
            authorisation.status = "psuIdentified"
            self._identify(subject, authorisation)
        if request.visit.fault is Fault.UNEXPECTED_TAN and authorisation.status == "scaMethodSelected":
            return  # the challenge is sent again, and wants another TAN
        self._take(subject, authorisation, body)

    def _identify(self, subject: Subject, authorisation: Authorisation) -> None:
        """Decoupled and redirect need nothing but the customer's name: they start at once."""
        assert authorisation.login is not None
        if authorisation.approach is Approach.EMBEDDED:
            return
        self._aspsp.check_customer(authorisation.login)
        self._aspsp.find_person(authorisation.login)
        if authorisation.approach is Approach.REDIRECT:
            if authorisation.callback_url is None:
                raise RefusedError("FORMAT_ERROR", "The header TPP-Redirect-URI is missing.")
            if subject.needs_confirmation:
                authorisation.code = self._draw_code()
        self._begin(subject, authorisation)

    def _begin(self, subject: Subject, authorisation: Authorisation) -> None:
        assert authorisation.login is not None
        step = subject.begin(authorisation.login, self._tell(authorisation))
        if isinstance(step, Failed):
            raise subject.refuse(step)
        if isinstance(step, Done):
            authorisation.status = "finalised"
            return
        assert isinstance(step, NeedMethod)
        media = find_scenario(authorisation.login).media
        names = [medium.name for medium in media] if len(media) > 1 else [None]
        choices = [(method, name) for method in step.methods for name in names]
        if Xs2aMode.METHOD_REPLACED in self._aspsp.modes:
            choices = choices[-1:]
        authorisation.methods = {}
        shown = []
        for number, (method, name) in enumerate(choices):
            key = method.code if name is None else f"{method.code}.{number}"
            authorisation.methods[key] = (method.code, name)
            title = method.name if name is None else f"{method.name} ({name})"
            kind = KINDS.get(method.code, "SMS_OTP")
            sca_method = {"authenticationType": kind, "authenticationMethodId": key, "name": title}
            shown.append(sca_method | ({"explanation": method.hint} if method.hint else {}))
        authorisation.state = step.state
        authorisation.shown = {"scaMethods": shown}
        if len(choices) == 1:
            self._choose(subject, authorisation, next(iter(authorisation.methods)))

    # Answers of the customer

    def _take(self, subject: Subject, authorisation: Authorisation, body: AuthorisationBody) -> None:
        if body.psu_data is not None:
            self._check_pin(subject, authorisation, body.psu_data.password)
        elif body.authentication_method_id is not None:
            if authorisation.status != "psuAuthenticated":
                raise RefusedError("STATUS_INVALID", "Dafür ist es nicht die Zeit.")
            self._choose(subject, authorisation, body.authentication_method_id)
        elif body.sca_authentication_data is not None:
            if authorisation.approach is not Approach.EMBEDDED or authorisation.status != "scaMethodSelected":
                raise RefusedError("STATUS_INVALID", "Dafür ist es nicht die Zeit.")
            self._check_tan(subject, authorisation, body.sca_authentication_data)
        elif body.confirmation_code is not None:
            self._confirm(subject, authorisation, body.confirmation_code)

    def _check_pin(self, subject: Subject, authorisation: Authorisation, pin: str | None) -> None:
        if authorisation.login is None or pin is None:
            raise RefusedError("PSU_CREDENTIALS_INVALID", "Die Zugangsdaten fehlen.")
        if authorisation.approach is not Approach.EMBEDDED or authorisation.status not in ("received", "psuIdentified"):
            raise RefusedError("STATUS_INVALID", "Dafür ist es nicht die Zeit.")
        if Xs2aMode.PIN_REFUSED_LATER in self._aspsp.modes and isinstance(subject.resource, Payment):
            raise RefusedError("PSU_CREDENTIALS_INVALID", "Die Zugangsdaten sind falsch.")
        self._aspsp.check_pin(authorisation.login, pin)
        authorisation.status = "psuAuthenticated"
        self._begin(subject, authorisation)

    def _choose(self, subject: Subject, authorisation: Authorisation, key: str) -> None:
        if key not in authorisation.methods:
            raise RefusedError("SCA_METHOD_UNKNOWN", "Dieses Verfahren gibt es nicht.")
        method, medium = authorisation.methods[key]
        context = self._tell(authorisation)
        assert authorisation.state is not None
        step = subject.answer(authorisation.state, ChooseMethod(method), context)
        if isinstance(step, NeedMedium):
            step = subject.answer(step.state, ChooseMedium(medium or step.media[0].name), context)
        chosen = next(
            sca_method
            for sca_method in authorisation.shown["scaMethods"]
            if sca_method["authenticationMethodId"] == key
        )
        match step:
            case NeedTan(challenge, state):
                authorisation.status = "scaMethodSelected"
                authorisation.shown = {"chosenScaMethod": chosen, "challengeData": _show_challenge(challenge)}
            case NeedConfirmation(challenge, state):
                authorisation.status = "started"
                authorisation.shown = {"chosenScaMethod": chosen}
                authorisation.message = challenge.instructions
            case NeedRedirect(url, state):
                authorisation.status = "started"
                authorisation.redirect_url = url
                authorisation.shown = {}
            case _:
                raise RefusedError("SCA_INVALID", "Die Freigabe ist nicht möglich.")
        authorisation.state = state

    def _check_tan(self, subject: Subject, authorisation: Authorisation, tan: str) -> None:
        assert authorisation.state is not None
        step = subject.answer(authorisation.state, Tan(Secret(tan)), self._tell(authorisation))
        if isinstance(step, Failed) and step.kind is FailureKind.WRONG_TAN:
            authorisation.wrong_tans += 1
            if authorisation.wrong_tans >= MAX_WRONG_TANS:
                authorisation.status = "failed"
                subject.finish(authorisation)
            raise RefusedError("PSU_CREDENTIALS_INVALID", "Die TAN ist falsch.")
        self._end(subject, authorisation, step)

    def _confirm(self, subject: Subject, authorisation: Authorisation, code: str) -> None:
        self.look(subject, authorisation)
        if authorisation.status != "unconfirmed":
            raise RefusedError("STATUS_INVALID", "Dafür ist es nicht die Zeit.")
        if code != authorisation.code:
            authorisation.status = "failed"
            subject.finish(authorisation)
            raise RefusedError("SCA_INVALID", "Der Bestätigungscode ist falsch.")
        assert authorisation.state is not None
        self._end(subject, authorisation, subject.answer(authorisation.state, Returned(""), self._tell(authorisation)))

    def look(self, subject: Subject, authorisation: Authorisation) -> None:
        """What the customer has done meanwhile, in his app or on the bank's page."""
        if authorisation.status != "started" or authorisation.state is None:
            return
        if authorisation.approach is Approach.DECOUPLED:
            step = subject.answer(authorisation.state, Poll(), self._tell(authorisation))
            if isinstance(step, NeedConfirmation):
                authorisation.state = step.state
                return
            self._end(subject, authorisation, step)
        elif self._aspsp.bank.is_page_confirmed(authorisation.state["page"]):
            if authorisation.code is not None:
                authorisation.status = "unconfirmed"
                return
            self._end(
                subject, authorisation, subject.answer(authorisation.state, Returned(""), self._tell(authorisation))
            )

    def _end(self, subject: Subject, authorisation: Authorisation, step: Step | None) -> None:
        """The customer has done his part; what he ordered may be refused all the same, and its status says so."""
        if isinstance(step, Failed) and step.is_outcome_unknown:
            raise RefusedError("SERVICE_UNAVAILABLE")
        authorisation.status = "finalised"
        authorisation.shown = {}
        authorisation.message = None
        subject.finish(authorisation)

    def _tell(self, authorisation: Authorisation) -> Context:
        url = authorisation.callback_url
        if url is not None and authorisation.code is not None:
            url = add_to_query(url, code=authorisation.code)
        return self._aspsp.make_context(url)


def _show_challenge(challenge: Challenge) -> dict[str, Any]:
    shown: dict[str, Any] = {"additionalInformation": challenge.instructions, "otpFormat": "integer"}
    if challenge.photo is not None:
        shown["image"] = b64encode(challenge.photo).decode()
    if challenge.hhd_uc is not None:
        shown["data"] = [challenge.hhd_uc]
    return shown


def list_links(authorisation: Authorisation) -> dict[str, Any]:
    """What can be done next."""
    link = make_link(authorisation.path)
    links: dict[str, Any] = {"scaStatus": link}
    if authorisation.redirect_url is not None and not authorisation.is_over:
        links["scaRedirect"] = make_link(authorisation.redirect_url)
        if authorisation.code is not None:
            links["confirmation"] = link
    elif authorisation.status == "received":
        links["updatePsuIdentification"] = link
    elif authorisation.status == "psuIdentified":
        links["updatePsuAuthentication"] = link
    elif authorisation.status == "psuAuthenticated":
        links["selectAuthenticationMethod"] = link
    elif authorisation.status == "scaMethodSelected":
        links["authoriseTransaction"] = link
    return links


def show_authorisation(authorisation: Authorisation, status: int) -> Response:
    body = {"scaStatus": authorisation.status, **authorisation.shown, "_links": list_links(authorisation)}
    if status == 201:
        body["authorisationId"] = authorisation.id
    if authorisation.message is not None:
        body["psuMessage"] = authorisation.message
    return Response(status, body, {"ASPSP-SCA-Approach": str(authorisation.approach)})


def show_opening(resource: Resource, authorisation: Authorisation | None) -> tuple[dict[str, Any], dict[str, str]]:
    """What a new consent or payment says about its authorisation: body with links, and headers."""
    links = {"self": make_link(resource.path), "status": make_link(f"{resource.path}/status")}
    start = make_link(resource.authorisations_path)
    headers = {"ASPSP-SCA-Approach": str(resource.approach)}
    if authorisation is not None:
        shown = list_links(authorisation)
        return {"scaStatus": authorisation.status, "_links": links | shown}, headers
    if resource.login is None:
        links["startAuthorisationWithPsuIdentification"] = start
    elif resource.approach is Approach.EMBEDDED:
        links["startAuthorisationWithPsuAuthentication"] = start
    else:
        links["startAuthorisation"] = start
    return {"_links": links}, headers
