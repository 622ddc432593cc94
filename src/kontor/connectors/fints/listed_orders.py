"""Orders that a bank lists: dated transfers (HKCSB), standing orders (HKCDB), direct debits (HKDBS), page by page."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fints.formals import SupportedMessageTypes
from fints.segments.base import FinTS3Segment

from kontor.connectors.fints.accounts import Account, name_account
from kontor.connectors.fints.codes import MORE_FOLLOWS
from kontor.connectors.fints.payments import find_descriptor
from kontor.connectors.fints.sessions import Session
from kontor.connectors.fints.transport import NoResponseError

MAX_PAGES = 100


def is_listed(session: Session, account: Account, form: type[FinTS3Segment]) -> bool:
    """Does the bank list such orders of this account, without a TAN that nobody could give?"""
    parameters = session.parameters
    is_offered = parameters.find_newest(form.TYPE, (form.VERSION,)) is not None and account.can(form.TYPE)
    return is_offered and bool(account.iban) and not parameters.needs_tan(form.TYPE)


def list_segments(session: Session, account: Account, form: type[FinTS3Segment]) -> list[Any]:
    """Raises RefusedError where the bank refuses."""

    def make_request(touchdown: str | None) -> FinTS3Segment:
        return form(
            account=name_account(form, account),
            sepa_formats=SupportedMessageTypes([find_descriptor(session)]),
            touchdown_point=touchdown,
        )

    return list_pages(session, form.TYPE, make_request)


def list_pages(session: Session, command: str, make_request: Callable[[str | None], FinTS3Segment]) -> list[Any]:
    """What the bank lists, page by page; `make_request` gets the point from which to go on."""
    return [segment for page in read_pages(session, command, make_request) for segment in page]


def read_pages(
    session: Session, command: str, make_request: Callable[[str | None], FinTS3Segment]
) -> Iterator[Sequence[Any]]:
    """One page after the other. Each is asked for only when it is wanted."""
    touchdown = None
    for _ in range(MAX_PAGES):
        reply = session.send(make_request(touchdown)).refuse()
        yield reply.list(f"HI{command[2:]}")
        more = [code for code in reply.codes if code.code == MORE_FOLLOWS and code.parameters]
        if not more:
            return
        touchdown = more[0].parameters[0]
    raise NoResponseError("a list without an end")
