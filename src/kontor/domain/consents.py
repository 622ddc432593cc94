"""Consents of customers to the reading of their accounts."""

from datetime import date, timedelta

# So long before its end a consent is offered for renewal, and the tenant is told that it ends.
RENEWAL_PERIOD = timedelta(days=14)


def is_consent_over(consent_until: date | None, today: date) -> bool:
    return consent_until is not None and consent_until < today
