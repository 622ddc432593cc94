"""Until when notice must be given."""

from datetime import date, timedelta

from kontor.analysis.contracts.findings import Contract, Status
from kontor.analysis.contracts.periods import BY_NAME
from kontor.domain.contracts import ContractSettings
from kontor.domain.notice_periods import move_by_months, read_period, subtract_period

MONTHS_OF_INSURANCES = 12


def find_notice_date(contract: Contract, settings: ContractSettings, today: date) -> date | None:
    """The last day of notice for the end of the minimum term.

    When that day is over, the term has renewed: the day for the next end that can still be reached. An insurance renews
    by a year, everything else by the period that it is paid for. What is no longer paid does not renew. None where the
    user has not set both, the end and the period of notice.
    """
    if settings.notice_period is None or settings.minimum_term_end is None:
        return None
    end, period = settings.minimum_term_end, read_period(settings.notice_period, "noticePeriod")
    first = subtract_period(end, period)
    if first >= today or contract.status is Status.INACTIVE:
        return first
    months, days = _find_renewal(contract)
    passed = today - first
    number = passed.days // days if days else passed.days // (31 * months)
    while (found := subtract_period(_renew(end, number, months, days), period)) < today:
        number += 1
    return found


def _renew(end: date, number: int, months: int, days: int) -> date:
    return end + timedelta(days=number * days) if days else move_by_months(end, number * months)


def _find_renewal(contract: Contract) -> tuple[int, int]:
    """In months, or in days."""
    if contract.category.startswith("INSURANCE_"):
        return MONTHS_OF_INSURANCES, 0
    period = BY_NAME[contract.period]
    return (0, 7 * period.weeks) if period.weeks else (int(period.months), 0)
