"""`kontor distribute`: tables of customers over the nodes of a Citus cluster."""

from typing import Annotated

from cyclopts import Parameter

from kontor.cli.context import AsJson, say
from kontor.cli.output import show_rows
from kontor.config import read_settings
from kontor.domain.errors import ConflictError

DONE, LEFT_TO_DO = 0, 1


def distribute(
    *,
    check: Annotated[
        bool, Parameter(negative="", help="Say what would be done; exit 1 when there is something.")
    ] = False,
    apply: Annotated[bool, Parameter(negative="", help="Do it. All processes of Kontor are stopped.")] = False,
    as_json: AsJson = False,
) -> int:
    """Distribute customers' tables by user over the workers of a Citus cluster. Safe to repeat."""
    from kontor.bootstrap import find_app_role
    from kontor.storage.distributing import apply_plan, make_plan

    if check == apply:
        raise ConflictError("Say either --check or --apply.")
    settings = read_settings()
    owner = settings.migration_database_url or settings.database_url
    if owner is None:
        raise ConflictError("The embedded PostgreSQL is one server. Set KONTOR_DATABASE_URL to a Citus coordinator.")
    role = find_app_role(settings)
    plan = make_plan(owner, role) if check else apply_plan(owner, role)
    if check:
        rows = [
            (table.name, _name(table.is_distributed), _name(table.belongs_distributed), table.reason)
            for table in plan.tables
        ]
        show_rows(("table", "is", "belongs", "why"), rows, as_json=as_json, keys=("table", "is", "belongs", "why"))
    verbs = ("to drop", "to distribute") if check else ("dropped", "distributed")
    for table, name, referred in plan.references:
        say(f"{verbs[0]}: foreign key {name} of {table} to {referred}")
    for table in plan.missing:
        say(f"{verbs[1]}: {table} by user_id")
    if plan.is_done:
        say("Everything is distributed.")
    return LEFT_TO_DO if check and not plan.is_done else DONE


def _name(is_distributed: bool) -> str:
    return "distributed" if is_distributed else "local"
