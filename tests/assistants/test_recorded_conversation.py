"""The conversation in docs/guides/assistants.md: its calls are made, and the answers are those that the guide shows.

The sentences of person and assistant are ours. Ids, handles and what follows from today are `…` in the guide.
"""

import json
import re
from pathlib import Path

import pytest

from assistants.talking import talk
from banking import BankCustomer, href, login, new_customer
from kontor.domain.scopes import CUSTOMER_READ, CUSTOMER_TAGS
from tenants import TenantUnderTest

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "assistants.md"
ROWS = (
    ("2026-10-01", 2500.0, "Muster GmbH", "Lohn 10/2026"),
    ("2026-10-02", -850.0, "Hausverwaltung Schmidt", "Miete Oktober 2026"),
    ("2026-10-06", -54.3, "EDEKA SAGT DANKE", "EDEKA Markt Hamburg"),
    ("2026-10-20", -38.15, "EDEKA SAGT DANKE", "EDEKA Markt Hamburg"),
    ("2026-10-21", -12.5, "Baecker Fritz", "Brot und Kuchen"),
)


@pytest.fixture
def customer(bank_server: str, shared: TenantUnderTest) -> BankCustomer:
    customer = new_customer(shared)
    product = customer.product(customer.add_complete("leer"), "GIROKONTO")
    rows = [
        {
            "betrag": amount, "buchungsdatum": f"{day} 00:00:00", "verwendungszweck": purpose,
            "gegenkontoInhaber": name, "identifier": {"batchId": "b"},
        }
        for day, amount, name, purpose in ROWS
    ]  # fmt: skip
    answer = customer.post(href(product, "get_kontoumsaetze"), rows)
    assert answer.status_code == 201, answer.text
    return customer


def read_exchanges() -> list[tuple[str, dict[str, object], object]]:
    """Tool, arguments, and the answer that the guide shows."""
    section = GUIDE.read_text(encoding="utf-8").partition("## A conversation")[2].partition("\n## ")[0]
    found = re.findall(r"^```json\n(\w+) (\{.*?\})\n→ (\{.*?\})\n^```$", section, re.MULTILINE | re.DOTALL)
    return [(tool, json.loads(arguments), json.loads(answer)) for tool, arguments, answer in found]


def fill(arguments: object, known: dict[str, str]) -> object:
    """`…` in the arguments stands for the id or handle that an earlier answer gave under such a name."""
    if isinstance(arguments, dict):
        return {name: known[name] if value == "…" else fill(value, known) for name, value in arguments.items()}
    if isinstance(arguments, list):
        return [known["transaction"] if value == "…" else value for value in arguments]
    return arguments


def mask(answer: object, shown: object) -> object:
    """The answer as the guide writes it: `…` where it does, and without what it leaves out."""
    if shown == "…":
        return "…"
    if isinstance(shown, dict) and isinstance(answer, dict):
        return {name: mask(answer.get(name), value) for name, value in shown.items()}
    if isinstance(shown, list) and isinstance(answer, list) and len(shown) == len(answer):
        return [mask(*pair) for pair in zip(answer, shown, strict=True)]
    return answer


async def test_each_call_of_the_guide_is_answered_as_it_shows(bank_server: str, customer: BankCustomer) -> None:
    exchanges = read_exchanges()
    assert len(exchanges) >= 4
    password = f"password of {customer.username}"
    token = login(customer.tenant, customer.username, password, f"{CUSTOMER_READ} {CUSTOMER_TAGS}")
    known: dict[str, str] = {}
    async with talk(bank_server, token) as client:
        for tool, arguments, shown in exchanges:
            result = await client.call_tool(tool, fill(arguments, known))
            answer = result.structured_content
            assert not result.is_error, result.content
            assert mask(answer, shown) == shown, answer
            if tool == "search_transactions":
                known["transaction"] = answer["transactions"][0]["id"]
            known |= {name: answer[name] for name in ("handle",) if name in answer}
