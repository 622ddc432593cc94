"""The console's pages, in the order of their navigation."""

from kontor.console.views import (
    accounts,
    affordability,
    cashflow,
    contracts,
    data,
    disposable,
    imports,
    insurances,
    life,
    ops,
    ops_who,
    ops_work,
    overview,
    payments,
    quickstart,
    statements,
    transactions,
    triggers,
)
from kontor.console.visits import View

VIEWS: list[View] = [
    *overview.VIEWS,
    *accounts.VIEWS,
    *transactions.VIEWS,
    *payments.VIEWS,
    *imports.VIEWS,
    *statements.VIEWS,
    *contracts.VIEWS,
    *cashflow.VIEWS,
    *disposable.VIEWS,
    *life.VIEWS,
    *insurances.VIEWS,
    *triggers.VIEWS,
    *affordability.VIEWS,
    *quickstart.VIEWS,
    *data.VIEWS,
    *ops.VIEWS,
    *ops_who.VIEWS,
    *ops_work.VIEWS,
]
