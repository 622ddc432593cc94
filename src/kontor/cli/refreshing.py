"""Background refresh as an operator sees it: at a glance, and row by row."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from cyclopts import App, Parameter

from kontor.cli.context import AsJson, say, use_services
from kontor.cli.output import show_facts, show_json, show_rows
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.operators import RefreshState, Viewer

if TYPE_CHECKING:
    from kontor.domain.operator_views import RefreshRow
    from kontor.services.bundle import Services

Tenant = Annotated[str | None, Parameter(help="Only this tenant.")]
SHELL = Viewer("operator")
MAX_ROWS = 500
HEADINGS = ("tenant", "user", "access", "provider", "state", "due", "slot", "started", "finished", "remark")

refresh = App(name="refresh", help="Background refresh: what is due, running, late, failing, paused.")


@refresh.command(name="status")
def show_status(*, tenant: Tenant = None, as_json: AsJson = False) -> None:
    """Show at a glance whether accesses are kept fresh."""
    if as_json:
        show_json(use_services(lambda services: _read_json(services, tenant)))
    else:
        show_facts(use_services(lambda services: _read_facts(services, tenant)), as_json=False)


@refresh.command(name="list")
def list_refreshes(
    *,
    state: Annotated[RefreshState, Parameter(help="What to list; late ones are due as well.")],
    tenant: Tenant = None,
    limit: Annotated[int, Parameter(help=f"At most this many, up to {MAX_ROWS}.")] = 100,
    as_json: AsJson = False,
) -> None:
    """List the accesses that are in a state: the oldest first, failing ones the newest first."""
    if not 1 <= limit <= MAX_ROWS:
        raise InvalidError(f"must be between 1 and {MAX_ROWS}", "--limit")

    async def read(services: "Services") -> tuple[list[Any], bool]:
        from kontor.wire.ops import show_refresh

        tenant_id = await _choose_tenant(services, tenant)
        rows, following = await services.ops.list_refreshes(state, tenant_id, None, limit)
        named = [(row, _find_name(services, row.provider_id)) for row in rows]
        show = show_refresh if as_json else _to_row
        return [show(row, name) for row, name in named], following is not None

    rows, has_more = use_services(read)
    if as_json:
        import msgspec

        show_json(msgspec.to_builtins(rows))
    elif rows:
        # A terminal is narrow: columns in which nothing stands are left out.
        used = [place for place in range(len(HEADINGS)) if any(row[place] is not None for row in rows)]
        headings = [HEADINGS[place] for place in used]
        show_rows(headings, [[row[place] for place in used] for row in rows], as_json=False, keys=headings)
    else:
        say(f"Nothing is {state}.")
    if has_more:
        say(f"There are more than these {limit}.")


def _find_name(services: "Services", provider_id: UUID) -> str | None:
    provider = services.providers.find(provider_id)
    return None if provider is None else provider.name


async def _choose_tenant(services: "Services", name: str | None) -> UUID | None:
    try:
        return await services.ops.choose_tenant(SHELL, name)
    except NotFoundError:
        raise NotFoundError(f"There is no tenant named {name}.") from None


async def _read_json(services: "Services", tenant: str | None) -> Any:
    import msgspec

    from kontor.wire.ops import show_provider, show_refresh_summary, show_worker

    figures = await services.ops.figures.count_refreshes(await _choose_tenant(services, tenant))
    troubled = [provider for provider in await services.ops.list_providers() if provider.down_since is not None]
    return msgspec.to_builtins(show_refresh_summary(figures)) | {
        "providersDown": msgspec.to_builtins(
            [show_provider(provider, _find_name(services, provider.provider_id)) for provider in troubled]
        ),
        "workers": msgspec.to_builtins([show_worker(worker) for worker in await services.ops.list_workers(MAX_ROWS)]),
    }


async def _read_facts(services: "Services", tenant: str | None) -> dict[str, Any]:
    figures = await services.ops.figures.count_refreshes(await _choose_tenant(services, tenant))
    counts, outcomes = figures.counts, figures.outcomes
    oldest = "" if counts.oldest_due_at is None else f", the oldest since {_show_time(counts.oldest_due_at)}"
    reasons = ", ".join(f"{name} {number}" for name, number in sorted(counts.paused.items()))
    words = ("DONE", "FAILED", "INTERRUPTED", "SKIPPED", "WAITING")
    return {
        "at": _show_time(figures.at),
        "due": f"{counts.due}{oldest}",
        "late": f"{counts.late}",
        "running": f"{counts.running}",
        "failing": f"{counts.failing}",
        "paused": f"{sum(counts.paused.values())}" + (f" ({reasons})" if reasons else ""),
        "last 24 hours": ", ".join(f"{outcomes.get(word, 0)} {word.lower()}" for word in words),
        "providers down": await _name_outages(services),
        "workers": await _name_workers(services),
    }


async def _name_outages(services: "Services") -> list[str]:
    lines = []
    for provider in await services.ops.list_providers():
        if provider.down_since is not None and provider.next_try_at is not None:
            name = _find_name(services, provider.provider_id) or provider.provider_id
            lines.append(f"{name} since {_show_time(provider.down_since)}, next try {_show_time(provider.next_try_at)}")
    return lines or ["none"]


async def _name_workers(services: "Services") -> list[str]:
    lines = [
        f"{worker.host} (process {worker.pid}, {worker.version}) "
        + ("at work" if worker.is_alive else f"not seen since {_show_time(worker.seen_at)}")
        for worker in await services.ops.list_workers(MAX_ROWS)
    ]
    return lines or ["none is at work: nothing is refreshed"]


def _to_row(row: "RefreshRow", provider: str | None) -> tuple[Any, ...]:
    times = (row.due_at, row.slot_at, row.started_at, row.finished_at)
    remark = row.failure or row.pause
    shown = tuple(None if at is None else _show_time(at) for at in times)
    return (row.tenant_name, str(row.user_id), row.access_id, provider or row.provider_id, row.state, *shown, remark)


def _show_time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}Z"
