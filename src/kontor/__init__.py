"""Kontor: connects bank accounts, pays, and understands what transactions mean."""

from kontor.versions import find_version

__version__ = find_version()
