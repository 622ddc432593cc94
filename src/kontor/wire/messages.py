"""Message codes and their German texts, for everything that can be said to an end customer."""

from msgspec import UNSET

from kontor.domain.accesses import Notice, NoticeKind
from kontor.domain.balances import BalanceGap
from kontor.wire.errors import Message

TEXTS: dict[NoticeKind, tuple[str, str, str]] = {
    NoticeKind.INTERNAL: (
        "ERROR",
        "BA999",
        "Es ist ein interner Fehler aufgetreten. Bitte versuchen Sie es später erneut.",
    ),
    NoticeKind.LOCKED: (
        "ERROR",
        "BA1010",
        "Ihr Zugang wurde nach dreimaliger Falscheingabe gesperrt. Bitte wenden Sie sich an Ihre Bank.",
    ),
    NoticeKind.WRONG_CREDENTIALS: (
        "ERROR",
        "BA1011",
        "Die Zugangsdaten sind nicht korrekt. Nach drei Fehlversuchen sperrt die Bank den Zugang.",
    ),
    NoticeKind.INCOMPLETE_CREDENTIALS: ("ERROR", "BA1012", "Die Zugangsdaten sind unvollständig."),
    NoticeKind.UNREACHABLE: (
        "ERROR",
        "BA1051",
        "Die Bank ist zurzeit nicht erreichbar. Möglicherweise finden dort Wartungsarbeiten statt.",
    ),
    NoticeKind.ACCESS_INCOMPLETE: ("ERROR", "BA1052", "Der Bankzugang konnte nicht vollständig abgerufen werden."),
    NoticeKind.PRODUCT: ("ERROR", "BA1060", "Ein Bankprodukt konnte nicht aktualisiert werden."),
    NoticeKind.TRANSACTIONS: ("ERROR", "BA1062", "Die Kontoumsätze konnten nicht aktualisiert werden."),
    NoticeKind.POSITIONS: ("ERROR", "BA1063", "Die Depotpositionen konnten nicht aktualisiert werden."),
    NoticeKind.BANK_MESSAGE: (
        "INFO",
        "BA2002",
        "Ihre Bank hat Nachrichten für Sie. Bitte melden Sie sich bei Ihrer Bank an.",
    ),
    NoticeKind.BALANCE_MISMATCH: ("INFO", "BA1064", "Die Umsätze ergeben nicht den gemeldeten Kontostand."),
    NoticeKind.SCA_NEEDED: ("INFO", "BA3000", "Ihre Bank verlangt eine starke Kundenauthentifizierung."),
}


def show_gap(gap: BalanceGap) -> Message:
    """What is missing between the balances and the bookings stands in `details`."""
    return show_notice(Notice(NoticeKind.BALANCE_MISMATCH, f"{gap.difference} {gap.span.currency}"))


def show_notice(notice: Notice) -> Message:
    level, code, text = TEXTS[notice.kind]
    details = notice.detail
    if notice.kind is NoticeKind.INCOMPLETE_CREDENTIALS and details:
        details = f"Benötigte Felder: {details}"
    parts = [notice.product_name, details, None if notice.count is None else f"{notice.count} nicht lesbar"]
    details = ": ".join(part for part in parts if part)
    return Message(level, code, text, details or UNSET)  # type: ignore[arg-type]
