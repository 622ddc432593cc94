"""The demo bank's own page, where its customers confirm what somebody asks for in their name."""

from kontor.demobank.routes import make_routes

__all__ = ["make_routes"]
