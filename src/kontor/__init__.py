"""Kontor: connects bank accounts, pays, and understands what transactions mean."""

__version__ = "0.1.0"
