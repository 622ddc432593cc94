"""Golden cases: a user's data, anonymised, with what the analysis finds in it today."""

from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from msgspec import structs

from kontor.cli.context import say, use_services
from kontor.cli.output import show_json
from kontor.services.bundle import Services

if TYPE_CHECKING:
    from kontor.analysis.records import Account, Record
    from kontor.services.analyses import Facts

# As the case files name them; what is empty, or as always, is left out.
NAMES = {"counterparty_name": "name", "counterparty_iban": "iban", "counterparty_bic": "bic"}


def export_case(
    tenant: Annotated[str, Parameter(help="The tenant.")],
    username: Annotated[str, Parameter(help="The user whose data is exported.")],
    /,
) -> None:
    """Print a user's data as an anonymised golden case for the contracts analysis.

    Names, IBANs, numbers and all words that are not in the tagger's vocabulary are replaced. Days and amounts stay:
    read the result before you give it away.
    """
    facts = use_services(lambda services: _read(services, tenant, username))
    show_json(make_case(facts))
    say(f"{len(facts.records)} transactions. Check what is expected before you keep it as a test.")


async def _read(services: Services, tenant: str, username: str) -> "Facts":
    user = await services.users.find_user_by_operator(tenant, username)
    return await services.analyses.load_facts_by_operator(user.id)


def make_case(facts: "Facts") -> dict[str, Any]:
    from kontor.analysis.anonymising import anonymise
    from kontor.analysis.contracts import find_contracts

    records, accounts = anonymise(facts.records, facts.accounts)
    contracts = find_contracts(records, accounts, facts.today)
    return {
        "why": "Say here what is difficult about it.",
        "today": facts.today.isoformat(),
        "accounts": [_show(account) for account in accounts],
        "transactions": [_show(record) for record in records],
        "expected": [
            {
                "period": contract.period,
                "status": str(contract.status),
                "regular": list(contract.transaction_ids_regular),
                "non_regular": list(contract.transaction_ids_non_regular),
                "date_next": None if contract.date_next is None else contract.date_next.isoformat(),
            }
            for contract in contracts
        ],
    }


def _show(item: "Record | Account") -> dict[str, Any]:
    shown = {}
    for field in structs.fields(item):
        value = getattr(item, field.name)
        if value == field.default:
            continue
        is_plain = isinstance(value, bool | int) or value is None
        text = f"{value:f}" if isinstance(value, Decimal) else str(value)
        shown[NAMES.get(field.name, field.name)] = value if is_plain else text
    return shown
