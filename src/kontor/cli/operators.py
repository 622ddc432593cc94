"""Operators: who may see every tenant's state over the API."""

import os
from typing import Annotated

from cyclopts import App, Parameter

from kontor.cli.context import AsJson, say, use_services
from kontor.cli.output import show_facts, show_rows
from kontor.config import read_settings
from kontor.domain.errors import InvalidError, KontorError

TOKEN_VARIABLE = "KONTOR_OPERATOR_TOKEN"  # noqa: S105 (its name)

operator = App(name="operator", help="Operators: tokens that see the state of every tenant.")


@operator.command(name="create")
def create_operator(
    name: str,
    *,
    days: Annotated[int, Parameter(help="How long the token holds.")] = 90,
    as_json: AsJson = False,
) -> None:
    """Create an operator. The token for the endpoints under /ops/v1 is shown now and never again."""
    made, token = use_services(lambda services: services.operators.create_operator(name, days))
    facts = {"name": made.name, "token": token.reveal(), "expires": f"{made.expires_at:%Y-%m-%d %H:%M:%S}Z"}
    show_facts(facts, as_json=as_json)
    say("Keep it now: only its hash is stored.")


@operator.command(name="list")
def list_operators(*, as_json: AsJson = False) -> None:
    """List the operators (not their tokens: only the hashes are stored)."""
    rows = [
        (operator.name, f"{operator.created_at:%Y-%m-%d %H:%M:%S}Z", f"{operator.expires_at:%Y-%m-%d %H:%M:%S}Z")
        for operator in use_services(lambda services: services.operators.list_operators())
    ]
    names = ("name", "created", "expires")
    show_rows(names, rows, as_json=as_json, keys=names)


@operator.command(name="delete")
def delete_operator(name: str) -> None:
    """Delete an operator; the token stops working at once."""
    use_services(lambda services: services.operators.delete_operator(name))
    say(f"Deleted {name}.")


@operator.command(name="status")
def show_status(
    *,
    url: Annotated[str | None, Parameter(help="Address of the service; without it, KONTOR_BASE_URL.")] = None,
    as_json: AsJson = False,
) -> int:
    """Ask a service, here or elsewhere, whether all is well. Exits with 1 when it is not.

    The operator's token is read from KONTOR_OPERATOR_TOKEN, so that it stands in no list of processes.
    """
    from kontor_client import Kontor, KontorClientError

    token = os.environ.get(TOKEN_VARIABLE)
    if not token:
        raise InvalidError(f"set {TOKEN_VARIABLE} to an operator's token (kontor operator create)")
    try:
        with Kontor(url or read_settings().base_url, token) as client:
            health = client.request("GET", "/ops/v1/health").json()
    except KontorClientError as error:
        raise KontorError(str(error)) from None
    rows = [(check["name"], "yes" if check["well"] else "NO", check["detail"]) for check in health["checks"]]
    show_rows(("check", "well", "detail"), rows, as_json=as_json, keys=("check", "well", "detail"))
    return 0 if health["well"] else 1
