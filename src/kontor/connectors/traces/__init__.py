"""Traces: dialogues with banks, masked, to be sent to the developers and replayed in tests."""

from kontor.connectors.traces.recording import Recorder, UnmaskedError

__all__ = ["Recorder", "UnmaskedError"]
