"""Reading a bank's messages: the shortened steps of the library find what the library finds."""

from fints.segments.base import FinTS3Segment
from fints.types import SegmentSequence
from fints_payer import know_bank

from kontor.connectors.fints.parameters import BankParameters
from kontor.connectors.fints.parsing import find_class


def test_each_segment_is_read_by_the_class_of_its_name_and_version():
    named = [each for each in FinTS3Segment._all_subclasses() if each.TYPE and each.VERSION]
    newest = {(each.TYPE, each.VERSION): each for each in named}  # of two with one name the library takes the last
    assert len(newest) > 100
    assert {key: find_class([[key[0], "3", str(key[1])]]) for key in newest} == newest


def test_a_segment_that_nobody_knows_is_read_in_its_general_form():
    assert find_class([["HIXYZ", "3", "9"]]) is FinTS3Segment
    [segment] = SegmentSequence(b"HIXYZ:3:9+a+b'").segments
    assert (segment.header.type, segment._additional_data) == ("HIXYZ", ["a", "b"])


def test_a_banks_parameters_that_were_read_are_not_written_again(bank, monkeypatch):
    kept = know_bank(bank)
    assert len(kept["bank"]) > 1000

    def refuse(_):
        raise AssertionError("written again")

    monkeypatch.setattr(SegmentSequence, "render_bytes", refuse)
    parameters = BankParameters.deserialize(kept)
    assert parameters.list_methods()
    assert parameters.serialize() == kept
