"""Tags and analyses of transactions that come with the call; nothing is stored."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from kontor_client.plans import Plan, fetch

Transactions = Sequence[Mapping[str, Any]]


def tag_transactions(transactions: Transactions, *, explain: bool = False) -> Plan[list[dict[str, Any]]]:
    """Each transaction (AiConnectTransaction of the interface) with its `tags`, in the same order."""
    return fetch(
        list[dict[str, Any]],
        "/ai/v1/transactions/tags",
        "POST",
        params={"explain": True if explain else None},
        json=list(transactions),
        is_repeatable=True,
    )


def analyse_transactions(
    analyses: Sequence[str],
    transactions: Transactions,
    *,
    accounts: Sequence[Mapping[str, Any]] | None = None,
    today: date | None = None,
    explain: bool = False,
) -> Plan[dict[str, Any]]:
    """One member for each analysis, such as `contracts` or `cashflow`, as the customer's endpoint answers it."""
    body: dict[str, Any] = {"analyses": list(analyses), "transactions": list(transactions)}
    body |= {"today": today} if today is not None else {}
    body |= {"accounts": list(accounts)} if accounts is not None else {}
    params = {"explain": True if explain else None}
    return fetch(dict[str, Any], "/ai/v1/analyses", "POST", params=params, json=body, is_repeatable=True)
