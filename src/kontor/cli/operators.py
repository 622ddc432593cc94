"""Operators: who may see every tenant's state over the API."""

from typing import Annotated

from cyclopts import App, Parameter

from kontor.cli.context import AsJson, say, use_services
from kontor.cli.output import show_facts, show_rows

operator = App(name="operator", help="Operators: tokens that see the state of every tenant.")


@operator.command(name="create")
def create_operator(
    name: str,
    *,
    days: Annotated[int, Parameter(help="How long the token holds.")] = 90,
    as_json: AsJson = False,
) -> None:
    """Create an operator. The token for the endpoints under /ops/v1 is shown now and never again."""
    made, token = use_services(lambda one: one.operators.create_operator(name, days))
    facts = {"name": made.name, "token": token.reveal(), "expires": f"{made.expires_at:%Y-%m-%d %H:%M:%S}Z"}
    show_facts(facts, as_json=as_json)
    say("Keep it now: only its hash is stored.")


@operator.command(name="list")
def list_operators(*, as_json: AsJson = False) -> None:
    """List the operators (not their tokens: only the hashes are stored)."""
    rows = [
        (one.name, f"{one.created_at:%Y-%m-%d %H:%M:%S}Z", f"{one.expires_at:%Y-%m-%d %H:%M:%S}Z")
        for one in use_services(lambda services: services.operators.list_operators())
    ]
    names = ("name", "created", "expires")
    show_rows(names, rows, as_json=as_json, keys=names)


@operator.command(name="delete")
def delete_operator(name: str) -> None:
    """Delete an operator; the token stops working at once."""
    use_services(lambda one: one.operators.delete_operator(name))
    say(f"Deleted {name}.")
