"""Account statements over FinTS: listed by HKKAU, fetched by HKEKA (several formats) or HKEKP (PDF).

Nothing is acknowledged (HKQTG): a bank that waits for that goes on counting a statement as not received. No order names
a TAN method, so that no bank can challenge the customer: one that wants a TAN refuses.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import date
from typing import Any

import structlog
from fints.segments.base import FinTS3Segment
from fints.segments.statement import HKKAU1, HKKAU2

from kontor.connectors.base import Context
from kontor.connectors.fints.accounts import Account, name_account
from kontor.connectors.fints.listed_orders import list_pages, read_pages
from kontor.connectors.fints.segments import HKEKA3, HKEKA4, HKEKA5, HKEKP1, HKEKP2
from kontor.connectors.fints.sessions import MALFORMED, RefusedError, Session
from kontor.connectors.fints.transport import NoResponseError
from kontor.domain.account_statements import (
    MAX_BYTES,
    MAX_PER_FETCH,
    MAX_STATEMENTS,
    AccountStatement,
    StatementFormat,
    StatementNumber,
    decode_content,
    find_format,
)

log = structlog.get_logger(__name__)

LISTS = {1: HKKAU1, 2: HKKAU2}
FILES = {3: HKEKA3, 4: HKEKA4, 5: HKEKA5}
PDF_FILES = {1: HKEKP1, 2: HKEKP2}
FORMATS = {"1": StatementFormat.MT940, "2": StatementFormat.ISO_8583, "3": StatementFormat.PDF}
PDF = "3"
FIRST_FORMAT = 3  # in the parameters: behind whether a number may be named, is a receipt wanted, may a count be named
MARGIN_SECONDS = 15.0  # of a step, for what comes after
COMMANDS = ("HKEKA", "HKEKP")
MAX_UNLISTED_BYTES = MAX_PER_FETCH * MAX_BYTES


class StatementFiles:
    """Statements of a customer's accounts that are not known yet.

    Without `is_authenticated` (in this very dialogue) nothing is asked for that a TAN is needed for.
    """

    def __init__(self, session: Session, context: Context, *, is_authenticated: bool) -> None:
        self._session = session
        self._context = context
        self._is_authenticated = is_authenticated

    def list_new(self, account: Account, known: Collection[StatementNumber]) -> tuple[AccountStatement, ...] | None:
        """None where the bank offers none. Whatever else goes wrong here, the bank has told all before, which counts.

        Raises RefusedError where the bank refuses the PIN.
        """
        form = self._choose_form(account)
        if form is None or not self._has_time:
            return None
        found: list[AccountStatement] = []
        try:
            self._collect(account, form, known, found)
        except RefusedError as error:
            if error.is_about_pin:
                raise
            log.info("fints.statements-refused", codes=sorted(error.codes))
        except (NoResponseError, *MALFORMED) as error:
            log.info("fints.statements-unreadable", reason=type(error).__name__)
        return tuple(found)

    @property
    def _has_time(self) -> bool:
        return self._session.is_open and self._context.remaining_seconds() > MARGIN_SECONDS

    def _collect(
        self,
        account: Account,
        form: type[FinTS3Segment],
        known: Collection[StatementNumber],
        found: list[AccountStatement],
    ) -> None:
        """Into `found`, so that what came before a failure counts."""
        listed = self._list(account) if list(_read_flags(self._session, form)[:1]) == ["J"] else None
        if listed is None:
            self._collect_unlisted(account, form, known, found)
            return
        missing = [statement for statement in listed if (statement.year, statement.number) not in known]
        found += missing  # named at least
        for place, statement in enumerate(missing[:MAX_PER_FETCH]):
            if not self._has_time:
                return
            first = next(self._fetch(account, form, statement), None)
            if first is not None:
                found[place] = first

    def _collect_unlisted(
        self,
        account: Account,
        form: type[FinTS3Segment],
        known: Collection[StatementNumber],
        found: list[AccountStatement],
    ) -> None:
        """What the bank counts as not received. It goes on sending what is known here, as nothing is acknowledged."""
        size = 0
        for statement in self._fetch(account, form, AccountStatement()):
            if statement.number is None or (statement.year, statement.number) not in known:
                found.append(statement)
            size += statement.size or 0
            numbered = sum(item.number is not None for item in found)
            if numbered >= MAX_PER_FETCH or size >= MAX_UNLISTED_BYTES or not self._has_time:
                return

    def _list(self, account: Account) -> list[AccountStatement] | None:
        """What the bank has, newest first; None where it has no such list."""
        version = self._session.parameters.find_newest("HKKAU", LISTS)
        if version is None or not self._may_ask(account, "HKKAU"):
            return None
        form = LISTS[version]
        segments = list_pages(
            self._session,
            "HKKAU",
            lambda touchdown: form(account=name_account(form, account), touchdown_point=touchdown),
        )
        listed = [statement for segment in segments if (statement := _read_entry(segment)) is not None]
        listed.sort(key=lambda statement: (statement.year or 0, statement.number or 0), reverse=True)
        return listed[:MAX_STATEMENTS]

    def _fetch(
        self, account: Account, form: type[FinTS3Segment], wanted: AccountStatement
    ) -> Iterator[AccountStatement]:
        """The files of one statement; without a number, of those that the bank counts as not received."""

        def make_request(touchdown: str | None) -> FinTS3Segment:
            segment = form(account=name_account(form, account), touchdown_point=touchdown)
            if wanted.number is not None:
                segment.statement_number = wanted.number
                segment.statement_year = wanted.year
            if form.TYPE == "HKEKA":
                segment.statement_format = _choose_format(self._session, form)
            return segment

        for page in read_pages(self._session, form.TYPE, make_request):
            for segment in page:
                if segment.data:
                    yield _read_file(segment, wanted)

    def _choose_form(self, account: Account) -> type[FinTS3Segment] | None:
        """HKEKA where it has PDF, else HKEKP, else HKEKA with what it has."""
        forms = [
            form
            for command in COMMANDS
            if self._may_ask(account, command) and (form := _find_form(self._session, command)) is not None
        ]
        with_pdf = [form for form in forms if form.TYPE == "HKEKP" or _choose_format(self._session, form) == PDF]
        return next(iter((*with_pdf, *forms)), None)

    def _may_ask(self, account: Account, command: str) -> bool:
        needs_tan = self._session.parameters.needs_tan(command) and not self._is_authenticated
        return account.can(command) and not account.is_card and not needs_tan


def _find_form(session: Session, command: str) -> type[FinTS3Segment] | None:
    forms: dict[int, type[FinTS3Segment]] = FILES if command == "HKEKA" else PDF_FILES
    version = session.parameters.find_newest(command, forms)
    return None if version is None else forms[version]


def _read_flags(session: Session, form: type[FinTS3Segment]) -> Sequence[str]:
    """The last group of the parameters, which the library hands out as it came."""
    for segment in session.parameters.bank.segments.find_segments(f"HI{form.TYPE[2:]}S", form.VERSION):
        groups = [element for element in segment._additional_data if isinstance(element, list)]
        if groups:
            return tuple(groups[-1])
    return ()


def _choose_format(session: Session, form: type[FinTS3Segment]) -> str | None:
    offered = [code for code in _read_flags(session, form)[FIRST_FORMAT:] if code in FORMATS]
    return PDF if PDF in offered else next(iter(offered), None)


def _read_entry(segment: Any) -> AccountStatement | None:
    """None for one whose file the bank does not hand out."""
    if segment.collection_possible is False or segment.statement_number is None:
        return None
    created = segment.date_created
    year = segment.year or (None if created is None else created.year)
    return AccountStatement(int(segment.statement_number), None if year is None else int(year), created_on=created)


def _read_file(segment: Any, wanted: AccountStatement) -> AccountStatement:
    content = decode_content(bytes(segment.data or b""))
    code = getattr(segment, "statement_format", None)
    known = FORMATS.get(str(getattr(code, "value", code)))
    period = getattr(segment, "statement_period", None)
    number, year = getattr(segment, "statement_number", None), getattr(segment, "statement_year", None)
    return AccountStatement(
        wanted.number if number is None else int(number),
        wanted.year if year is None else int(year),
        _find_kind(content, known),
        content if len(content) <= MAX_BYTES else None,
        _read_day(getattr(period, "start_date", None)),
        _read_day(getattr(period, "end_date", None)),
        _read_day(getattr(segment, "date_created", None)) or wanted.created_on,
        len(content),
    )


def _find_kind(content: bytes, told: StatementFormat | None) -> StatementFormat:
    """What it is counts more than what the bank calls it."""
    found = find_format(content)
    return told or found if found is StatementFormat.OTHER and told is not StatementFormat.PDF else found


def _read_day(day: Any) -> date | None:
    return day if isinstance(day, date) else None
