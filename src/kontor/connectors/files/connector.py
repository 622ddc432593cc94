"""Statement files as a connector: a login is a folder, its PIN stands in a file of that folder.

Below one folder of the operator's each customer has a folder, into which statements are put: MT940, camt, CSV of the
large banks, MT535, or zips of them. A fetch reads them all; a file that cannot be read is a problem, not the end.
"""

import hmac
import re
from contextlib import suppress
from pathlib import Path

from kontor.connectors.base import (
    Answer,
    Cancel,
    Context,
    Continue,
    Credentials,
    Done,
    Failed,
    FailureKind,
    Fetch,
    Fetched,
    Headers,
    Job,
    Problem,
    ProblemKind,
    Progress,
    State,
    Step,
)
from kontor.connectors.files.accounts import FileAccount, join_statements
from kontor.connectors.job_state import deserialize_job, serialize_job
from kontor.connectors.rejections import report_rejected
from kontor.connectors.revocations import Revoke
from kontor.connectors.statements import LIMITS, Holdings, Statement, StatementError, read_statements
from kontor.domain.providers import Provider
from kontor.domain.transactions import find_day

PIN_FILE = ".pin"
MAX_FILES = 5000
_FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


class FilesConnector:
    kind = "files"

    def __init__(self, root: Path) -> None:
        self._root = root

    def begin(
        self, provider: Provider, credentials: Credentials, job: Job, connector_state: State | None, context: Context
    ) -> Step:
        if isinstance(job, Revoke):
            return Failed(FailureKind.NOT_SUPPORTED, "files have no consent", was_called=False)
        name = credentials["userid"].reveal()
        if not self._is_admitted(name, credentials["pin"].reveal()):
            return Failed(FailureKind.WRONG_CREDENTIALS)
        if not isinstance(job, Fetch):
            return Failed(FailureKind.NOT_SUPPORTED, "Aus Dateien kann nicht überwiesen werden.")
        state: State = {"folder": name, "job": serialize_job(job), "stage": "headers"}
        accounts, _ = self._read(name, job)
        return Progress(Headers(tuple(account.product for account in accounts)), state)

    def resume(
        self, provider: Provider, credentials: Credentials, state: State, answer: Answer, context: Context
    ) -> Step:
        if isinstance(answer, Cancel):
            return Failed(FailureKind.CANCELLED)
        name = credentials["userid"].reveal()
        is_same = name == state["folder"] and self._is_admitted(name, credentials["pin"].reveal())
        if not isinstance(answer, Continue) or not is_same:
            return Failed(FailureKind.REJECTED, "this answer does not fit the open step")
        job = deserialize_job(state["job"])
        assert isinstance(job, Fetch)
        accounts, problems = self._read(state["folder"], job)
        transactions, positions = {}, {}
        for account in accounts:
            key = account.product.key
            if account.positions is not None:
                positions[key] = account.positions
                continue
            since = job.since.get(key)
            transactions[key] = tuple(
                row for row in account.transactions if since is None or (find_day(row) or since) >= since
            )
        spans = {account.product.key: account.spans for account in accounts if account.spans}
        return Done(Fetched(transactions, positions, tuple(problems), spans=spans))

    def _is_admitted(self, name: str, pin: str) -> bool:
        """Names that could lead anywhere else name no folder."""
        if not _FOLDER.fullmatch(name) or (self._root / name).is_symlink():
            return False
        try:
            wanted = (self._root / name / PIN_FILE).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return False
        return bool(wanted) and hmac.compare_digest(wanted.encode(), pin.encode())

    def _read(self, name: str, job: Fetch) -> tuple[list[FileAccount], list[Problem]]:
        statements: list[Statement] = []
        holdings: list[Holdings] = []
        problems: list[Problem] = []
        for file in self._list_files(name):
            try:
                if file.stat().st_size > LIMITS.size:
                    raise StatementError("The file is too large.")
                readings = read_statements(file.read_bytes())
            except (StatementError, OSError) as error:
                problems.append(Problem(ProblemKind.ACCESS_INCOMPLETE, detail=f"{file.name}: {error}"))
                continue
            statements += readings.statements
            holdings += readings.holdings
        accounts = [
            account
            for account in join_statements(statements, holdings)
            if job.selected is None or account.product.key in job.selected
        ]
        for account in accounts:
            key = account.product.key
            problems += [
                Problem(ProblemKind.TRANSACTIONS, key, f"{doubt.detail}: {doubt.kind}") for doubt in account.doubts
            ]
            if account.rejected:
                problems.append(report_rejected(key, account.rejected))
        return accounts, problems

    def _list_files(self, name: str) -> list[Path]:
        with suppress(FileNotFoundError):
            files = [file for file in (self._root / name).iterdir() if _is_statement(file)]
            return sorted(files)[:MAX_FILES]
        return []


def _is_statement(file: Path) -> bool:
    """A file of this folder: whoever may put a link here must not be shown what it leads to."""
    return file.is_file() and not file.is_symlink() and not file.name.startswith(".")
