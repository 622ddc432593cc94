"""Which way to a bank is taken."""

from hypothesis import given
from hypothesis import strategies as st

from kontor.domain.routing import Health, choose_bank_channel

BANK_CHANNELS = ("fints", "xs2a", "files")
healths = st.builds(
    lambda calls, failures: Health(calls, calls - min(failures, calls), min(failures, calls)),
    st.integers(0, 50),
    st.integers(0, 6),
)
everything = st.dictionaries(st.sampled_from(BANK_CHANNELS), healths)


def test_the_way_used_before_is_kept_while_it_works():
    assert choose_bank_channel(BANK_CHANNELS, "xs2a", {"xs2a": Health(10, 8, 2)}) == "xs2a"


def test_a_way_that_failed_three_times_in_a_row_is_left():
    assert choose_bank_channel(BANK_CHANNELS, "fints", {"fints": Health(9, 6, 3), "xs2a": Health(9, 9, 0)}) == "xs2a"


def test_among_unknown_ways_the_preferred_one_is_taken():
    assert choose_bank_channel(BANK_CHANNELS, None, {}) == "fints"


def test_the_better_record_wins():
    health = {"fints": Health(10, 7, 0), "xs2a": Health(10, 9, 0), "files": Health(10, 8, 0)}
    assert choose_bank_channel(BANK_CHANNELS, None, health) == "xs2a"


def test_where_nothing_works_the_least_bad_one_is_tried():
    health = {"fints": Health(9, 0, 9), "xs2a": Health(4, 0, 4), "files": Health(5, 0, 5)}
    assert choose_bank_channel(BANK_CHANNELS, "fints", health) == "xs2a"


@given(st.one_of(st.none(), st.sampled_from(BANK_CHANNELS)), everything)
def test_an_avoided_way_is_never_taken_while_another_works(current, health):
    bank_channel = choose_bank_channel(BANK_CHANNELS, current, health)
    assert bank_channel in BANK_CHANNELS
    if any(not health.get(channel, Health()).is_avoided for channel in BANK_CHANNELS):
        assert not health.get(bank_channel, Health()).is_avoided
