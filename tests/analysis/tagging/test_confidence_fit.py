"""What the confidences are fitted on: labelled rows as they are, and without the partner that they name."""

import pytest
from tagging_rows import book
from training.confidences import ERRORS_WEIGH, Judgement, forget_houses, is_named, name_house, number_fold, weigh_errors
from training.samples import Sample

from kontor.analysis.tagging import NOBODY, find_partner
from kontor.analysis.tagging.taggers import make_tagger


def label(*partners: str) -> Sample:
    return Sample("a1", book(-5, "Wacholder", ""), NOBODY, ("SHOPPING_OTHER",), (), partners, (), True)


def test_an_error_on_a_labelled_row_counts_more_unless_its_partner_was_taken_out():
    wrong = Judgement(label(), ("k1",), is_right=False)
    assert len(list(weigh_errors([wrong]))) == ERRORS_WEIGH
    assert len(list(weigh_errors([wrong._replace(is_known=False)]))) == 1
    assert len(list(weigh_errors([wrong._replace(is_right=True)]))) == 1
    assert len(list(weigh_errors([wrong._replace(sample=label()._replace(is_labelled=False))]))) == 1


def test_no_partner_is_right_only_where_the_label_accepts_none():
    telekom = find_partner("TELEKOM")
    assert telekom is not None
    assert is_named(telekom, label("telekom"))
    assert not is_named(telekom, label("unknown"))
    assert is_named(None, label("vodafone", "unknown"))
    assert not is_named(None, label("vodafone"))


@pytest.mark.long
def test_all_brands_of_a_house_are_forgotten_together_and_other_houses_are_kept():
    telekom, vodafone = find_partner("TELEKOM"), find_partner("VODAFONE")
    assert telekom is not None
    assert vodafone is not None
    fold = number_fold(name_house(telekom))
    knowledge = forget_houses(fold)
    kept = [knowledge.partners[number] for number in knowledge.partner_numbers.values()]
    assert name_house(telekom) not in {name_house(partner) for partner in kept}
    tagger = make_tagger(None, knowledge)
    assert tagger.tag([book(-40, "Deutsche Telekom AG", "Rechnung")], NOBODY)[0].partner != "TELEKOM"
    assert number_fold(name_house(vodafone)) != fold
    assert tagger.tag([book(-40, "Vodafone GmbH", "Rechnung")], NOBODY)[0].partner == "VODAFONE"
