"""Prism between Kontor's connector and the demo bank: it checks every message of both against the official contract."""

from collections.abc import Iterator

import pytest
from prism import Watched, running_prism

from xs2a_dialogues import Xs2aBankUnderTest
from xs2a_flows import FLOWS

pytestmark = pytest.mark.official


@pytest.fixture(scope="module")
def prism(xs2a_bank: Xs2aBankUnderTest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with running_prism(xs2a_bank.url, tmp_path_factory.mktemp("prism")) as watched:
        yield watched


@pytest.mark.parametrize("flow", FLOWS)
def test_a_flow_violates_nothing(xs2a_bank, prism, flow):
    before, requests = len(prism.list_violations()), prism.count_requests()
    FLOWS[flow](xs2a_bank, prism.url)
    assert prism.list_violations()[before:] == []
    assert prism.count_requests() > requests, "nothing went through the proxy"
