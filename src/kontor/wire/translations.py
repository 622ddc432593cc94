"""What callers read in another language than German: names and descriptions of tags, and messages for end customers.

German is what all of `wire` writes. A text in another language is found by the German one, in `texts/`.
"""

import re
import tomllib
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import cache
from importlib.resources import files

from kontor.analysis.trees import FIRST_YEAR, LAST_YEAR
from kontor.domain.languages import DEFAULT_LANGUAGE
from kontor.wire.encoding import encode_json
from kontor.wire.payment_messages import name_debits, name_standing_order

LANGUAGES = (DEFAULT_LANGUAGE, "en")
PIECE_BYTES = 256 * 1024
# Names that users and tenants have given to own categories (their system names begin with X_) stay as they are.
_FIELD = re.compile(rb'"(displayName|description|message)":"((?:[^"\\]|\\.)*+)"(?!,"systemId":[0-9]+,"systemName":"X_)')


def translate(body: bytes, language: str) -> bytes:
    """JSON whose texts are in that language. What has no translation stays as it is."""
    known = _load(language)

    def replace(match: "re.Match[bytes]") -> bytes:
        found = known.get(match[2])
        return match[0] if found is None else b'"' + match[1] + b'":"' + found + b'"'

    return _FIELD.sub(replace, body)


async def translate_pieces(pieces: AsyncIterator[bytes], language: str) -> AsyncIterator[bytes]:
    """The same for JSON in pieces. They are cut anew behind a `}`, which no name of ours contains."""
    rest = b""
    async for piece in pieces:
        rest += piece
        end = rest.rfind(b"}") + 1
        yield translate(rest[:end], language)
        rest = rest[end:]
    yield translate(rest, language)


@cache
def _load(language: str) -> Mapping[bytes, bytes]:
    return {encode_json(german)[1:-1]: encode_json(text)[1:-1] for german, text in load_texts(language).items()}


@cache
def load_texts(language: str) -> Mapping[str, str]:
    """By the German text."""
    text = files("kontor.wire").joinpath("texts", f"{language}.toml").read_text(encoding="utf-8")
    sections: dict[str, dict[str, str]] = tomllib.loads(text)
    texts = dict(_list_spans(sections.pop("spans")))
    texts |= _list_transfers(sections["transfers"])
    for section in sections.values():
        texts |= section
    return texts


def _list_spans(patterns: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for german, text in patterns.items():
        for year in range(FIRST_YEAR, LAST_YEAR + 1):
            for week in range(1, 54) if "{week}" in german else (0,):
                yield german.format(year=year, week=week), text.format(year=year, week=week)


def _list_transfers(transfers: Mapping[str, str]) -> dict[str, str]:
    """What is said about transfers, as it reads for orders about standing orders and for direct debits."""
    texts = {}
    for german, text in transfers.items():
        texts[name_standing_order(german)] = text.replace("transfer", "order")
        texts[name_debits(german)] = text.replace("transfer", "direct debit")
        texts[name_debits(german, "Sammellastschrift")] = text.replace("transfer", "bulk direct debit")
    return texts
