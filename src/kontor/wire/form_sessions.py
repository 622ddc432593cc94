"""Sessions of the web form, as the tenant may see them: nothing tells which bank or account was chosen."""

from datetime import datetime
from typing import Annotated, Literal, cast
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.accesses import NoticeKind
from kontor.domain.payments import PaymentFailure
from kontor.domain.redirects import Failure, FormSession, FormStep
from kontor.wire.encoding import format_timestamp
from kontor.wire.errors import Message
from kontor.wire.messages import TEXTS
from kontor.wire.payment_messages import FAILURES
from kontor.wire.relations import Relation
from kontor.wire.tokens import Timestamp
from kontor.wire.urls import Urls

Language = Annotated[
    Literal["de", "en", "fr", "pl", "tr", "uk"], Meta(description="of the web form, until the user chooses another")
]
UseCaseWord = Literal["CREATE_ACCOUNT", "AUTHENTICATE_ACCOUNT", "INITIATE_PAYMENT"]
StatusWord = Literal["OPEN", "FINISHED", "ABORTED", "EXPIRED"]
StepWord = Literal["LEGAL", "PROVIDER", "CREDENTIALS", "SCA", "FETCHING", "ACCOUNTS", "PAYMENT", "PAYEES", "END"]
_ENDED = ("BA3040", "Die Freigabe wurde abgebrochen oder nicht rechtzeitig erteilt.")
# Codes and texts, as for an access or a payment.
_MESSAGES = {
    Failure.WRONG_CREDENTIALS: TEXTS[NoticeKind.WRONG_CREDENTIALS][1:],
    Failure.LOCKED: TEXTS[NoticeKind.LOCKED][1:],
    Failure.UNREACHABLE: TEXTS[NoticeKind.UNREACHABLE][1:],
    Failure.BUSY: TEXTS[NoticeKind.UNREACHABLE][1:],
    Failure.INTERRUPTED: TEXTS[NoticeKind.INTERNAL][1:],
    Failure.WRONG_TAN: FAILURES[PaymentFailure.WRONG_TAN],
    Failure.NO_METHOD: FAILURES[PaymentFailure.NO_SUPPORTED_METHOD],
    Failure.REJECTED: FAILURES[PaymentFailure.REJECTED],
    Failure.NO_FUNDS: FAILURES[PaymentFailure.NO_FUNDS],
    Failure.NOT_SUPPORTED: FAILURES[PaymentFailure.NOT_SUPPORTED],
    Failure.TOO_LATE: _ENDED,
    Failure.REFUSED: _ENDED,
}


class FormSessionStatus(msgspec.Struct):
    id: Annotated[UUID, Meta(description="not the `session` of the Location")]
    useCase: UseCaseWord  # noqa: N815
    status: StatusWord
    step: StepWord
    createdAt: Timestamp  # noqa: N815
    expiresAt: Timestamp  # noqa: N815
    relations: list[Relation]
    accessId: str | UnsetType = UNSET  # noqa: N815
    paymentId: UUID | UnsetType = UNSET  # noqa: N815
    lastError: Message | UnsetType = UNSET  # noqa: N815
    baReentry: Annotated[str, Meta(description="with what the user came back")] | UnsetType = UNSET  # noqa: N815


def show_session(session: FormSession, now: datetime, urls: Urls) -> FormSessionStatus:
    assert session.created_at is not None, "it is stored"
    return FormSessionStatus(
        id=session.id,
        useCase=session.use_case.value,
        status=session.find_status(now).value,
        step=name_step(session.step),
        createdAt=format_timestamp(session.created_at),
        expiresAt=format_timestamp(session.expires_at),
        relations=[Relation("self", urls.form_session(session.id))],
        accessId=session.access_id or UNSET,
        paymentId=UNSET if session.payment_id is None else session.payment_id,
        lastError=UNSET if session.notice is None else show_failure(session.notice),
        baReentry=UNSET if session.outcome is None else session.outcome.value,
    )


def name_step(step: FormStep) -> StepWord:
    """Pages that have no step of their own count to one that has: a failure at the bank comes with the SCA."""
    match step:
        case FormStep.SOURCE:
            return "PAYMENT"
        case FormStep.CHECKING:
            return "PAYEES"
        case FormStep.UNKNOWN | FormStep.FAILED:
            return "SCA"
    return cast(StepWord, step.value)


def show_failure(failure: Failure) -> Message:
    code, text = _MESSAGES[failure]
    return Message("ERROR", code, text)
