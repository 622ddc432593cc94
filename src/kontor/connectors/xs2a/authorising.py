"""Strong customer authentication, driven by the links a bank offers and nothing else.

The state says what is open (`stage`) and which links carry on. What cannot be taken back about a payment is the TAN,
the confirmation of a redirect, the push to the customer's app, or (where the bank wants no confirmation) sending the
customer to its page: the send guard is asked directly before.
"""

from base64 import b64decode
from binascii import Error as NoBase64
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from kontor.connectors.base import (
    Answer,
    ChooseMethod,
    FailureKind,
    NeedConfirmation,
    NeedMethod,
    NeedRedirect,
    NeedTan,
    Poll,
    Returned,
    State,
    Step,
    Tan,
)
from kontor.connectors.xs2a.banks import Approach, Xs2aBank
from kontor.connectors.xs2a.client import Client
from kontor.connectors.xs2a.failures import NoResponseError, RefusedError, StoppedError
from kontor.connectors.xs2a.messages import Authorising, ChallengeMessage, Links, ScaMethodMessage
from kontor.domain.sca import Challenge, MediumClass, ScaMedium, ScaMethod, find_start_code

MAX_HOPS = 8
DONE = ("finalised", "exempted")
# With which link of a new consent or payment its authorisation starts, in this order.
WITH_PIN = "startAuthorisationWithPsuAuthentication"
WITH_METHOD = "startAuthorisationWithAuthenticationMethodSelection"
WITH_TAN = "startAuthorisationWithTransactionAuthorisation"
PLAIN = ("startAuthorisationWithPsuIdentification", "startAuthorisation")
# What a customer holds in hand, by the type of the method; e-mail is no medium.
MEDIA = {
    "SMS_OTP": MediumClass.MOBILE,
    "PHOTO_OTP": MediumClass.MOBILE,
    "PUSH_OTP": MediumClass.PUSH,
    "CHIP_OTP": MediumClass.GENERATOR,
}
UNKNOWN_WAYS = ("scaOAuth", "startAuthorisationWithEncryptedPsuAuthentication")


class Authoriser:
    """`send_guard` is asked before a payment can be executed; None where nothing is paid. `has_left`: it was passed."""

    def __init__(self, client: Client, bank: Xs2aBank, state: State, send_guard: Callable[[], bool] | None) -> None:
        self._client = client
        self._bank = bank
        self.state = state
        self._send_guard = send_guard
        self.has_left = bool(state.get("has_left"))

    # Starting

    def open(self, opened: Authorising, approach: str | None) -> Step | None:
        """From a new consent or payment to the first question, or to None if there is none."""
        links = opened.links
        if "scaRedirect" in links or opened.sca_status in DONE:
            return self._follow_links(opened)
        if WITH_PIN in links:
            body = {"psuData": {"password": self._client.reveal_pin()}}
            return self._follow_links(self._send("POST", _href(links, WITH_PIN), body))
        if WITH_METHOD in links:
            return self._ask_method(opened, "POST", _href(links, WITH_METHOD))
        if WITH_TAN in links:
            return self._ask_tan(opened, "POST", _href(links, WITH_TAN))
        for name in PLAIN:
            if name in links:
                if approach not in (Approach.EMBEDDED, Approach.REDIRECT):
                    self._pass_send_guard()  # the customer's app may ring at once
                return self._follow_links(self._send("POST", _href(links, name), {}, is_plain=True))
        return self._follow_links(opened)

    # Answers

    def answer(self, answer: Answer) -> Step | None:
        """The next question, or None when the customer is authenticated."""
        state = self.state
        match state["stage"], answer:
            case "method", ChooseMethod(code):
                return self._choose(code)
            case "tan", Tan(value):
                return self._send_tan(value.reveal())
            case "confirmation", Poll():
                return self._poll()
            case "redirect", Returned(query):
                return self._return(query)
        raise StoppedError(FailureKind.REJECTED, "this answer does not fit the open step")

    def _choose(self, code: str) -> Step | None:
        chosen = next((sca_method for sca_method in self.state["methods"] if sca_method["code"] == code), None)
        if chosen is None:
            raise StoppedError(FailureKind.REJECTED, "unknown method")
        self.state = self.state | {"chosen": code}
        if chosen["kind"] == "PUSH_OTP":
            self._pass_send_guard()
        method, link = self.state["way"]
        return self._follow_links(self._send(method, link, {"authenticationMethodId": code}))

    def _send_tan(self, tan: str) -> Step | None:
        if not tan:
            raise StoppedError(FailureKind.WRONG_TAN)
        self._pass_send_guard()
        method, link = self.state["way"]
        try:
            return self._follow_links(self._send(method, link, {"scaAuthenticationData": tan}))
        except RefusedError as error:
            if error.kind is FailureKind.WRONG_CREDENTIALS:
                raise StoppedError(FailureKind.WRONG_TAN) from None
            raise

    def _poll(self) -> Step | None:
        status = self._client.get(self.state["sca"], Authorising).sca_status
        if status in DONE:
            return None
        if status == "failed":
            raise StoppedError(FailureKind.CANCELLED)
        return self._ask_confirmation()

    def _return(self, query: str) -> Step | None:
        """What the browser brought along proves nothing: the bank is asked."""
        if "sca" not in self.state:
            if self._send_guard is not None:
                raise NoResponseError("the bank does not tell what became of the authorisation")
            return None  # whether the consent is valid is asked anyway
        status = self._client.get(self.state["sca"], Authorising).sca_status
        if status in DONE:
            return None
        if status != "unconfirmed" or "confirm" not in self.state:
            raise StoppedError(FailureKind.CANCELLED)
        codes = parse_qs(query).get(self._bank.confirmation_parameter)
        if not codes:
            raise StoppedError(FailureKind.REJECTED, "the bank's page brought no confirmation code")
        self._pass_send_guard()
        self._send("PUT", self.state["confirm"], {"confirmationCode": codes[0]})
        return None

    # Following links

    def _follow_links(self, answer: Authorising) -> Step | None:
        for _ in range(MAX_HOPS):
            links = answer.links
            self._note_methods(answer)
            if answer.sca_status in DONE:
                return None
            if answer.sca_status == "failed":
                raise StoppedError(FailureKind.REJECTED, answer.psu_message)
            if "scaRedirect" in links:
                return self._redirect(answer)
            if "authoriseTransaction" in links:
                return self._ask_tan(answer, "PUT", _href(links, "authoriseTransaction"))
            if "selectAuthenticationMethod" in links:
                return self._ask_method(answer, "PUT", _href(links, "selectAuthenticationMethod"))
            with_pin = next((name for name in ("updatePsuAuthentication", WITH_PIN) if name in links), None)
            if with_pin is not None:
                body = {"psuData": {"password": self._client.reveal_pin()}}
                answer = self._send("PUT", _href(links, with_pin), body)
            elif "updatePsuIdentification" in links:
                answer = self._send("PUT", _href(links, "updatePsuIdentification"), {})
            elif "scaStatus" in links and not any(way in links for way in UNKNOWN_WAYS):
                self._pass_send_guard()
                text = answer.psu_message or "Bitte bestätigen Sie den Auftrag in Ihrer Banking-App."
                self.state = self.state | {"sca": _href(links, "scaStatus"), "text": text}
                return self._ask_confirmation()
            else:
                raise StoppedError(FailureKind.NO_SUPPORTED_METHOD)
        raise NoResponseError("the bank goes round in circles")

    def _send(self, method: str, link: str, body: Any, *, is_plain: bool = False) -> Authorising:
        headers = self._client.identify() | (self._client.prefer() if is_plain else {})
        return self._client.read(self._client.call(method, link, body, headers), Authorising)

    def _note_methods(self, answer: Authorising) -> None:
        if answer.sca_methods:
            self.state = self.state | {"methods": [_serialize_method(sca_method) for sca_method in answer.sca_methods]}
        chosen = answer.chosen_sca_method
        if chosen is not None:
            known = self.state.get("methods", [])
            if all(sca_method["code"] != chosen.authentication_method_id for sca_method in known):
                known = [*known, _serialize_method(chosen)]
            self.state = self.state | {"methods": known, "chosen": chosen.authentication_method_id}

    def _ask_method(self, answer: Authorising, method: str, link: str) -> Step:
        self._note_methods(answer)
        methods = deserialize_methods(self.state)
        if not methods:
            raise StoppedError(FailureKind.NO_SUPPORTED_METHOD)
        self.state = self.state | {"stage": "method", "way": [method, link]}
        return NeedMethod(methods, self.state)

    def _ask_tan(self, answer: Authorising, method: str, link: str) -> Step:
        self._note_methods(answer)
        self.state = self.state | {"stage": "tan", "way": [method, link]}
        chosen = next(
            (
                sca_method
                for sca_method in self.state.get("methods", [])
                if sca_method["code"] == self.state.get("chosen")
            ),
            None,
        )
        # A challenge is the bank's word that nothing is executed yet, also after a TAN: another may be sent.
        return NeedTan(_read_challenge(answer, chosen), self.state, is_held=not self.state.get("has_left"))

    def _ask_confirmation(self) -> Step:
        self.state = self.state | {"stage": "confirmation"}
        chosen = next(
            (
                sca_method
                for sca_method in self.state.get("methods", [])
                if sca_method["code"] == self.state.get("chosen")
            ),
            None,
        )
        name = "Entkoppelte Authentifizierung" if chosen is None else chosen["name"]
        return NeedConfirmation(Challenge(name, self.state["text"]), self.state)

    def _redirect(self, answer: Authorising) -> Step:
        links = answer.links
        url = self._client.check_page(_href(links, "scaRedirect"))
        state = self.state | {"stage": "redirect"}
        if "scaStatus" in links:
            state["sca"] = _href(links, "scaStatus")
        if "confirmation" in links:
            state["confirm"] = _href(links, "confirmation")
        self.state = state
        if "confirmation" not in links:
            self._pass_send_guard()
        return NeedRedirect(url, self.state)

    def _pass_send_guard(self) -> None:
        if self._send_guard is None or self.state.get("has_left"):
            return
        if not self._send_guard():
            raise StoppedError(FailureKind.INTERNAL)
        self.has_left = True
        # After a wrong TAN another may follow, and the send guard is asked again; all else goes on by itself.
        if self.state.get("stage") != "tan":
            self.state = self.state | {"has_left": True}


def _href(links: Links, name: str) -> str:
    return links[name].href


def _serialize_method(sca_method: ScaMethodMessage) -> State:
    name = sca_method.name or sca_method.authentication_type or sca_method.authentication_method_id
    return {
        "code": sca_method.authentication_method_id,
        "name": name,
        "hint": sca_method.explanation,
        "kind": sca_method.authentication_type,
        "is_named": bool(sca_method.name),
    }


def deserialize_methods(state: State) -> tuple[ScaMethod, ...]:
    return tuple(
        ScaMethod(sca_method["code"], sca_method["name"], sca_method["hint"]) for sca_method in state.get("methods", [])
    )


def deserialize_media(state: State) -> tuple[ScaMedium, ...]:
    """The standard has no media: each method of a customer is one, named by the customer."""
    return tuple(
        ScaMedium(sca_method["name"], MEDIA[sca_method["kind"]])
        for sca_method in state.get("methods", [])
        if sca_method["kind"] in MEDIA and sca_method.get("is_named")
    )


def _read_challenge(answer: Authorising, chosen: State | None) -> Challenge:
    data = answer.challenge_data or ChallengeMessage()
    kind = "" if chosen is None else chosen["kind"]
    text = data.additional_information or answer.psu_message or "Bitte geben Sie die TAN ein."
    codes = (data.data,) if isinstance(data.data, str) else data.data
    photo = None
    if data.image is not None:
        try:
            photo = b64decode(data.image, validate=True)
        except (NoBase64, ValueError):
            raise NoResponseError("the bank's picture cannot be read") from None
    is_chip = kind == "CHIP_OTP" and bool(codes)
    if codes and not is_chip:
        text = " ".join((text, *codes))
    name = "TAN" if chosen is None else chosen["name"]
    if is_chip:
        return Challenge(name, text, hhd=find_start_code(codes[0]), hhd_uc=codes[0], photo=photo)
    return Challenge(name, text, photo=photo)
