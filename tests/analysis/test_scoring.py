"""Figures of an evaluation, against what can be worked out by hand."""

from datetime import UTC, datetime
from decimal import Decimal
from random import Random

import pytest

from kontor.analysis.scoring.calibration import (
    Bin,
    find_auroc,
    find_brier_score,
    find_calibration_error,
    find_calibration_interval,
    find_interval,
    make_bins,
)
from kontor.analysis.scoring.partner_names import ShortNames
from kontor.analysis.scoring.tag_scores import Gold, Judged, Labelled, Share, fold_name, score_tags
from kontor.analysis.tagging import Partner, Tagging
from kontor.domain.transactions import Transaction

BOOKING = Transaction(Decimal("-1.00"), "EUR", datetime(2026, 3, 2, tzinfo=UTC))
NONE = ("UNRELATED_OTHER",)


def judge(
    gold,
    category,
    confidence=0.9,
    *,
    insurance=NONE,
    said_insurance="UNRELATED_OTHER",
    partner=(),
    said_partner="UNKNOWN",
    names=(),
    short=(),
):
    """One row with the accepted labels and what was said about it."""
    accepted = (gold,) if isinstance(gold, str) else gold
    said = Tagging(category, said_insurance, said_partner, "UNRELATED", confidence, 1.0, 1.0, 1.0)
    labels = Gold(accepted, insurance, partner, ("UNRELATED",))
    return Judged(Labelled("a", BOOKING, labels), said, names or (said_partner,), short_names=short)


# Confidence


def test_bins_are_tenths_and_a_confidence_of_one_is_in_the_last():
    found = make_bins([(0.05, False), (0.1, True), (0.19, False), (1.0, True), (0.95, True)])
    assert found == [Bin(1, 0.05, 0.0), Bin(2, pytest.approx(0.145), 0.5), Bin(2, pytest.approx(0.975), 1.0)]


def test_the_calibration_error_weighs_each_gap_by_its_rows():
    pairs = [(0.8, True), (0.8, True), (0.8, True), (0.8, False), (0.3, True)]
    # |0.8 - 0.75| of four rows and |0.3 - 1| of one.
    assert find_calibration_error(pairs) == pytest.approx((4 * 0.05 + 1 * 0.7) / 5)


def test_the_brier_score_is_the_mean_of_squares():
    assert find_brier_score([(0.9, True), (0.6, False), (1.0, True)]) == pytest.approx((0.01 + 0.36 + 0) / 3)


def test_the_auroc_counts_pairs_in_order_and_ties_as_half():
    pairs = [(0.9, True), (0.5, True), (0.5, False), (0.2, False)]
    # Of the four pairs of a right and a wrong one, three are in order and one is a tie.
    assert find_auroc(pairs) == pytest.approx(3.5 / 4)
    assert find_auroc([(0.9, True), (0.1, False)]) == 1.0
    assert find_auroc([(0.1, True), (0.9, False)]) == 0.0


def test_the_auroc_is_the_share_of_pairs_whatever_the_values():
    draw = Random(3)
    pairs = [(round(draw.random(), 1), draw.random() < 0.6) for _ in range(80)]
    rights = [confidence for confidence, is_right in pairs if is_right]
    wrongs = [confidence for confidence, is_right in pairs if not is_right]
    counted = sum((right > wrong) + 0.5 * (right == wrong) for right in rights for wrong in wrongs)
    assert find_auroc(pairs) == pytest.approx(counted / len(rights) / len(wrongs))


def test_without_right_or_wrong_answers_there_is_no_auroc():
    assert find_auroc([(0.9, True)]) is None
    assert find_auroc([(0.9, False)]) is None
    assert find_auroc([]) is None


@pytest.mark.parametrize(
    ("hits", "count", "interval"), [(3, 4, (0.3006, 0.9544)), (0, 10, (0.0, 0.2775)), (95, 100, (0.8882, 0.9785))]
)
def test_the_interval_of_a_share_is_that_of_wilson(hits, count, interval):
    assert Share(hits, count).interval == pytest.approx(interval, abs=1e-4)


def test_the_interval_of_a_calibration_error_is_the_same_for_the_same_answers():
    pairs = [(0.9, number % 10 != 0) for number in range(200)] + [(0.4, number % 2 == 0) for number in range(50)]
    low, high = find_calibration_interval(pairs)
    assert (low, high) == find_calibration_interval(pairs)
    assert low < find_calibration_error(pairs) + 0.01 < high + 0.01


def test_figures_of_nothing_are_zero():
    assert find_calibration_interval([]) == find_interval(0, 0) == (0.0, 0.0)
    assert (find_calibration_error([]), find_brier_score([]), make_bins([])) == (0.0, 0.0, [])
    scores = score_tags([])
    assert (scores.rows, scores.category, scores.macro_f1, scores.auroc) == (0, Share(0, 0), 0.0, None)


# Tags


def test_any_accepted_label_is_right_and_its_main_category_counts_apart():
    scores = score_tags(
        [
            judge("LIVING_RENT", "LIVING_RENT"),
            judge(("LIVING_RENT", "LIVING_OTHER"), "LIVING_OTHER"),
            judge("LIVING_RENT", "LIVING_GROCERIES"),
            judge("LIVING_RENT", "MOBILITY_FUEL"),
        ]
    )
    assert (scores.category, scores.main) == (Share(2, 4), Share(3, 4))
    assert (scores.category.value, scores.main.value) == (0.5, 0.75)


def test_a_wrong_partner_counts_apart_from_one_that_was_not_found():
    scores = score_tags(
        [
            judge("A_A", "A_A", partner=("REWE",), said_partner="REWE"),
            judge("A_A", "A_A", partner=("REWE",), said_partner="EDEKA"),
            judge("A_A", "A_A", partner=("REWE",)),
            judge("A_A", "A_A", said_partner="EDEKA"),
        ]
    )
    assert (scores.partner, scores.wrong_partner) == (Share(1, 3), Share(1, 3))


def test_precision_recall_and_macro_f1_follow_from_counts():
    scores = score_tags([judge("A_A", "A_A"), judge("A_A", "A_A"), judge("A_A", "B_B"), judge("B_B", "B_B")])
    found = {category.name: category for category in scores.categories}
    assert (found["A_A"].precision, found["A_A"].recall, found["A_A"].f1) == (1.0, pytest.approx(2 / 3), 0.8)
    assert (found["B_B"].precision, found["B_B"].recall) == (0.5, 1.0)
    assert scores.macro_f1 == pytest.approx((0.8 + 2 / 3) / 2)


def test_macro_f1_leaves_out_categories_that_no_row_has():
    scores = score_tags([judge("A_A", "A_A"), judge("A_A", "C_C")])
    assert [category.name for category in scores.categories] == ["A_A", "C_C"]
    assert scores.macro_f1 == pytest.approx(2 / 3)


def test_insurance_is_judged_on_insured_rows_and_false_alarms_on_the_others():
    scores = score_tags(
        [
            judge("I_A", "I_A", insurance=("VEHICLE_CAR",), said_insurance="VEHICLE_CAR"),
            judge("I_A", "I_A", insurance=("VEHICLE_CAR",), said_insurance="VEHICLE_OTHER"),
            judge("I_A", "I_A", insurance=("VEHICLE_CAR",), said_insurance="UNRELATED_OTHER"),
            judge("L_A", "L_A"),
            judge("L_A", "I_A", said_insurance="HEALTH_PRIVATE"),
            judge("L_A", "L_A", insurance=(), said_insurance="HEALTH_PRIVATE"),  # not judged
        ]
    )
    assert scores.insurance_division == Share(2, 3)
    assert scores.insurance_product == Share(1, 3)
    assert scores.false_insurance == Share(1, 2)


def test_a_partner_is_right_under_any_name_it_goes_by():
    known = ("Bayerische Landesbank", "BayernLB")
    rows = [judge("A_A", "A_A", partner=(name,), said_partner="X", names=known) for name in ("Bayern LB", "Helaba")]
    assert score_tags(rows).partner == Share(1, 2)


def test_partners_are_compared_as_people_read_them():
    scores = score_tags(
        [
            judge("A_A", "A_A", partner=("Müller & Söhne",), said_partner="X", names=("MUELLER + SOEHNE",)),
            judge("A_A", "A_A", partner=("Lidl",), said_partner="UNKNOWN"),
            judge("A_A", "A_A", partner=("UNKNOWN",), said_partner="LIDL"),
            judge("A_A", "A_A", partner=("UNKNOWN",)),
            judge("A_A", "A_A", partner=(), said_partner="LIDL"),  # not judged
        ]
    )
    assert (scores.partner, scores.false_partner) == (Share(1, 2), Share(1, 2))
    assert fold_name("H&M – Hennes") == fold_name("hm hennes")


def test_confusions_name_the_best_label_and_come_by_frequency():
    rows = [judge(("B_B", "B_C"), "A_A"), judge("A_A", "B_B"), judge("B_B", "A_A"), judge("A_A", "A_A")]
    assert score_tags(rows).confusions == [("B_B", "A_A", 2), ("A_A", "B_B", 1)]


def test_the_confidence_of_categories_is_what_calibration_is_about():
    scores = score_tags([judge("A_A", "A_A", 0.9), judge("A_A", "B_B", 0.4)])
    assert scores.calibration_error == pytest.approx((0.1 + 0.4) / 2)
    assert scores.brier == pytest.approx((0.01 + 0.16) / 2)
    assert scores.auroc == 1.0


# Names of partners


def make_partner(name: str, aliases: tuple[str, ...] = (), group: str = "") -> Partner:
    return Partner(name.upper(), 1, name, aliases, group=group)


def test_a_short_form_is_the_start_or_end_of_a_name_that_no_other_house_holds():
    halm, other = make_partner("Halms Familie", ("Haus Halm",)), make_partner("Familie Quendel")
    found = ShortNames([halm, other]).find(halm)
    assert found == ("halms", "haus", "halm")


def test_brands_of_one_group_share_their_short_forms():
    foods, talk = make_partner("Quendel Foods", group="Quendel"), make_partner("Quendel Talk", group="Quendel")
    assert "quendel" in ShortNames([foods, talk]).find(talk)
    assert "quendel" not in ShortNames([foods, talk, make_partner("Quendel & Sohn")]).find(talk)


def test_a_brand_goes_by_the_name_of_its_group_too():
    assert make_partner("Quendel Talk", group="Quendel").names == ("Quendel Talk", "Quendel")


def test_a_short_name_is_right_but_not_exact_and_another_name_is_wrong():
    rows = [
        judge("TAXES", "TAXES", partner=("Halms",), said_partner="HALMS", names=("Halms Familie",), short=("halms",)),
        judge("TAXES", "TAXES", partner=("Quendel",), said_partner="HALMS", names=("Halms Familie",), short=("halms",)),
    ]
    found = score_tags(rows)
    assert (found.partner.hits, found.wrong_partner.hits) == (1, 1)
    assert (found.exact_partner.hits, found.exact_wrong_partner.hits) == (0, 2)
