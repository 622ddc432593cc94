"""Problems of real banks that the XS2A server has by name: `kontor demobank --xs2a-mode order-held`.

Modes combine with every login, every dialect and each other. `docs/guides/demo-bank.md` shows the table to users.
"""

from enum import StrEnum


class Xs2aMode(StrEnum):
    RECENT_ONLY = "recent-only"
    SINCE_IGNORED = "since-ignored"
    EMPTY_PAGES = "empty-pages"
    LONG_DECIMALS = "long-decimals"
    CONSENT_ENDS_EARLY = "consent-ends-early"
    PIN_REFUSED_LATER = "pin-refused-later"
    METHOD_REPLACED = "method-replaced"
    ORDER_HELD = "order-held"
    ORDER_HALF_SIGNED = "order-half-signed"


XS2A_MODES: dict[Xs2aMode, str] = {
    Xs2aMode.RECENT_ONLY: (
        "bookings of more than 90 days ago are refused, with a fresh authentication as without: `PERIOD_INVALID`"
    ),
    Xs2aMode.SINCE_IGNORED: "a list has all bookings, whatever `dateFrom` says",
    Xs2aMode.EMPTY_PAGES: "each list begins with a page that has no bookings and a link to the next",
    Xs2aMode.LONG_DECIMALS: "amounts and balances have twelve decimals, such as `94.010000000021`",
    Xs2aMode.CONSENT_ENDS_EARLY: (
        "a consent ends when it is used without the customer, although its last day has not come: `CONSENT_EXPIRED`"
    ),
    Xs2aMode.PIN_REFUSED_LATER: (
        "a PIN that was right for the consent is refused for a payment: `PSU_CREDENTIALS_INVALID`"
    ),
    Xs2aMode.METHOD_REPLACED: ("only the last of the methods is left; the others are refused: `SCA_METHOD_UNKNOWN`"),
    Xs2aMode.ORDER_HELD: (
        "an authorised order is pending (`PDNG`) at the first three requests of its status, then decided"
    ),
    Xs2aMode.ORDER_HALF_SIGNED: "an authorised order waits for a second customer (`PATC`) and is never decided",
}
