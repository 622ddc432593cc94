"""Life events: what has changed in somebody's life, and when, as far as bookings tell."""

from kontor.analysis.life_events.detection import find_events, find_life_events
from kontor.analysis.life_events.findings import LifeEvent
from kontor.analysis.life_events.signals import LifeSignals, SignalPeriod, read_life_signals

__all__ = ["LifeEvent", "LifeSignals", "SignalPeriod", "find_events", "find_life_events", "read_life_signals"]
