"""The knowledge as a prepared file that is mapped: building it from the lexicon takes seconds in every process.

The file lies where Python keeps compiled modules, is written under the same conditions, and is named after everything
that it was made of. Patterns and partners are decoded when they are first met.
"""

import mmap
import sys
import tempfile
from array import array
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields
from functools import lru_cache
from hashlib import blake2b
from itertools import compress
from operator import attrgetter
from pathlib import Path

import msgspec

from kontor.analysis.tagging.knowledge import NOTHING, Alias, Clue, Codes, Knowledge, Pattern, build_knowledge
from kontor.analysis.tagging.lexicons import Keyword, load_keywords, load_rules
from kontor.analysis.tagging.organisations import list_organisations
from kontor.analysis.tagging.partners import Partner, read_partners
from kontor.analysis.tagging.versions import derive_version

_SIZE_BYTES = 8
# Values of the fields in their order.
KeywordRecord = tuple[str, str, tuple[str, ...], str, str, str, str, int, float, tuple[str, ...]]
ClueRecord = tuple[str, float, float, int, str, str, tuple[int, ...], tuple[int, ...], KeywordRecord]
AliasRecord = tuple[int, bool, int, int, str, int, bool]
PatternRecord = tuple[
    tuple[ClueRecord, ...],
    tuple[ClueRecord, ...],
    tuple[ClueRecord, ...],
    tuple[ClueRecord, ...],
    tuple[AliasRecord, ...],
    bool,
    int,
    str,
]
PartnerRecord = tuple[
    str,
    int,
    str,
    tuple[str, ...],
    str,
    str,
    str,
    str,
    str,
    str,
    tuple[str, ...],
    str,
    str,
    str,
    str,
    str,
    bool,
    bool,
    tuple[str, ...],
]
_split_keyword = attrgetter(*(field.name for field in fields(Keyword)))
_split_clue = attrgetter(*(field.name for field in fields(Clue)))
_split_alias = attrgetter(*(field.name for field in fields(Alias)))
_split_partner = attrgetter(*(field.name for field in fields(Partner)))
_encode = msgspec.msgpack.Encoder().encode
_decode_pattern = msgspec.msgpack.Decoder(PatternRecord | None).decode
_decode_partner = msgspec.msgpack.Decoder(PartnerRecord).decode


class _Head(msgspec.Struct):
    """All but the records. Lists of words are lines of one text, which is read fastest. `words`, `names` and `brands`
    say of each completion whether it is one, in a byte each: the same strings stand in all of them."""

    texts: str
    partner_numbers: dict[str, int]
    codes: tuple[dict[str, tuple[ClueRecord, ...]], dict[str, tuple[ClueRecord, ...]]]
    creditors: dict[str, int]
    completions: str
    words: bytes
    names: bytes
    brands: bytes
    pattern_ends: bytes
    partner_ends: bytes


@lru_cache(maxsize=1)
def load_knowledge() -> Knowledge:
    """The prepared knowledge; where there is none, it is built, and prepared for the next process."""
    file = _name_file()
    with suppress(OSError, ValueError, msgspec.MsgspecError):
        return open_knowledge(file)
    knowledge = build_knowledge(read_all_partners(), load_keywords(), load_rules())
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            _store(file, pack_knowledge(knowledge))
    return knowledge


def read_all_partners() -> tuple[Partner, ...]:
    """Partners with lines of their own, and organisations of each city, by system name."""
    written = read_partners()
    return tuple(sorted([*written, *list_organisations(written)], key=attrgetter("system_name")))


def list_partners() -> tuple[Partner, ...]:
    """All partners by system name, without `UNKNOWN`."""
    knowledge = load_knowledge()
    return tuple([knowledge.partners[number] for number in knowledge.partner_numbers.values()])


def find_partner(system_name: str) -> Partner | None:
    return load_knowledge().find_partner(system_name)


# The file


def _name_file() -> Path:
    folder = Path(__file__).parent
    digest = blake2b(f"{derive_version()} {sys.implementation.cache_tag}".encode(), digest_size=8)
    for source in sorted(folder.glob("*.py")):
        digest.update(source.read_bytes())
    return folder / "__pycache__" / f"knowledge.{digest.hexdigest()}.bin"


def _store(file: Path, content: bytes) -> None:
    """Whole or not at all; what was made of an earlier lexicon goes."""
    file.parent.mkdir(exist_ok=True)
    earlier = list(file.parent.glob("knowledge.*.bin"))
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix="knowledge-", delete=False) as draft:
        draft.write(content)
    Path(draft.name).chmod(0o644)
    Path(draft.name).replace(file)
    for path in earlier:
        if path != file:
            path.unlink(missing_ok=True)


# Its content: the size of the head, the head, and the records of patterns and partners, one after the other.


def pack_knowledge(knowledge: Knowledge) -> bytes:
    patterns = [_encode(_split_pattern(knowledge.patterns[number])) for number in range(len(knowledge.patterns))]
    partners = [_encode(_split_partner(knowledge.partners[number])) for number in range(len(knowledge.partners))]
    incoming, outgoing = knowledge.codes
    head = _Head(
        texts="\n".join(knowledge.texts),
        partner_numbers=knowledge.partner_numbers,
        codes=(_split_codes(incoming), _split_codes(outgoing)),
        creditors=knowledge.creditors,
        completions="\n".join(knowledge.completions),
        words=bytes([word in knowledge.words for word in knowledge.completions]),
        names=bytes([word in knowledge.names for word in knowledge.completions]),
        brands=bytes([word in knowledge.brands for word in knowledge.completions]),
        pattern_ends=_find_ends(patterns),
        partner_ends=_find_ends(partners),
    )
    packed = _encode(head)
    return b"".join([len(packed).to_bytes(_SIZE_BYTES, "little"), packed, *patterns, *partners])


def _find_ends(records: Iterable[bytes]) -> bytes:
    """Where each record begins, and at last where the last one ends."""
    ends = array("I", [0])
    for record in records:
        ends.append(ends[-1] + len(record))
    return ends.tobytes()


def open_knowledge(file: Path) -> Knowledge:
    """Raises OSError where there is no such file, ValueError or MsgspecError where it is not whole."""
    with file.open("rb") as opened:
        content = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
    size = int.from_bytes(content[:_SIZE_BYTES], "little")
    head = msgspec.msgpack.decode(content[_SIZE_BYTES : _SIZE_BYTES + size], type=_Head)
    patterns, partners = _read_ends(head.pattern_ends), _read_ends(head.partner_ends)
    records = content[_SIZE_BYTES + size :]
    if len(records) != patterns[-1] + partners[-1]:
        raise ValueError("a part of the records is missing")
    incoming, outgoing = head.codes
    completions = head.completions.split("\n")
    return Knowledge(
        texts=head.texts.split("\n"),
        patterns=_Patterns(records, patterns),
        partners=_Partners(records[patterns[-1] :], partners),
        partner_numbers=head.partner_numbers,
        codes=(_join_codes(incoming), _join_codes(outgoing)),
        creditors=head.creditors,
        completions=completions,
        words=frozenset(compress(completions, head.words)),
        names=frozenset(compress(completions, head.names)),
        brands=frozenset(compress(completions, head.brands)),
    )


def _read_ends(content: bytes) -> "array[int]":
    ends = array("I")
    ends.frombytes(content)
    return ends


class _Patterns(dict[int, Pattern]):
    def __init__(self, records: memoryview, ends: "array[int]") -> None:
        super().__init__()
        self._records, self._ends = records, ends

    def __missing__(self, number: int) -> Pattern:
        record = _decode_pattern(self._records[self._ends[number] : self._ends[number + 1]])
        pattern = self[number] = NOTHING if record is None else _join_pattern(record)
        return pattern


class _Partners(dict[int, Partner]):
    def __init__(self, records: memoryview, ends: "array[int]") -> None:
        super().__init__()
        self._records, self._ends = records, ends

    def __missing__(self, number: int) -> Partner:
        record = _decode_partner(self._records[self._ends[number] : self._ends[number + 1]])
        partner = self[number] = Partner(*record)
        return partner


def _split_pattern(pattern: Pattern) -> PatternRecord | None:
    if pattern is NOTHING:
        return None
    return (
        _split_clues(pattern.incoming),
        _split_clues(pattern.outgoing),
        _split_clues(pattern.joint_incoming),
        _split_clues(pattern.joint_outgoing),
        tuple([_split_alias(alias) for alias in pattern.aliases]),
        pattern.is_closed,
        pattern.tail,
        pattern.word,
    )


def _join_pattern(record: PatternRecord) -> Pattern:
    incoming, outgoing, joint_incoming, joint_outgoing, aliases, is_closed, tail, word = record
    return Pattern(
        _join_clues(incoming),
        _join_clues(outgoing),
        _join_clues(joint_incoming),
        _join_clues(joint_outgoing),
        tuple([Alias(*alias) for alias in aliases]),
        is_closed,
        tail,
        word,
    )


def _split_codes(codes: Codes) -> dict[str, tuple[ClueRecord, ...]]:
    return {code: _split_clues(clues) for code, clues in codes.items()}


def _join_codes(codes: dict[str, tuple[ClueRecord, ...]]) -> Codes:
    return {code: _join_clues(clues) for code, clues in codes.items()}


def _split_clues(clues: tuple[Clue, ...]) -> tuple[ClueRecord, ...]:
    return tuple([(*_split_clue(clue)[:-1], _split_keyword(clue.keyword)) for clue in clues])


def _join_clues(records: tuple[ClueRecord, ...]) -> tuple[Clue, ...]:
    return tuple([Clue(*record[:-1], Keyword(*record[-1])) for record in records])
