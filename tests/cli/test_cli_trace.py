"""`kontor trace` against the demo bank's FinTS and XS2A servers: nothing of the customer is in the file."""

import base64
import binascii
import io
import json
import re
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from fints_banks import running_fints_bank
from kontor.cli import commands
from kontor.config import Settings, export_settings
from kontor.connectors.demo.people import person_for
from kontor.connectors.traces.masking import FIXED_WORDS, Mask
from trace_replay import describe, replay
from xs2a_dialogues import TODAY, Xs2aBankUnderTest, running_xs2a_bank

FINTS_CODE, XS2A_CODE = "99999999", "99999998"
PRODUCT = "9FA6681DEC0CF3046BFC2F8A6"
PIN = "demo"
TENANT = "c-traces"
KEY = b"one key"
# Words that name the bank, protocols and kinds of accounts, not the customer.
PUBLIC_WORDS = FIXED_WORDS | {"kontor", "demobank", "kontdeffxxx"}


@dataclass
class TracingKontor:
    run: Callable[..., tuple[int, str]]
    folder: Path

    def trace(self, code: str, *lines: str) -> tuple[str, dict[str, Any]]:
        """The file's text and content, after a run with these lines typed in."""
        output = self.folder / f"{uuid4().hex}.json"
        status, said = self.run("trace", TENANT, "anna", code, "--output", str(output), lines=lines)
        assert status == 0, said
        assert "Read the file before you send it" in said
        assert stat.S_IMODE(output.stat().st_mode) == 0o600
        text = output.read_text(encoding="utf-8")
        return text, json.loads(text)


@pytest.fixture(scope="module")
def xs2a_bank(settings: Settings) -> Iterator[Xs2aBankUnderTest]:
    with running_xs2a_bank(settings) as bank:
        yield bank


@pytest.fixture(scope="module")
def settings_of_banks(
    settings: Settings, xs2a_bank: Xs2aBankUnderTest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    folder = tmp_path_factory.mktemp("trace")
    with running_fints_bank(settings, folder, page_rows=50) as fints:
        own_banks = folder / "banks.toml"
        own_banks.write_text(
            f'[[bank]]\ncode = "{FINTS_CODE}"\nname = "FinTS-Bank"\nfints = "{fints.url}"\n\n'
            f'[[bank]]\ncode = "{XS2A_CODE}"\nname = "XS2A-Bank"\n[bank.xs2a]\nbase_url = "{xs2a_bank.url}"\n',
            encoding="utf-8",
        )
        facts: dict[str, Any] = {
            "demo_bank": False,
            "fints_product_id": PRODUCT,
            "bank_authorities": fints.authority,
            "today": TODAY,
        }
        yield replace(settings, banks=own_banks, **facts)


@pytest.fixture
def kontor(
    settings_of_banks: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[TracingKontor]:
    """With one key for all masks, so that a masked word is the same in every run."""
    for name, value in export_settings(settings_of_banks).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("kontor.logs.configure_logs", lambda *_: None)
    monkeypatch.setattr("kontor.connectors.traces.recording.Mask", lambda key: Mask(KEY))
    before = signal.getsignal(signal.SIGTERM)

    def run(
        *arguments: str, lines: tuple[str, ...] = (), read_line: Callable[[], str] | None = None
    ) -> tuple[int, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        if read_line is not None:
            monkeypatch.setattr("sys.stdin.readline", read_line, raising=False)
        capsys.readouterr()
        status, said = commands.run(list(arguments)), capsys.readouterr()
        return status, said.out + said.err

    if TENANT not in run("tenant", "list")[1]:
        assert run("tenant", "create", TENANT, "--regulated")[0] == 0
        assert run("user", "create", TENANT, "anna", lines=("annas password",))[0] == 0
    yield TracingKontor(run, tmp_path)
    signal.signal(signal.SIGTERM, before)


# What is known of a customer


@dataclass
class Customer:
    words: set[str]
    numbers: set[str]
    amounts: set[str]

    @property
    def distinct_amounts(self) -> set[str]:
        """Larger ones that are not also what another amount is masked as."""
        masked = {Mask(KEY).scale(amount) for amount in self.amounts}
        return {amount for amount in self.amounts if len(amount) >= len("100.00")} - masked


def find_customer(login: str) -> Customer:
    """Every word of five letters or more, every long number and every amount that the bank knows of a person."""
    person = person_for(login, TODAY)
    assert person is not None
    texts, amounts = [person.name], []
    for account in person.accounts:
        product = account.product
        texts += [product.holder, product.name, product.iban or "", product.account_number or ""]
        amounts.append(product.balance)
        for entry in account.entries:
            row = entry.transaction
            texts += [row.counterparty_name or "", row.counterparty_iban or "", row.purpose or ""]
            amounts.append(row.amount)
    found = {word for text in texts for word in re.findall(r"[^\W_]+", text)}
    return Customer(
        {word.lower() for word in found if len(word) >= 5 and word.isalpha()} - PUBLIC_WORDS,
        {word for word in found if len(word) >= 5 and any(map(str.isdigit, word))},
        {f"{abs(amount):.2f}" for amount in amounts if amount is not None},
    )


def find_survivors(text: str, customer: Customer) -> set[str]:
    """What of the customer is in a trace file, as it is or inside of Base64."""
    plain = "\n".join(list_texts(json.loads(text)["exchanges"]))
    pieces = [plain, *decode_pieces(plain)]
    survivors, amounts = set[str](), customer.distinct_amounts
    for piece in pieces:
        words = set(re.findall(r"[^\W_]+", piece))
        survivors |= {word for word in words if word.lower() in customer.words} | (words & customer.numbers)
        survivors |= {amount.replace(",", ".") for amount in re.findall(r"[0-9]+[.,][0-9]{2}\b", piece)} & amounts
    return survivors


def list_texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for name, item in value.items() for text in (name, *list_texts(item))]
    if isinstance(value, list):
        return [text for item in value for text in list_texts(item)]
    return [str(value)]


def decode_pieces(text: str) -> Iterator[str]:
    for run in re.findall(r"[A-Za-z0-9+/]{12,}={0,2}", text):
        for start in range(4):
            piece = run[start:].rstrip("=")
            with suppress(binascii.Error):
                yield base64.b64decode(piece + "=" * (-len(piece) % 4)).decode("latin-1")


def test_survivors_are_found_in_an_unmasked_text():
    customer = Customer({"mustermann"}, {"DE89370400440532013000"}, {"1809.42"})
    hidden = base64.b64encode(b"Erika Mustermann").decode()
    for text in ("Erika Mustermann", "DE89370400440532013000", "EUR1809,42", hidden):
        assert find_survivors(json.dumps({"exchanges": [{"answer": [text]}]}), customer), text
    assert not find_survivors(json.dumps({"exchanges": [{"answer": ["Fpqtw Rjcyavkwbe EUR51,00"]}]}), customer)


@pytest.mark.parametrize(
    ("code", "login", "lines"),
    [
        pytest.param(FINTS_CODE, "demo1+erika", (), marks=pytest.mark.long),
        pytest.param(XS2A_CODE, "student+erika", ("246810",), marks=pytest.mark.long),
        (FINTS_CODE, "test_sca_method_media+erika", ("1", "2", "246810")),
        (FINTS_CODE, "test_chiptan+erika", ("936086",)),
        (FINTS_CODE, "test_phototan+erika", ("8534842",)),
        (XS2A_CODE, "test_sca_method+erika", ("1", "246810")),
        (XS2A_CODE, "test_decoupled+erika", ("", "")),
    ],
)
def test_nothing_of_the_customer_is_in_the_file(kontor, code, login, lines):
    text, trace = kontor.trace(code, login, PIN, *lines)
    customer = find_customer(login)
    assert len(customer.words) > 30
    assert len(customer.distinct_amounts) > 5
    assert find_survivors(text, customer) == set()
    for secret in (login, login.partition("+")[0], PIN, PRODUCT, *(line for line in lines if len(line) > 3)):
        assert re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", text) is None, secret
    assert all(account["bookings"] for account in trace["expected"]["accounts"] if account["category"] != "DEPOT")


@pytest.mark.parametrize(
    ("code", "login", "lines", "steps"),
    [
        pytest.param(FINTS_CODE, "demo1+replay", (), [], marks=pytest.mark.long),
        (FINTS_CODE, "test_sca_method_media+replay", ("1", "2", "24"), ["NeedMethod", "NeedMedium", "NeedTan"]),
        (FINTS_CODE, "test_decoupled+replay", ("", "", "", ""), ["NeedConfirmation"]),
        (XS2A_CODE, "test_sca_method+replay", ("1", "24"), ["NeedMethod", "NeedTan"]),
    ],
)
def test_a_trace_replays(kontor, code, login, lines, steps):
    _, trace = kontor.trace(code, login, PIN, *lines)
    assert list(dict.fromkeys(step["question"] for step in trace["steps"])) == steps
    bank, headers, end = replay(trace)
    assert bank.mismatches == []
    assert describe(headers, end) == trace["expected"]


def test_a_redirect_is_shown_and_traced(kontor, xs2a_bank, monkeypatch):
    said: list[str] = []
    monkeypatch.setattr("kontor.cli.traces.say", said.append)
    credentials = iter(["test_redirect+erika", PIN])

    def read_line() -> str:
        if not said[-1].startswith("Confirm there"):
            return next(credentials)
        return f"https://caller.example/back?{xs2a_bank.confirm(said[-2].removeprefix('Open '))}\n"

    output = kontor.folder / "redirect.json"
    status, _ = kontor.run("trace", TENANT, "anna", XS2A_CODE, "--output", str(output), read_line=read_line)
    assert status == 0, said
    trace = json.loads(output.read_text(encoding="utf-8"))
    assert trace["steps"] == [{"question": "NeedRedirect", "answer": "Returned"}]
    assert len(trace["expected"]["accounts"]) == 2
    bank, headers, end = replay(trace)
    assert bank.mismatches == []
    assert describe(headers, end) == trace["expected"]


def test_a_refused_pin_is_traced(kontor):
    text, trace = kontor.trace(FINTS_CODE, "student+wrong", "notthepin")
    assert trace["expected"] == {"failure": "WRONG_CREDENTIALS"}
    assert "notthepin" not in text


def test_an_unfinished_dialogue_is_traced_as_cancelled(kontor):
    _, trace = kontor.trace(FINTS_CODE, "test_chiptan+cancel", PIN, "")
    assert trace["expected"] == {"failure": "CANCELLED"}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("nobody", FINTS_CODE), "has no user nobody"),
        (("anna", "12345678"), "No provider 12345678 can be reached from here."),
    ],
)
def test_what_cannot_be_traced_is_refused(kontor, arguments, reason):
    output = kontor.folder / "none.json"
    status, said = kontor.run("trace", TENANT, *arguments, "--output", str(output), lines=("a", "b"))
    assert status == 1
    assert reason in said
    assert not output.exists()


def test_a_file_that_exists_is_not_overwritten(kontor):
    output = kontor.folder / "kept.json"
    output.write_text("kept", encoding="utf-8")
    status, said = kontor.run("trace", TENANT, "anna", FINTS_CODE, "--output", str(output), lines=("a", "b"))
    assert status == 1
    assert "exists" in said
    assert output.read_text(encoding="utf-8") == "kept"


def test_a_trace_stores_an_audit_entry_and_nothing_else(kontor):
    kontor.trace(FINTS_CODE, "leer+audit", PIN)
    status, said = kontor.run("audit", "list", TENANT)
    assert status == 0
    assert "bank.trace" in said
    assert "leer" not in said
