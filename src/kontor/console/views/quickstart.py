"""For engineers: the first own calls, as code to paste."""

import shlex
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from kontor.console.accesses import list_products
from kontor.console.visits import Facts, View, Visit

WRITTEN_BASE = "http://127.0.0.1:8080"  # in the files, which run as they are on a demo of the usual port
CODES = {"curl": "first_calls.sh", "python": "first_calls.python", "typescript": "first_calls.ts"}


async def show(visit: Visit) -> Facts:
    chosen = visit.choose("code", tuple(CODES))
    accesses = await visit.api.get("/customer/v2/bankzugaenge")
    return {
        "codes": list(CODES),
        "chosen": chosen,
        "secrets": read_snippet("secrets.sh", visit.base_url),
        "code_text": read_snippet(CODES[chosen], visit.base_url),
        "own_token": write_own_token(visit.base_url, visit.session.tenant or "", visit.session.name),
        "own_calls": list_own_calls(visit.base_url, accesses),
    }


def read_snippet(name: str, base_url: str) -> str:
    return _load(name).replace(WRITTEN_BASE, base_url)


@cache
def _load(name: str) -> str:
    return resources.files("kontor.console").joinpath("snippets", name).read_text(encoding="utf-8").strip()


def write_own_token(base_url: str, tenant: str, username: str) -> str:
    """How the user of this page gets a token: with a client of the tenant, and the own password."""
    return (
        f"# KONTOR_CLIENT={tenant}/…, KONTOR_SECRET, KONTOR_PASSWORD\n"
        f'token=$(curl -s -u "$KONTOR_CLIENT:$KONTOR_SECRET" {base_url}/auth/oauth2/token -d grant_type=password \\\n'
        f'  --data-urlencode username={shlex.quote(username)} --data-urlencode "password=$KONTOR_PASSWORD" \\\n'
        "  | python3 -c 'import json, sys; print(json.load(sys.stdin)[\"access_token\"])')"
    )


def list_own_calls(base_url: str, accesses: Mapping[str, Any]) -> list[tuple[str, str]]:
    """By the key of their text: what to ask for first, with the ids of the user's own accounts."""
    calls = [("accesses", "/customer/v2/bankzugaenge")]
    products = [product for product in list_products(accesses) if not product.is_depot]
    if products:
        calls.append(("transactions", f"{products[0].path}/kontoumsaetze?limit=5&tag=categories"))
    calls += [
        ("contracts", "/customer/v2/ai/contracts?explain=true"),
        ("export", "/customer/v2/export?format=csv"),
    ]
    return [(key, f"curl -s '{base_url}{path}' -H \"Authorization: Bearer $token\"") for key, path in calls]


VIEWS = [View("quickstart", "/quickstart", show, group="build")]
