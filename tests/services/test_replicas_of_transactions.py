"""Replicas that follow changes equal the list, whatever happens and whenever they read (ADR 0047)."""

import os

import pytest
from hypothesis import Phase
from hypothesis import settings as examples
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from replicas import PLACES, Stage, make_booking

from kontor.domain.annotations import UNCHANGED, Annotation
from many_examples import ALL_EXAMPLES
from processes import beside

BOOKINGS = st.lists(
    st.builds(
        lambda number, is_pending, is_reworded: (number, is_pending, is_reworded),
        st.integers(0, 9),
        st.booleans(),
        st.booleans(),
    ),
    max_size=10,
    unique_by=lambda booking: booking[0],
)
READERS = st.integers(0, 3)
ANNOTATIONS = st.builds(
    Annotation,
    note=st.sampled_from([UNCHANGED, None, "Rückfrage", "bezahlt"]),
    keywords=st.sampled_from([UNCHANGED, (), ("Urlaub",), ("Urlaub", "Steuer")]),
)
SPLITS = st.none() | st.integers(1, 9)
LIMITS = st.integers(1, 6)
KEYS = st.sampled_from(sorted(PLACES))


def make_rows(bookings, channel="XS2A"):
    return [
        make_booking(number, is_pending=is_pending, is_reworded=is_reworded, channel=channel)
        for number, is_pending, is_reworded in sorted(bookings)
    ]


@pytest.fixture(scope="module")
def stage(settings):
    with beside(settings) as own:
        stage = Stage(own)
        yield stage
        stage.close()


def make_machine(stage):
    class Replication(RuleBasedStateMachine):
        @initialize()
        def begin(self):
            self.user = stage.add_user()

        @rule(key=KEYS, bookings=BOOKINGS)
        def refresh(self, key, bookings):
            stage.runner.run(self.user.refresh(key, make_rows(bookings), is_file=False))

        @rule(key=KEYS, bookings=BOOKINGS)
        def import_file(self, key, bookings):
            stage.runner.run(self.user.refresh(key, make_rows(bookings, "CSV"), is_file=True))

        @rule(first=KEYS, second=KEYS, bookings=BOOKINGS, others=BOOKINGS, number=READERS, limit=LIMITS)
        def refresh_at_once(self, first, second, bookings, others, number, limit):
            both = (first, make_rows(bookings)), (second, make_rows(others))
            stage.runner.run(self.user.refresh_at_once(*both, number, limit))

        @rule(access_id=st.sampled_from("ab"))
        def delete_access(self, access_id):
            stage.runner.run(self.user.delete(access_id))

        @rule(place=READERS, category=st.sampled_from(["LIVING_GROCERIES", "HOUSING_RENT"]), is_for_all=st.booleans())
        def correct(self, place, category, is_for_all):
            stage.runner.run(self.user.correct(place, category, changes_existing=is_for_all))

        @rule(place=READERS, annotation=ANNOTATIONS, euros=SPLITS)
        def annotate(self, place, annotation, euros):
            stage.runner.run(self.user.annotate(place, annotation))
            stage.runner.run(self.user.split(place, euros))

        @rule(number=READERS, limit=LIMITS)
        def read_once(self, number, limit):
            stage.runner.run(self.user.read(number, limit))

        @rule(number=READERS, limit=LIMITS)
        def read_all(self, number, limit):
            stage.runner.run(self.user.finish(number, limit))
            stage.runner.run(self.user.check(number))

        def teardown(self):
            for number in range(len(self.user.readers)) if hasattr(self, "user") else ():
                stage.runner.run(self.user.finish(number, 3))
                stage.runner.run(self.user.check(number))

    return Replication


@pytest.mark.examples
def test_replicas_miss_nothing_are_told_nothing_twice_and_equal_the_list(stage):
    count = 150 if ALL_EXAMPLES in os.environ else 15
    # Without shrinking: an example takes a second, and shrinking hundreds of them.
    tried = examples(max_examples=count, stateful_step_count=20, phases=[Phase.explicit, Phase.generate])
    run_state_machine_as_test(make_machine(stage), settings=tried)
