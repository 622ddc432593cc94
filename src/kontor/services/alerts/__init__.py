"""Alerts: what users are told of their own accord."""

from kontor.services.alerts.alerts import Alerts

__all__ = ["Alerts"]
