"""What cashflow is, as cases that a person can read."""

import pytest
from cashflow_cases import list_cases, read_case, run_case, show


@pytest.mark.parametrize("name", list_cases())
def test_golden_case_gives_exactly_the_expected_cashflow(name: str):
    case = read_case(name)
    assert [show(flow) for flow in run_case(case)] == case.expected
