"""The category model and the confidences: small, exact, and refitted without surprises."""

from array import array
from importlib.resources import files

import pytest
from training.logistic import count_cells, fit

from kontor.analysis.tagging import load_tagger
from kontor.analysis.tagging.calibrating import score_cell
from kontor.analysis.tagging.category_models import (
    BITS,
    MAX_GRAMS,
    OFFSET,
    CategoryModel,
    hash_gram,
    list_grams,
    load_model,
)
from kontor.analysis.tagging.versions import derive_version

MODEL = files("kontor.analysis") / "data" / "model"
MAX_BYTES = 5_000_000


def test_the_model_ships_below_its_limit():
    assert sum(len(file.read_bytes()) for file in MODEL.iterdir()) < MAX_BYTES
    assert load_model() is not None


def test_lanes_of_a_big_number_add_up_as_single_weights_do():
    categories = ["A", "B", "C"]
    weights = bytearray([OFFSET] * (3 << BITS))
    grams = list_grams("baeckerei schmidt", "brot", False, "card")
    for place, gram in enumerate(grams):
        start = hash_gram(gram) * 3
        weights[start : start + 3] = bytes([place % 256, 255 - place % 256, 77])
    model = CategoryModel(categories, 0.5, [0.1, 0.2, 0.3], bytes(weights))
    sums = array("l", [0, 0, 0])
    for gram in grams:
        start = hash_gram(gram) * 3
        for lane in range(3):
            sums[lane] += weights[start + lane] - OFFSET
    scale = 0.5 / len(grams) ** 0.5
    assert model.score(grams, range(3)) == pytest.approx(
        [total * scale + bias for total, bias in zip(sums, (0.1, 0.2, 0.3), strict=True)]
    )


def test_even_the_longest_text_cannot_overflow_a_lane():
    grams = list_grams("wort " * 500, "zweck " * 500, True, "credit")
    assert len(grams) <= MAX_GRAMS
    model = CategoryModel(["A", "B"], 1.0, [0.0, 0.0], bytes([255, 0] * (1 << BITS)))
    first, second = model.score(grams, range(2))
    assert first == pytest.approx(-second * 127 / 128)


def test_a_guess_keeps_to_what_is_allowed():
    model = load_model()
    grams = list_grams("pizzeria roma", "", False, "card")
    free = model.guess(grams, range(len(model.categories)))
    bound = model.guess(grams, [model.categories.index(category) for category in ("TAXES", "HOUSING_RENT")])
    assert max(free, key=free.get) == "RECREATION_ENTERTAINMENTFOOD"
    assert bound.keys() <= {"TAXES", "HOUSING_RENT"}
    assert sum(free.values()) == pytest.approx(1)
    assert model.guess(grams, []) == {}


def test_a_fit_recovers_how_often_each_kind_was_right():
    samples = [(("sure",), index % 50 != 0) for index in range(1000)] + [
        (("doubtful",), index % 2 == 0) for index in range(1000)
    ]
    found = fit(count_cells(samples))
    assert score_cell(("sure",), found) == pytest.approx(0.98, abs=0.02)
    assert score_cell(("doubtful",), found) == pytest.approx(0.5, abs=0.03)
    assert found == fit(count_cells(samples))


def test_the_version_follows_from_knowledge_and_engine():
    assert load_tagger().version == derive_version()
    assert load_tagger() is load_tagger()
