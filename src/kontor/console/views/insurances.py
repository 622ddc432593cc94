"""To be written."""

from kontor.console.visits import View

VIEWS: list[View] = []
