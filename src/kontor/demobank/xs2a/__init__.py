"""The demo bank as a Berlin Group 1.3 ASPSP (NextGenPSD2 XS2A): consents, SCA, accounts, payments, over HTTP."""

from kontor.demobank.xs2a.app import make_xs2a_app
from kontor.demobank.xs2a.aspsp import DemoAspsp

__all__ = ["DemoAspsp", "make_xs2a_app"]
