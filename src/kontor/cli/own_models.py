"""The operator's own model: what it would be asked about merchants, and asking it now."""

import json
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from kontor.cli.context import AsJson, say, use_services
from kontor.cli.output import show_facts, show_rows
from kontor.domain.errors import ConflictError, InvalidError, NotFoundError
from kontor.services.bundle import Services
from kontor.services.merchants import Preview

NOT_SET = "No model is set: KONTOR_MODEL_URL and KONTOR_MODEL_NAME."
MAX_SHOWN = 1000

model = App(name="model", help="The own model that is asked about unknown merchants.")


@model.command(name="preview")
def preview(
    tenant: str,
    *,
    limit: Annotated[int, Parameter(help="At most so many merchants.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Show what would be sent for a tenant. Nothing is sent or stored; the tenant need not be switched on.

    With --json: the address, and the body of each request, byte for byte.
    """
    if not 1 <= limit <= MAX_SHOWN:
        raise InvalidError(f"must be 1 to {MAX_SHOWN}", "--limit")

    async def read(services: Services) -> Preview:
        found = await services.tenant_administration.find_tenant(tenant)
        return await services.merchant_questions.preview(found.id, limit)

    found = use_services(read)
    if as_json:
        bodies = [body.decode() for body in found.bodies]
        show_facts({"address": found.address, "bodies": bodies}, as_json=True)
        return
    say(f"To {found.address}:" if found.address else NOT_SET)
    rows = [(_find_question(body),) for body in found.bodies]
    show_rows(("sent about a merchant",), rows, as_json=False, keys=("merchant",))


@model.command(name="ask")
def ask() -> None:
    """Ask the model now, as a worker does every ten minutes, for all tenants that want it."""

    async def run(services: Services) -> tuple[int, str | None]:
        questions = services.merchant_questions
        if not questions.is_set:
            raise ConflictError(NOT_SET)
        return await questions.run(), questions.last_failure

    count, failure = use_services(run)
    say(f"{count} requests were made." + (f" The last one failed: {failure}." if failure else ""))


@model.command(name="evaluate")
def evaluate(
    file: Annotated[Path, Parameter(help="JSON lines: fields of a transaction, and `gold` with its category.")],
    /,
    *,
    limit: Annotated[int, Parameter(help="Ask about at most so many merchants.")] = 200,
    as_json: AsJson = False,
) -> None:
    """Ask the model about the unknown merchants of labelled transactions; show how often its category is right.

    It needs the settings of the model and no database, stores nothing, and ends with the first failed request.
    """
    import asyncio

    from kontor.analysis.tagging import load_tagger
    from kontor.cli.model_evaluation import ask_about, list_candidates, list_model_figures
    from kontor.cli.tag_evaluation import read_files
    from kontor.config import read_settings
    from kontor.services.merchants import make_calls

    if not 1 <= limit <= MAX_SHOWN:
        raise InvalidError(f"must be 1 to {MAX_SHOWN}", "--limit")
    calls = make_calls(read_settings())
    if calls is None:
        raise ConflictError(NOT_SET)
    candidates = list_candidates(read_files([file]), load_tagger())[:limit]
    if not candidates:
        raise NotFoundError("There is no labelled payment in it about whose merchant the model would be asked.")
    rows = list_model_figures(candidates, asyncio.run(ask_about(candidates, calls)))
    if as_json:
        show_facts({name: value for name, value, *_ in rows}, as_json=True)
        return
    show_rows(("figure", "value", "of merchants", "95 % interval"), rows, as_json=False, keys=())


def _find_question(body: bytes) -> str:
    """What differs from request to request; the rest is the list of categories."""
    question: str = json.loads(body)["messages"][-1]["content"]
    return question
