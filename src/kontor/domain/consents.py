"""Consents of customers to the reading of their accounts."""

from datetime import timedelta

# So long before its end a consent is offered for renewal, and the tenant is told that it ends.
RENEWAL_PERIOD = timedelta(days=14)
