"""The demo bank behind a service such as Enable Banking: applications, sessions, accounts, over HTTP."""

from kontor.demobank.enablebanking.app import make_enablebanking_app
from kontor.demobank.enablebanking.applications import DemoApplication, make_application
from kontor.demobank.enablebanking.service import DemoService

__all__ = ["DemoApplication", "DemoService", "make_application", "make_enablebanking_app"]
