"""Alerts: what users are told of their own accord, and the browsers that they are told in."""

from kontor.services.alerts.alerts import Alerts
from kontor.services.alerts.pushes import NewSubscription, Pushes

__all__ = ["Alerts", "NewSubscription", "Pushes"]
