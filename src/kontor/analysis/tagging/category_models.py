"""The category model: a linear model over hashed character n-grams.

It decides where no line of the lexicon does, and is weighed beside the lexicon where that leaves doubts.

Each n-gram has one small weight per category. The weights of an n-gram lie side by side in the lanes of one big number,
so that adding up a booking's n-grams is a hundred additions instead of ten thousand.
`python -m training` makes `data/model/category_model.bin` and its description `category_model.json`.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from math import exp
from zlib import crc32

BITS = 15
SIZE, MAX_WORDS = 5, 12
# Lanes of 16 bits hold the sum of this many weights between 0 and 255.
MAX_GRAMS = 256
OFFSET = 128
_LANE = 2
# What is this much less likely than the likeliest (as a logarithm) is left out.
FARTHEST = 5.0


def list_grams(name: str, purpose: str, is_incoming: bool, channel: str) -> list[bytes]:
    """The features of a booking: its words (those of the name apart from the purpose's) and their n-grams, sign and
    channel.

    Digits are left out, as numbers of bookings tell nothing.
    """
    sign = b"+" if is_incoming else b"-"
    grams = [b"#" + sign, b"#" + sign + channel.encode()]
    for mark, text in ((b"n", name), (b"p", purpose)):
        for word in text.split()[:MAX_WORDS]:
            if not word.isalpha():
                continue
            padded = f" {word} ".encode()
            grams.append(mark + padded)
            grams.extend([padded[start : start + SIZE] for start in range(max(1, len(padded) - SIZE + 1))])
    return grams[:MAX_GRAMS]


def hash_gram(gram: bytes) -> int:
    return crc32(gram) & ((1 << BITS) - 1)


class CategoryModel:
    """Scores without any dependency; `guess` says what it takes a booking for, and how surely."""

    def __init__(self, categories: list[str], scale: float, biases: list[float], weights: bytes) -> None:
        self.categories = categories
        self._scale, self._biases = scale, biases
        self._width = len(categories)
        self._rows = self._widen(weights)

    def _widen(self, weights: bytes) -> list[int]:
        """Each n-gram's bytes spread to lanes of two bytes, as one number."""
        lanes = bytearray(len(weights) * _LANE)
        lanes[::_LANE] = weights
        width = self._width * _LANE
        return [int.from_bytes(lanes[start : start + width], "little") for start in range(0, len(lanes), width)]

    def score(self, grams: list[bytes], allowed: Sequence[int]) -> list[float]:
        """What speaks for each of the allowed categories, which are numbers in `categories`."""
        rows, biases = self._rows, self._biases
        mask = (1 << BITS) - 1
        total = sum([rows[crc32(gram) & mask] for gram in grams])
        lanes = memoryview(total.to_bytes(self._width * _LANE, "little")).cast("H")
        # Every weight was stored with an offset; long texts do not shout.
        offset, scale = OFFSET * len(grams), self._scale / max(1.0, len(grams)) ** 0.5
        return [(lanes[number] - offset) * scale + biases[number] for number in allowed]

    def guess(self, grams: list[bytes], allowed: Sequence[int]) -> dict[str, float]:
        """Probabilities of the likeliest of the allowed categories."""
        scores = self.score(grams, allowed)
        if not scores:
            return {}
        best = max(scores)
        likely = [(number, score) for number, score in zip(allowed, scores, strict=True) if score > best - FARTHEST]
        values = [exp(score - best) for _, score in likely]
        total = sum(values)
        return {self.categories[number]: value / total for (number, _), value in zip(likely, values, strict=True)}


@lru_cache(maxsize=1)
def load_model() -> CategoryModel | None:
    """The packaged model, or nothing if there is none yet."""
    folder = files("kontor.analysis") / "data" / "model"
    if not (folder / "category_model.bin").is_file():
        return None
    about = json.loads((folder / "category_model.json").read_text(encoding="utf-8"))
    weights = (folder / "category_model.bin").read_bytes()
    return CategoryModel(about["categories"], about["scale"], about["biases"], weights)
