"""Every file in `recorded/` is replayed against its connector. A new file needs no code."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from trace_replay import describe, replay

RECORDED = Path(__file__).parent / "recorded"
TRACES = sorted(RECORDED.glob("*.json"))


def load(name: str) -> dict[str, Any]:
    return json.loads((RECORDED / name).read_text(encoding="utf-8"))


def test_there_is_a_recorded_trace_of_each_protocol():
    assert {load(file.name)["connector"] for file in TRACES} == {"fints", "xs2a"}


@pytest.mark.parametrize("file", TRACES, ids=lambda file: file.stem)
def test_a_recorded_dialogue_has_the_same_result_today(file):
    trace = load(file.name)
    bank, headers, end = replay(trace)
    assert bank.mismatches == []
    assert bank.served == len(trace["exchanges"])
    assert describe(headers, end) == trace["expected"]


def test_a_connector_that_sends_another_segment_is_found():
    trace = load("demo-fints.json")
    request = trace["exchanges"][0]["request"]
    inner = next(part for part in request if isinstance(part, dict))["segments"]
    inner[:] = [segment.replace("HKSYN:5:3", "HKSYN:5:2") for segment in inner]
    bank, _, end = replay(trace)
    assert "HKSYN3" in bank.mismatches[0]
    assert describe(None, end) == {"failure": "UNREACHABLE"}


def test_a_connector_that_asks_for_another_path_is_found():
    trace = load("demo-xs2a.json")
    trace["exchanges"][-1]["path"] = "/v1/accounts"
    bank, headers, end = replay(trace)
    assert len(bank.mismatches) == 1
    assert describe(headers, end) != trace["expected"]


def test_an_exchange_without_an_answer_is_replayed_as_one():
    trace = copy.deepcopy(load("demo-fints.json"))
    del trace["exchanges"][0]["answer"]
    trace["exchanges"][0]["problem"] = "ReadTimeout"
    bank, _, end = replay(trace)
    assert bank.mismatches == []
    assert describe(None, end) == {"failure": "UNREACHABLE"}
