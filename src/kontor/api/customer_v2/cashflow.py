"""Cashflow and disposable money of a customer."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kontor.analysis.cashflow import Focus, Level, Options, TaggedBy, find_cashflow, find_own_cashflow
from kontor.analysis.trees import Tree
from kontor.api.answers import Answer
from kontor.api.customer_v2.analyses import AI, HEAVY, Explain, analyse
from kontor.api.customer_v2.own_trees import name_state, read_own_tree
from kontor.api.operations import Call, Success, operation
from kontor.services.analyses import Facts
from kontor.wire.analyses import show_disposable_money
from kontor.wire.cashflow import Cashflow, show_cashflow
from kontor.wire.disposable_money import DisposableMoney
from kontor.wire.urls import Urls


class CashflowQuery(msgspec.Struct):
    focus: Annotated[
        Literal["time", "tag"], Meta(description="`time`: spans of time per tag; `tag`: tags per span of time")
    ] = "time"
    tag: Annotated[
        Literal["CATEGORIES", "BUSINESS_PARTNERS", "CUSTOM_CATEGORIES"], Meta(description="what money is summed by")
    ] = "CATEGORIES"
    catLevel: Annotated[Literal["sub", "main"], Meta(description="for categories only")] = "sub"  # noqa: N815
    excludeSavings: Annotated[bool, Meta(description="omit savings and investment transactions")] = False  # noqa: N815
    explain: Explain = False

    def read_options(self) -> Options:
        return Options(Focus(self.focus), TaggedBy(self.tag), Level(self.catLevel), self.excludeSavings, self.explain)


class DisposableMoneyQuery(msgspec.Struct):
    explain: Explain = False


@operation("GET", AI + "/cashflow", query=CashflowQuery, success=Success(shape=list[Cashflow]), **HEAVY)
async def read_cashflow(call: Call) -> Answer:
    """Read what came in and went out, and what this and the next month will bring.

    Bookings count by booking date, and in euros only. Pending bookings, days to come and transfers between own accounts
    do not count. The predictions of the current month are of the whole month.
    """
    query = call.query(CashflowQuery)
    options = query.read_options()
    if options.tagged_by is TaggedBy.CUSTOM_CATEGORIES:
        tree = await read_own_tree(call)
        return await analyse(call, query, _show_own, options, tree, state=name_state(tree))
    return await analyse(call, query, _show_chosen, options)


def _show_own(facts: Facts, urls: Urls, options: Options, tree: Tree) -> list[Cashflow]:
    cashflows = find_own_cashflow(
        facts.records, facts.contracts, facts.accounts, facts.today, options, frozenset(tree.items)
    )
    return show_cashflow(cashflows, facts, urls, options, tree)


def _show_chosen(facts: Facts, urls: Urls, options: Options) -> list[Cashflow]:
    cashflows = find_cashflow(facts.records, facts.contracts, facts.accounts, facts.today, options)
    return show_cashflow(cashflows, facts, urls, options)


@operation("GET", AI + "/disposable-money", query=DisposableMoneyQuery, success=Success(shape=DisposableMoney), **HEAVY)
async def read_disposable_money(call: Call) -> Answer:
    """Read what can be spent until the next salary; empty where no salary is active.

    The balance, less the payments that are due until then.
    """
    query = call.query(DisposableMoneyQuery)
    return await analyse(call, query, show_disposable_money, query.explain)
