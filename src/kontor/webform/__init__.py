"""The redirect frontend: the pages on which a user connects a bank for a tenant that may not handle credentials."""

from kontor.webform.routes import make_routes

__all__ = ["make_routes"]
