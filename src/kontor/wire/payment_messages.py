"""What is said about transfers, standing orders and direct debits: codes with their German texts."""

from collections.abc import Sequence

from msgspec import UNSET

from kontor.domain.order_checks import OrderError, OrderProblem
from kontor.domain.payments import (
    PayeeMatch,
    PayeeResult,
    PayeeWarning,
    PayeeWarningKind,
    Payment,
    PaymentFailure,
    PaymentKind,
    PaymentState,
)
from kontor.domain.schedules import StandingAction
from kontor.wire.errors import Message

EXECUTED = Message("INFO", "BA1111", "Die Überweisung wurde erfolgreich ausgeführt.")
ACCEPTED = Message("INFO", "BA1112", "Die Bank hat die Überweisung angenommen. Sie ist noch nicht gebucht.")
UNKNOWN = Message(
    "INFO",
    "BA1113",
    "Die Bank hat noch nicht bestätigt, ob die Überweisung ausgeführt wurde. Bitte überweisen Sie nicht erneut.",
)
OUTCOMES = {
    PaymentState.EXECUTED: EXECUTED,
    PaymentState.ACCEPTED: ACCEPTED,
    PaymentState.UNKNOWN: UNKNOWN,
    PaymentState.SENDING: UNKNOWN,
}
READING = {
    PaymentKind.BULK: "get_bulk_transfer",
    PaymentKind.STANDING_ORDER: "get_standing_order",
    PaymentKind.DIRECT_DEBIT: "get_direct_debit",
}
STANDING_WORDS = {
    StandingAction.CREATE: ("eingerichtet", "Einrichtung"),
    StandingAction.CHANGE: ("geändert", "Änderung"),
    StandingAction.DELETE: ("gelöscht", "Löschung"),
}
# Texts about transfers, as they read for an order about a standing order.
STANDING_NOUNS = (
    ("Die Überweisung", "Der Auftrag"),
    ("Diese Überweisung", "Dieser Auftrag"),
    ("die Überweisung", "den Auftrag"),
    ("keine Überweisung", "kein solcher Auftrag"),
    ("zur Überweisung", "zum Dauerauftrag"),
    ("sind Überweisungen", "sind Daueraufträge"),
)
# `{}` is the noun: one direct debit, or several as one order.
DEBIT_TEXTS = {
    EXECUTED.code: "Die {} wurde eingezogen.",
    ACCEPTED.code: "Die Bank hat die {} angenommen und zieht sie am Fälligkeitstag ein.",
    UNKNOWN.code: "Die Bank hat die {} noch nicht bestätigt. Bitte reichen Sie sie nicht erneut ein.",
}
NO_DEBITS = "Für dieses Konto können keine Lastschriften eingezogen werden."
PAYEE_TEXT = (
    "Der Name des Empfängers konnte nicht bestätigt werden. Bitte prüfen Sie, ob Sie trotzdem überweisen möchten."
)
PAYEE_WORDS: dict[PayeeMatch, tuple[str]] = {
    PayeeMatch.MATCH: ("Name und IBAN passen zusammen",),
    PayeeMatch.CLOSE_MATCH: ("der Name passt fast zur IBAN",),
    PayeeMatch.NO_MATCH: ("der Name passt nicht zur IBAN",),
    PayeeMatch.NOT_POSSIBLE: ("der Name konnte nicht geprüft werden",),
}
WARNING_TEXT = (
    "Name oder IBAN des Empfängers sind anders als bei früheren Aufträgen."
    " Bitte prüfen Sie, ob Sie trotzdem überweisen möchten."
)
WARNING_WORDS: dict[PayeeWarningKind, tuple[str]] = {
    PayeeWarningKind.OTHER_IBAN: ("dieser Name hatte bisher die IBAN {}",),
    PayeeWarningKind.OTHER_NAME: ("diese IBAN hatte bisher den Namen {}",),
}
FAILURES: dict[PaymentFailure, tuple[str, str]] = {
    PaymentFailure.WRONG_CREDENTIALS: (
        "BA1011",
        "Die Zugangsdaten sind nicht korrekt. Nach drei Fehlversuchen sperrt die Bank den Zugang.",
    ),
    PaymentFailure.LOCKED: (
        "BA1010",
        "Ihr Zugang wurde nach dreimaliger Falscheingabe gesperrt. Bitte wenden Sie sich an Ihre Bank.",
    ),
    PaymentFailure.INCOMPLETE_CREDENTIALS: ("BA1012", "Die Zugangsdaten sind unvollständig."),
    PaymentFailure.UNREACHABLE: (
        "BA1051",
        "Die Bank ist zurzeit nicht erreichbar. Die Überweisung wurde nicht ausgeführt.",
    ),
    PaymentFailure.NO_SUPPORTED_METHOD: ("BA3060", "Ihre Bank bietet kein unterstütztes Sicherheitsverfahren an."),
    PaymentFailure.WRONG_METHOD: ("BA1101", "Das gewählte Sicherheitsverfahren ist nicht verwendbar."),
    PaymentFailure.WRONG_MEDIUM: ("BA1100", "Das gewählte TAN-Medium ist nicht verwendbar."),
    PaymentFailure.WRONG_TAN: ("BA1103", "Die TAN ist ungültig oder nicht mehr gültig."),
    PaymentFailure.CANCELLED: ("BA3040", "Die Überweisung wurde abgebrochen und nicht ausgeführt."),
    PaymentFailure.EXPIRED: ("BA3040", "Die Zeit zur Freigabe ist abgelaufen. Die Überweisung wurde nicht ausgeführt."),
    PaymentFailure.ABANDONED: (
        "BA3040",
        "Die Überweisung wurde unterbrochen, bevor sie gesendet war, und nicht ausgeführt.",
    ),
    PaymentFailure.REJECTED: ("BA1104", "Die Bank hat die Überweisung abgelehnt."),
    PaymentFailure.NO_FUNDS: ("BA1104", "Die Bank hat die Überweisung mangels Deckung abgelehnt."),
    PaymentFailure.NOT_SUPPORTED: ("BA1104", "Diese Überweisung ist bei Ihrer Bank nicht möglich."),
    PaymentFailure.REFERENCE_ACCOUNT: (
        "BA1100",
        "Von diesem Konto sind Überweisungen nur auf das Referenzkonto möglich.",
    ),
    PaymentFailure.NEVER_ARRIVED: (
        "BA1104",
        "Die Überweisung ist bei der Bank nicht angekommen und wurde nicht ausgeführt.",
    ),
    PaymentFailure.INTERNAL: (
        "BA999",
        "Es ist ein interner Fehler aufgetreten. Die Überweisung wurde nicht ausgeführt.",
    ),
}
REFUSALS: dict[OrderProblem, tuple[str, str]] = {
    OrderProblem.DATA: ("BA1100", "Die Angaben zur Überweisung sind ungültig."),
    OrderProblem.METHOD: ("BA1101", "Das gewählte Sicherheitsverfahren ist ungültig."),
    OrderProblem.NOT_POSSIBLE: ("BA1104", "Von diesem Konto ist keine Überweisung möglich."),
    OrderProblem.CREDENTIALS: ("BA1012", "Die Zugangsdaten sind unvollständig."),
    OrderProblem.PAYEE_LIMIT: (
        "BA1104",
        "Der Betrag übersteigt das Limit, das Sie für diesen Empfänger gesetzt haben.",
    ),
    OrderProblem.PAYEE_HOLD: ("BA1104", "Für diesen Empfänger gilt noch die Sperrfrist, die Sie gesetzt haben."),
}
DEBITS_NOT_ALLOWED = Message("ERROR", "BA1104", "Lastschriften können hier nicht eingezogen werden.")
DUPLICATE = Message("ERROR", "BA1104", "Dieselbe Überweisung wurde gerade erst beauftragt.")


def show_outcome(payment: Payment) -> Message:
    """Of an order that was sent."""
    message = OUTCOMES[payment.state]
    if payment.debit is not None:
        return Message(message.level, message.code, DEBIT_TEXTS[message.code].format(_name_debit(payment)))
    if payment.standing is None:
        return message
    done, noun = STANDING_WORDS[payment.standing.action]
    texts = {
        EXECUTED.code: f"Der Dauerauftrag wurde {done}.",
        ACCEPTED.code: f"Die Bank hat die {noun} des Dauerauftrags angenommen.",
        UNKNOWN.code: f"Die Bank hat die {noun} des Dauerauftrags noch nicht bestätigt."
        " Bitte wiederholen Sie sie nicht.",
    }
    return Message(message.level, message.code, texts[message.code])


def show_failure(payment: Payment) -> Message:
    assert payment.failure is not None
    code, text = FAILURES[payment.failure]
    if payment.standing is not None:
        text = name_standing_order(text)
    if payment.debit is not None:
        text = name_debits(text, _name_debit(payment))
    return Message("ERROR", code, text, payment.detail or UNSET)


def name_standing_order(text: str) -> str:
    for transfer, standing_order in STANDING_NOUNS:
        text = text.replace(transfer, standing_order)
    return text


def name_debits(text: str, noun: str = "Lastschrift") -> str:
    return text.replace(REFUSALS[OrderProblem.NOT_POSSIBLE][1], NO_DEBITS).replace("Überweisung", noun)


def _name_debit(payment: Payment) -> str:
    return "Sammellastschrift" if payment.is_bulk else "Lastschrift"


def show_payees(results: Sequence[PayeeResult]) -> Message:
    """The details name each payee that was not matched."""
    parts = []
    for place, result in enumerate(results, 1):
        if result.match is not PayeeMatch.MATCH:
            suggestion = f" (gemeint ist vielleicht: {result.suggested_name})" if result.suggested_name else ""
            parts.append(f"Empfänger {place}: {PAYEE_WORDS[result.match][0]}{suggestion}")
    return Message("INFO", "BA1120", PAYEE_TEXT, "; ".join(parts) or UNSET)


def show_warnings(warnings: Sequence[PayeeWarning]) -> Message:
    """The details name each payee that differs from earlier orders, with what was known."""
    parts = [
        f"Empfänger {warning.number}: {WARNING_WORDS[warning.kind][0].format(warning.known)}" for warning in warnings
    ]
    return Message("INFO", "BA1121", WARNING_TEXT, "; ".join(parts))


def show_refusal(error: OrderError) -> Message:
    code, text = REFUSALS[error.problem]
    return Message("ERROR", code, text, error.message)
