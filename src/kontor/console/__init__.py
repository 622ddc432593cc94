"""The console: pages that show a user's money and an operator's service, made from the documented API alone."""

from kontor.console.routes import draw_missing, make_routes

__all__ = ["draw_missing", "make_routes"]
