"""Behaviour of real banks that the FinTS server adopts by name: `kontor demobank --mode payees-later`.

Modes combine with every login, and with each other. The table says what each does and which banks do it;
`docs/guides/demo-bank.md` shows it to users.
"""

from enum import StrEnum


class Mode(StrEnum):
    PAYEES_LATER = "payees-later"
    PAYEES_PENDING = "payees-pending"
    ORDER_HELD_SILENTLY = "order-held-silently"
    CHALLENGE_WITH_VERDICT = "challenge-with-verdict"
    APPROVAL_WAIVED = "approval-waived"
    MATCH_HELD = "match-held"
    APPROVAL_FIRST = "approval-first"
    VERDICT_IN_REPORT = "verdict-in-report"
    REPORT_WITHOUT_ROWS = "report-without-rows"
    ORDER_ACCEPTED = "order-accepted"
    STRICT_DOCUMENT = "strict-document"
    SUM_REQUIRED = "sum-required"
    PROFILE_CHECKED = "profile-checked"
    ASKS_ELSEWHERE = "asks-elsewhere"
    PHOTO_TAN_900 = "photo-tan-900"
    DEVICE_UNKNOWN = "device-unknown"
    TERSE_CONFIRMATION = "terse-confirmation"
    METHOD_WITHDRAWN = "method-withdrawn"
    METHOD_REPLACED = "method-replaced"
    SYSTEM_FORGOTTEN = "system-forgotten"
    PIN_REFUSED_LATER = "pin-refused-later"
    LOCK_AS_WARNING = "lock-as-warning"
    OLD_BOOKINGS_ASK = "old-bookings-ask"
    CARDS_APART = "cards-apart"
    ACCOUNT_IN_FULL = "account-in-full"
    ACCOUNT_BY_IBAN = "account-by-iban"
    CAMT_ONLY = "camt-only"
    ONE_CAMT_VERSION = "one-camt-version"
    CAMT_IN_PARTS = "camt-in-parts"
    PENDING_CUT = "pending-cut"
    RECENT_ONLY = "recent-only"
    ACCOUNTS_UNAVAILABLE = "accounts-unavailable"
    BALANCE_WITHOUT_DAY = "balance-without-day"
    BALANCE_VERSION_8 = "balance-version-8"
    REGISTRATION_REFUSED = "registration-refused"
    ONE_STEP_ONLY = "one-step-only"
    DEPOT_BY_WKN = "depot-by-wkn"
    STATEMENTS_ASK = "statements-ask"


# Mode: (banks that do it, what they do).
MODES: dict[Mode, tuple[str, str]] = {
    Mode.PAYEES_LATER: (
        "Atruvia (Volksbanken, GLS, Sparda)",
        "the result of the payee check takes a while, also for one order: 3905, 3040 and 3945; who asks again names"
        " polling id and restart point, else 9210; a match comes with 0025 and without 3090",
    ),
    Mode.PAYEES_PENDING: ("Atruvia", "the payee check does not end: 3040 for as long as anybody asks"),
    Mode.ORDER_HELD_SILENTLY: ("Atruvia", "as payees-later, but nothing is said about the order (no 3945)"),
    Mode.CHALLENGE_WITH_VERDICT: (
        "Atruvia",
        "the result of the payee check comes with the challenge: 3091 and HITAN, neither 0030 nor 3955",
    ),
    Mode.APPROVAL_WAIVED: (
        "Atruvia",
        "a match needs neither approval nor TAN: 3091, 3076, and the order is executed at once (0020, 0900)",
    ),
    Mode.MATCH_HELD: ("DKB, HypoVereinsbank", "a full match waits for approval as well: 3090, 0025 and 3945"),
    Mode.APPROVAL_FIRST: ("HypoVereinsbank", "HKVPA must precede the order, else 9210"),
    Mode.VERDICT_IN_REPORT: (
        "Commerzbank",
        "the result for one order stands in a pain.002 only, and 3945 refers to the order instead of HKTAN",
    ),
    Mode.REPORT_WITHOUT_ROWS: ("HypoVereinsbank", "the pain.002 has a result for the block, none for each order"),
    Mode.ORDER_ACCEPTED: ("many", "an order is reported as received only (0010), whatever becomes of it"),
    Mode.STRICT_DOCUMENT: (
        "Deutsche Bank, comdirect",
        "an order without HKVPP is refused by 9076 for the message, one whose pain.001 names no BIC of the payer's bank"
        " or no currency of the account by 9210",
    ),
    Mode.SUM_REQUIRED: ("Atruvia", "a bulk order without its sum is refused: 9010"),
    Mode.PROFILE_CHECKED: (
        "Consorsbank, HypoVereinsbank",
        "signature and envelope must name the security profile of the method (PIN:2 with two steps), else 9010",
    ),
    Mode.ASKS_ELSEWHERE: (
        "Consorsbank",
        "a challenge is reported for HKIDN or the order instead of HKTAN, one for the app by 0030 and 3955 together",
    ),
    Mode.PHOTO_TAN_900: (
        "Commerzbank",
        "photoTAN has the number 900, which older parameters call iTAN; 3920 lists 999 first; another signature is"
        " refused by 9340",
    ),
    Mode.DEVICE_UNKNOWN: (
        "Sparkassen",
        "a device that is not in the list is refused: 3905, 9955, and the dialogue ends",
    ),
    Mode.TERSE_CONFIRMATION: (
        "Sparkassen",
        "the answer to a status query has no HITAN, whether the app has confirmed (0020) or not (3956)",
    ),
    Mode.METHOD_WITHDRAWN: (
        "Atruvia (SecureGo plus)",
        "the first of several methods is listed but no longer served: 9260, 3070, 3999",
    ),
    Mode.METHOD_REPLACED: ("all", "only the last of the methods is left; the others are refused by 9380 with 3920"),
    Mode.SYSTEM_FORGOTTEN: ("Sparkassen", "a system id that this server has not issued is refused: 9391"),
    Mode.PIN_REFUSED_LATER: ("all", "the PIN is refused (9942) in the middle of the dialogue, which stays open"),
    Mode.LOCK_AS_WARNING: ("Sparkassen", "a locked access is let in with a warning only (3938)"),
    Mode.OLD_BOOKINGS_ASK: (
        "some",
        "bookings of more than 90 days ago need a TAN of their own, also after a TAN at login",
    ),
    Mode.CARDS_APART: (
        "Sparkassen, LBBW, comdirect, DKB",
        "cards have no IBAN and are missing in HKSPA, HKSAL, HKKAZ and HKCAZ; DKKKU alone has their balance and"
        " bookings (nemiah/phpFinTS#574, hbci4j/hbci4java#144, raphaelm/python-fints#73)",
    ),
    Mode.ACCOUNT_IN_FULL: (
        "Postbank, Consorsbank",
        "HISPAS allows national accounts; IBAN and BIC alone are refused: 9210"
        " (robocode13/lib-fints#25, robocode13/lib-fints#36)",
    ),
    Mode.ACCOUNT_BY_IBAN: (
        "comdirect, Ethikbank",
        "HISPAS forbids national accounts; an account number beside the IBAN is refused: 9130"
        " (nemiah/phpFinTS#534, robocode13/lib-fints#20)",
    ),
    Mode.CAMT_ONLY: (
        "Atruvia, comdirect",
        "MT940 is switched off and camt.052.001.08 the only form, while the user parameters still list HKKAZ alone"
        " (nemiah/phpFinTS#527, nemiah/phpFinTS#577, robocode13/lib-fints#13, raphaelm/python-fints#193)",
    ),
    Mode.ONE_CAMT_VERSION: (
        "Atruvia",
        "a request that names more than one version of camt is refused: 9010 (raphaelm/python-fints#196)",
    ),
    Mode.CAMT_IN_PARTS: (
        "Atruvia, comdirect",
        "an answer has a document for each day and for each pending booking; each repeats the opening balance as its"
        " end; namespaces end in .xsd, days are times with an offset"
        " (nemiah/phpFinTS#371, nemiah/phpFinTS#579, robocode13/lib-fints#20)",
    ),
    Mode.PENDING_CUT: (
        "Sparkassen",
        "too many pending bookings are left out, which two further 3040 without a restart point say"
        " (nemiah/phpFinTS#478)",
    ),
    Mode.RECENT_ONLY: (
        "Postbank, ING",
        "bookings of more than 90 days ago are refused, with a TAN as without: 9210"
        " (nemiah/phpFinTS#315, nemiah/phpFinTS#327)",
    ),
    Mode.ACCOUNTS_UNAVAILABLE: (
        "DKB",
        "HKSPA is rejected because a backend system is unavailable (9010); the IBANs are in the user parameters"
        " (nemiah/phpFinTS#468)",
    ),
    Mode.BALANCE_VERSION_8: (
        "none known",
        "balances are asked for and told in version 8 alone, in the shape of version 7",
    ),
    Mode.BALANCE_WITHOUT_DAY: ("DKB", "HISAL has no day (hbci4j/hbci4java#142)"),
    Mode.REGISTRATION_REFUSED: (
        "some",
        "a program whose registration the bank does not know gets 9952, whatever the PIN is"
        " (bnw/firefly-iii-fints-importer#166, nemiah/phpFinTS#476)",
    ),
    Mode.ONE_STEP_ONLY: (
        "ING",
        "no anonymous dialogue (9400); 3920 does not list 999, HITANS has version 1 alone, and HKTAN is refused (9010):"
        " one step is the only way in (nemiah/phpFinTS#57, raphaelm/python-fints#159)",
    ),
    Mode.DEPOT_BY_WKN: (
        "MLP, DKB",
        "positions have a WKN and no ISIN, prices of purchase stand in several lines of :70E:, the depot has no total"
        " (raphaelm/python-fints#104, nemiah/phpFinTS#464)",
    ),
    Mode.STATEMENTS_ASK: (
        "some",
        "account statements (HKKAU, HKEKA, HKEKP) need a TAN at login: HIPINS says so, and they are refused (9075)"
        " without",
    ),
}
