"""Damage to a file, drawn from a random number generator."""

from collections.abc import Callable, Sequence
from random import Random

LARGEST = 400_000
WORDS = (
    b":61:", b":86:", b":20:", b":62F:", b"?20", b"?", b"\r\n", b"\n-", b"@@", b"<Ntry>", b"</Ntry>", b"<Amt>", b"]]>",
    b"<!--", b"&amp;", b"&#0;", b"&#xD800;", b"<!DOCTYPE a>", b"<![CDATA[", b"99999999999999999999", b"-", b",", b";",
    b'"', b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"EREF+", b"ABWA+", b"E+999999", b"1e9999", b"NaN", b"Infinity",
    b"00000000", b"20260230", b"9999-12-31", b"0001-01-01T00:00:00+23:59", b":16R:FIN", b":16S:FIN", b"UTF-16",
    b"'", b"+", b":", b"@9@", b"@99999999999@", b"?'", b"HIRMS:1:2+9999::x'", b"HISAL", b"{", b"}", b"[", b"null",
    b"true", b"-1", b"\\ud800", b"\\u0000", b"\xf0\x9f\x92\xb6", b"\xd9\xa1", b"stream\n", b"endobj", b"/Length 99999",
    b"<STMTTRN>", b"!Type:", b"^\n", b"<OFX>", b"\xe2\x80\xae",
)  # fmt: skip
Mutation = Callable[[bytes, Random], bytes]


def mutate(samples: Sequence[bytes], random: Random) -> bytes:
    """One of the samples, with one to eight kinds of damage."""
    data = random.choice(samples)
    if random.random() < 0.05:
        other = random.choice(samples)
        data = data[: random.randrange(len(data) + 1)] + other[random.randrange(len(other) + 1) :]
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        data = random.choice(MUTATIONS)(data, random)[:LARGEST]
    return data


def _cut(data: bytes, random: Random) -> tuple[int, int]:
    start = random.randrange(len(data) + 1)
    return start, min(len(data), start + random.choice((1, 2, 4, 16, 64, 1000)))


def _flip(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 3, 20))):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _put(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 3))):
        if changed:
            changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def _delete(data: bytes, random: Random) -> bytes:
    start, end = _cut(data, random)
    return data[:start] + data[end:]


def _repeat(data: bytes, random: Random) -> bytes:
    start, end = _cut(data, random)
    return data[:end] + data[start:end] * random.choice((1, 2, 10, 1000)) + data[end:]


def _insert(data: bytes, random: Random) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.choice(WORDS) * random.choice((1, 1, 1, 2, 50, 5000)) + data[place:]


def _replace_word(data: bytes, random: Random) -> bytes:
    start, end = _cut(data, random)
    return data[:start] + random.choice(WORDS) + data[end:]


def _truncate(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _swap(data: bytes, random: Random) -> bytes:
    lines = data.split(b"\n")
    first, second = random.randrange(len(lines)), random.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)


def _drop_line(data: bytes, random: Random) -> bytes:
    lines = data.split(b"\n")
    del lines[random.randrange(len(lines))]
    return b"\n".join(lines)


def _change_digits(data: bytes, random: Random) -> bytes:
    places = [place for place, byte in enumerate(data[:20_000]) if 48 <= byte < 58]
    changed = bytearray(data)
    for _ in range(random.choice((1, 2, 5))):
        if places:
            changed[random.choice(places)] = random.choice(b"0123456789-,.E")
    return bytes(changed)


def _recode(data: bytes, random: Random) -> bytes:
    target = random.choice(("utf-16", "utf-8", "utf-7", "utf-32", "cp500"))
    return data.decode("latin-1").encode(target, errors="replace")


MUTATIONS: tuple[Mutation, ...] = (
    _flip, _flip, _put, _delete, _delete, _repeat, _insert, _insert, _replace_word, _replace_word, _truncate, _swap,
    _drop_line, _change_digits, _change_digits, _recode,
)  # fmt: skip
