"""Which connector fills which field of the wire: found by fetching, and rendered as `docs/fields.md`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID, uuid5

import msgspec
from dialogue import TODAY, drive, run_step
from payment_scenarios import MOCK, order
from scenarios import SUBJECTS, Subject, demo

from kontor.connectors.base import (
    Done,
    Fetch,
    Fetched,
    Headers,
    NeedConfirmation,
    NeedMedium,
    NeedMethod,
    NeedTan,
    Pay,
    Progress,
    Step,
    Verified,
    VerifyPayees,
)
from kontor.connectors.demo.people import person_for
from kontor.domain.accesses import Access, AccessStatus
from kontor.domain.account_statements import StoredStatement
from kontor.domain.payments import Verification
from kontor.domain.sca_machine import ScaState
from kontor.domain.schedules import Period, Schedule, StandingAction, StandingInstruction
from kontor.domain.standing_orders import StoredStandingOrder
from kontor.domain.stored_products import StoredProduct
from kontor.services.accesses import AccessView
from kontor.wire import (
    accesses,
    account_statements,
    consents,
    payments,
    positions,
    products,
    products_en,
    standing_orders,
    transactions,
)
from kontor.wire.urls import Urls

NOTHING = (None, msgspec.UNSET, False, "", [], {})
ID, NOW, URLS = UUID(int=1), datetime(2026, 11, 13, 11, tzinfo=UTC), Urls("https://kontor.example")
# Scenarios whose customers have one of everything; the others add time and no field.
LOGINS = (
    "demo1",
    "test_sca_method",
    "test_sca_method_media",
    "test_decoupled",
    "test_phototan",
    "test_chiptan",
)
PAYING = ("demo", "fints")  # connectors that list standing orders, verify payees and have account statements
STATEMENT_FACTS = ("number", "year", "format", "starts_on", "ends_on", "created_on", "size", "state")
TRANSACTION_FIELDS = frozenset(("tags", "classifications", "id", "hash", "identifier", "notiz", "schlagworte", "teile"))
# The resources that tell what a bank has told, and the fields of each that Kontor or the user fills.
RESOURCES: dict[str, tuple[type[msgspec.Struct], frozenset[str]]] = {
    "BankAccess": (
        accesses.BankAccess,
        frozenset(
            (
                "id",
                "providerId",
                "status",
                "aktualisierungszeitpunkt",
                "sync",
                "relations",
                "timeout",
                "messages",
                "kontoauszuege",
            )
        ),
    ),
    "SecurityMethod": (accesses.SecurityMethod, frozenset()),
    "TanMedium": (accesses.TanMedium, frozenset()),
    "BankProduct": (
        products.BankProduct,
        frozenset(("id", "status", "aktualisierungszeitpunkt", "relations", "messages")),
    ),
    "BankProduct, form=en": (
        products_en.EnglishBankProduct,
        frozenset(("id", "status", "updatedAt", "relations", "messages")),
    ),
    "Balance, form=en": (products_en.Balance, frozenset()),
    "Transaction": (transactions.Transaction, TRANSACTION_FIELDS),
    "Position": (positions.Position, frozenset()),
    "StandingOrder": (standing_orders.StandingOrder, frozenset(("id", "state", "relations", "nextExecutionDate"))),
    "Kontoauszug": (account_statements.Kontoauszug, frozenset(("id", "status"))),
    "TransferDetails of a StandingOrder": (payments.TransferDetails, frozenset()),
    "ScaMethod": (consents.ScaMethod, frozenset()),
    "ScaMedium": (consents.ScaMedium, frozenset()),
    "Challenge": (consents.Challenge, frozenset(("redirect",))),
    "ChallengeContent": (consents.ChallengeContent, frozenset()),
    "VerificationResult": (payments.VerificationResult, frozenset()),
}
Sources = dict[str, dict[str, set[str]]]


def find_sources() -> Sources:
    """Per resource and field, the connectors that fill it."""
    found: Sources = {
        name: {field: set() for field in shape.__struct_fields__} for name, (shape, _) in RESOURCES.items()
    }
    for subject in SUBJECTS:
        if subject.name in PAYING:
            _order_standing(subject)
        for step in _list_steps(subject):
            for name, shown in _show(step):
                for field in shown.__struct_fields__:
                    if getattr(shown, field) not in NOTHING:
                        found[name][field].add(subject.name)
    return found


def _list_steps(subject: Subject) -> Iterator[Step]:
    for scenario in subject.scenarios:
        if scenario.ends is None and scenario.credentials["userid"] in LOGINS:
            yield from drive(subject, scenario, run_step)
    if subject.name in PAYING and subject.verifies_payees:
        job = VerifyPayees(_find_account(subject, "test_vop_close"), (order(),))
        yield from drive(subject, demo("test_vop_close", pin="demo"), run_step, job=job)
    if subject.name in PAYING:
        yield from drive(subject, demo("student", pin="demo"), run_step, job=Fetch(statements={}))


def _order_standing(subject: Subject) -> None:
    """A standing order with everything in it, so that the bank has one to list."""
    full = replace(
        order(),
        bic="COBADEFFXXX",
        end_to_end_id="FIELDS-1",
        purpose_code="RENT",
        ultimate_debtor="Max Muster",
        ultimate_creditor="Hausverwaltung Muster",
    )
    schedule = Schedule(Period.MONTH_ONE, date(2026, 12, 1), date(2027, 12, 1))
    job = Pay(
        uuid5(ID, subject.name),
        _find_account(subject, "demo1"),
        (full,),
        is_payee_accepted=True,
        standing=StandingInstruction(StandingAction.CREATE, schedule),
    )
    done = drive(subject, demo("demo1", *MOCK, pin="demo"), run_step, job=job)[-1]
    assert isinstance(done, Done), done


def _find_account(subject: Subject, login: str) -> str:
    """The bank's key of an account that pays."""
    person = person_for(login, TODAY)
    assert person is not None
    product = person.accounts[0].product
    return product.key if subject.name == "demo" else product.iban or ""


def _show(step: Step) -> Iterator[tuple[str, msgspec.Struct]]:
    match step:
        case Progress(headers):
            yield from _show_headers(headers)
        case Done(Fetched() as fetched):
            yield from _show_fetched(fetched)
        case Done(Verified(results)):
            for result in payments.show_verification(Verification(ID, ID, ID, (), results, NOW, NOW)).results:
                yield "VerificationResult", result
        case NeedMethod(methods):
            yield from (("ScaMethod", method) for method in consents.show_sca_methods(methods))
        case NeedMedium(media):
            for medium in media:
                yield "ScaMedium", consents.ScaMedium(medium.name, accesses.MEDIUM_CLASSES[medium.medium_class])
        case NeedTan(challenge) | NeedConfirmation(challenge):
            state = ScaState.TAN if isinstance(step, NeedTan) else ScaState.CONFIRMATION
            shown = consents.show_challenge(challenge, state)
            yield from (("Challenge", shown), ("ChallengeContent", shown.content))


def _show_headers(headers: Headers) -> Iterator[tuple[str, msgspec.Struct]]:
    stored = tuple(StoredProduct(ID, "bank", AccessStatus.COMPLETE, NOW, product) for product in headers.products)
    access = Access(
        "bank",
        ID,
        AccessStatus.COMPLETE,
        True,
        NOW,
        methods=headers.methods,
        media=headers.media,
        active_method=headers.active_method,
    )
    shown = accesses.show_access(AccessView(access, stored, has_credentials=True, needs_sca=False), URLS)
    yield "BankAccess", shown
    for name, parts in (
        ("SecurityMethod", shown.sicherheitsverfahren),
        ("TanMedium", shown.tanMedien),
        ("BankProduct", shown.bankprodukte),
    ):
        yield from ((name, part) for part in parts or ())
    for product in stored:
        english = products_en.show_english_product(product, ID, URLS, has_credentials=True)
        yield "BankProduct, form=en", english
        yield from (("Balance, form=en", balance) for balance in (english.balances or {}).values())


def _show_fetched(fetched: Fetched) -> Iterator[tuple[str, msgspec.Struct]]:
    for row in _join(fetched.transactions.values()):
        yield "Transaction", transactions.show_previewed(row)
    for position in _join(fetched.positions.values()):
        yield "Position", positions.show_position(position)
    for standing in _join(fetched.standing_orders.values()):
        stored = StoredStandingOrder(ID, ID, standing)
        shown = standing_orders.show_standing_order(stored, "bank", (), TODAY, URLS)
        yield from (("StandingOrder", shown), ("TransferDetails of a StandingOrder", shown.transferDetails))
    for told in _join(fetched.statements.values()):
        facts = {field: getattr(told, field) for field in STATEMENT_FACTS}
        yield "Kontoauszug", account_statements.show_statement(StoredStatement(ID, ID, **facts, fetched_at=NOW))


def _join(parts: Any) -> Iterator[Any]:
    return (item for part in parts for item in part)


def find_unfilled(sources: Sources) -> list[str]:
    """Fields that no connector fills, and that are not Kontor's own."""
    return [
        f"{name}.{field}"
        for name, fields in sources.items()
        for field, filled in fields.items()
        if not filled and field not in RESOURCES[name][1]
    ]


HEAD = """# Which connector fills which field

<!-- Written by ./dev fields from the contract suite. Do not edit. -->

For each field of the resources that show what a bank has told: the connectors that filled it in at least one dialogue
of the contract suite (`tests/connectors/contract`) with the demo bank. A real bank may tell less. `Kontor` marks fields
that do not come from a bank. A boolean counts as filled when it is true. A field that no connector fills fails the
suite.
"""


def render(sources: Sources) -> str:
    names = [subject.name for subject in SUBJECTS]
    lines = [HEAD]
    for name, fields in sources.items():
        lines += [f"## {name}", "", f"| Field | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
        rows = {field: " | ".join(_mark(name, field, filled, names)) for field, filled in fields.items()}
        lines += [f"| `{field}` | {marks} |" for field, marks in rows.items()]
        lines.append("")
    return "\n".join(lines)


def _mark(name: str, field: str, filled: set[str], names: Sequence[str]) -> list[str]:
    if field in RESOURCES[name][1]:
        return ["Kontor"] * len(names)
    return ["yes" if subject in filled else "" for subject in names]
