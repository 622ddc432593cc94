"""How the demo bank authenticates: method, medium, then a TAN, a confirmation in an app, or a page of its own."""

from kontor.connectors.base import (
    Answer,
    ChooseMedium,
    ChooseMethod,
    Context,
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
from kontor.connectors.demo.challenges import draw_photo
from kontor.connectors.demo.memory import BankMemory
from kontor.connectors.demo.scenarios import (
    APP_TAN,
    CHIP_TAN,
    LIST_TAN,
    MOCK_TAN,
    PHOTO_TAN,
    REDIRECT,
    Scenario,
)
from kontor.connectors.demo.signing import SigningSubject, describe_subject
from kontor.connectors.job_state import deserialize_job
from kontor.domain.sca import Challenge, find_start_code

POLLS_BEFORE_CONFIRMED = 2
TANS = {LIST_TAN.code: "12", PHOTO_TAN.code: "8534842", CHIP_TAN.code: "936086"}


def begin(state: State, scenario: Scenario) -> Step:
    return NeedMethod(scenario.methods, state | {"stage": "method"})


def resume(state: State, scenario: Scenario, answer: Answer, memory: BankMemory, context: Context) -> Step | None:
    """The next step, or None when the customer is authenticated."""
    match state["stage"], answer:
        case "method", ChooseMethod(code):
            return _choose_method(state, scenario, code, memory, context)
        case "medium", ChooseMedium(name):
            if name not in [medium.name for medium in scenario.media]:
                return Failed(FailureKind.REJECTED, "unknown medium")
            return _challenge(state | {"medium": name}, memory, context)
        case "tan", Tan(value):
            return None if _is_right(state["method"], value.reveal()) else Failed(FailureKind.WRONG_TAN)
        case "confirmation", Poll():
            polls = state.get("polls", 0) + 1
            return None if polls >= POLLS_BEFORE_CONFIRMED else _challenge(state | {"polls": polls}, memory, context)
        case "redirect", Returned():
            # What the browser brought along proves nothing: the bank looks into its own books.
            return None if memory.is_page_confirmed(state["page"]) else Failed(FailureKind.CANCELLED)
    return Failed(FailureKind.REJECTED, "this answer does not fit the open step")


def _choose_method(state: State, scenario: Scenario, code: str, memory: BankMemory, context: Context) -> Step:
    if code not in [method.code for method in scenario.methods]:
        return Failed(FailureKind.REJECTED, "unknown method")
    chosen = state | {"method": code}
    if scenario.media:
        return NeedMedium(scenario.media, chosen | {"stage": "medium"})
    return _challenge(chosen, memory, context)


def _challenge(state: State, memory: BankMemory, context: Context) -> Step:
    method, subject = state["method"], describe_subject(deserialize_job(state["job"]))
    if method == REDIRECT.code:
        if context.callback_url is None:
            return Failed(FailureKind.REJECTED, "a redirect needs a callback URL")
        page = memory.open_page(context.callback_url, subject.orders)
        return NeedRedirect(page, state | {"stage": "redirect", "page": page})
    if method == APP_TAN.code:
        text = subject.introduce("Bitte bestätigen Sie den Auftrag in Ihrer Banking-App.")
        return NeedConfirmation(Challenge(APP_TAN.name, text), state | {"stage": "confirmation"})
    return NeedTan(_make_challenge(method, subject), state | {"stage": "tan"})


def _make_challenge(method: str, subject: SigningSubject) -> Challenge:
    if method == PHOTO_TAN.code:
        text = subject.introduce("Bitte scannen Sie das Bild und geben Sie die TAN ein.")
        return Challenge(PHOTO_TAN.name, text, photo=draw_photo(subject.summary or "kontor demo"))
    if method == CHIP_TAN.code:
        text = subject.introduce("Bitte halten Sie Ihren TAN-Generator vor die Grafik und geben Sie die TAN ein.")
        return Challenge(CHIP_TAN.name, text, hhd=find_start_code(subject.chip_code), hhd_uc=subject.chip_code)
    if method == LIST_TAN.code:
        return Challenge(LIST_TAN.name, subject.introduce("Bitte geben Sie die TAN 12 ein."))
    return Challenge(MOCK_TAN.name, subject.introduce("Bitte geben Sie eine gerade Zahl ein."))


def _is_right(method: str, tan: str) -> bool:
    if method == MOCK_TAN.code:
        return tan.isascii() and tan.isdigit() and int(tan[-1]) % 2 == 0
    return tan == TANS.get(method)
