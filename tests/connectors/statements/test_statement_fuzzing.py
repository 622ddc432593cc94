"""Damaged files: whatever the bytes, a parser returns or raises `StatementError`, soon and in little memory.

`KONTOR_TEST_FUZZ_INPUTS` says how many damaged files all parsers together get; the suite's own number is small.
"""

import os
import random
import time
import tracemalloc
import zipfile
from decimal import Decimal
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statement_strategies import TODAY

from kontor.connectors.demo.people import person_for
from kontor.connectors.statements import StatementError, read_camt, read_csv, read_mt535, read_mt940, read_statements
from kontor.demobank.statements import write_camt052, write_camt053, write_mt535, write_mt940, write_mt942
from many_examples import many_examples

INPUTS = int(os.environ.get("KONTOR_TEST_FUZZ_INPUTS", "3000"))
NAMES = ("mt940", "mt942", "camt052", "camt053", "mt535", "csv", "zip")
MEMORY_BYTES = 50_000_000
CPU_SECONDS = 1.0
EVERY_MEASURED = 50  # tracing memory is slow, so a sample is traced
WORDS = (
    b":61:",
    b":86:",
    b":20:",
    b":62F:",
    b"?20",
    b"?",
    b"\r\n",
    b"\n-",
    b"<Ntry>",
    b"</Ntry>",
    b"<Amt>",
    b"]]>",
    b"<!--",
    b"&amp;",
    b"&#0;",
    b"<!DOCTYPE a>",
    b"99999999999999999999",
    b"-",
    b",",
    b";",
    b'"',
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"EREF+",
    b"ABWA+",
    b"E+999999",
    b"NaN",
    b"00000000",
    b"20260230",
    b"9999-12-31",
    b"0001-01-01T00:00:00+23:59",
    b":16R:FIN",
    b":16S:FIN",
    b"UTF-16",
)
CSV_HEADER = (
    "Auftragskonto;Buchungstag;Valutadatum;Buchungstext;Verwendungszweck;Beguenstigter/Zahlungspflichtiger;"
    "Kontonummer/IBAN;Betrag;Waehrung;Info\n"
)


@pytest.fixture(scope="module")
def seeds() -> dict[str, bytes]:
    person = person_for("vermoegend", TODAY)
    product = person.accounts[0].product
    rows = [entry.transaction for entry in person.accounts[0].entries]
    depot = next(account for account in person.accounts if account.positions)
    some = [*rows[100:102], *rows[-2:]]
    csv = CSV_HEADER + "".join(
        f"DE1;0{day}.11.26;01.11.26;Kauf;Größe {day};Laden;DE1;-{day},00;EUR;\n" for day in range(1, 6)
    )
    camt = write_camt052(product, some, Decimal("1.00"), day=TODAY)
    return {
        "mt940": write_mt940(product, some, Decimal("1.00"), day=TODAY),
        "mt942": write_mt942(product, some, day=TODAY),
        "camt052": camt,
        "camt053": write_camt053(product, some[:2], Decimal("1.00"), day=TODAY, version="08"),
        "mt535": write_mt535(depot.product, depot.positions[:3], day=TODAY),
        "csv": csv.encode("cp1252"),
        "zip": pack(camt),
    }


READERS = {
    "mt940": read_mt940,
    "mt942": read_mt940,
    "camt052": read_camt,
    "camt053": read_camt,
    "mt535": read_mt535,
    "csv": read_csv,
}


def damage(content: bytes, dice: random.Random) -> bytes:
    """One to five wounds: bytes changed, cut out, repeated, copied, or words put where they do not belong."""
    data = bytearray(content)
    for _ in range(dice.randint(1, 5)):
        at = dice.randrange(len(data) + 1)
        end = min(len(data), at + dice.choice((1, 2, 8, 60, 400)))
        match dice.randrange(6):
            case 0:
                data[at:end] = dice.randbytes(end - at)
            case 1:
                del data[at:end]
            case 2:
                data[at:at] = data[at:end] * dice.choice((1, 2, 20))
            case 3:
                data[at:at] = dice.choice(WORDS)
            case 4:
                data[at:end] = dice.choice(WORDS)
            case _:
                other = dice.randrange(len(data) + 1)
                data[other:other] = data[at:end]
        if not data:
            break
    return bytes(data)


def pack(content: bytes) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.xml", content)
    return out.getvalue()


def make_input(name: str, seeds: dict[str, bytes], dice: random.Random) -> bytes:
    """A damaged zip hardly ever opens, so every other one is a whole zip of a damaged file."""
    if name == "zip" and dice.random() < 0.5:
        return pack(damage(seeds["camt052"], dice))
    return damage(seeds[name], dice)


def check(read, content: bytes) -> bool:
    """True if it was read. Anything but `StatementError` goes through, and fails the test."""
    start = time.process_time()
    try:
        read(content)
        is_read = True
    except StatementError:
        is_read = False
    assert time.process_time() - start < CPU_SECONDS
    return is_read


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_raise_nothing_but_our_own_error(seeds, name):
    dice = random.Random(f"{name} 4711")
    read, count = READERS.get(name, read_statements), INPUTS // len(NAMES)
    outcomes = {True: 0, False: 0}
    for number in range(count):
        content = make_input(name, seeds, dice)
        if number % EVERY_MEASURED:
            outcomes[check(read if number % 3 else read_statements, content)] += 1
            continue
        tracemalloc.start()
        outcomes[check(read, content)] += 1
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < MEMORY_BYTES
    assert sum(outcomes.values()) == count
    # Damage that is always noticed at once would test nothing behind the front door.
    assert min(outcomes.values()) > 0


@many_examples(100)
@given(st.binary(max_size=400) | st.text(max_size=300).map(str.encode))
def test_arbitrary_bytes_raise_nothing_but_our_own_error(content):
    for read in (*READERS.values(), read_statements):
        check(read, content)
