"""Tagging rules of the API, as pages show them and as their form asks for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from kontor.console.accesses import Product
from kontor.console.categories import write_tag
from kontor.console.entries import Entry
from kontor.console.entry_filters import read_typed_amount
from kontor.console.gateway import Gateway, segment
from kontor.console.visits import Form, field_of
from kontor.pages.formatting import format_amount
from kontor.pages.texts import Texts

RULES = "/customer/v2/ai/tagging-rules"
PAGE = "/console/transactions/rules"
FIELDS = (
    "name", "text", "partner", "counterparty", "iban", "min", "max", "direction", "account", "category", "active",
)  # fmt: skip
SIGNS = {"in": "+", "out": "-"}


@dataclass(frozen=True, slots=True)
class ShownRule:
    """`conditions` are sentences; all of them must hold."""

    id: str
    name: str
    conditions: Sequence[str]
    category: str
    category_name: str
    is_active: bool
    facts: Mapping[str, Any]

    @property
    def url(self) -> str:
        return f"{PAGE}/{segment(self.id)}"


def read_rule(rule: Mapping[str, Any], products: Sequence[Product], texts: Texts) -> ShownRule:
    conditions = describe_conditions(rule, products, texts)
    item, facts = rule["tagTreeItem"], rule.get("conditions", {})
    name = rule.get("name") or rule["counterpartyName"] or facts.get("text") or facts.get("partner") or conditions[0]
    return ShownRule(
        rule["id"],
        name,
        conditions,
        item.get("systemNameParent") if item["systemName"].startswith("X_") else item["systemName"],
        item["displayName"],
        rule.get("active", True),
        rule,
    )


def describe_conditions(rule: Mapping[str, Any], products: Sequence[Product], texts: Texts) -> list[str]:
    """In words. Amounts have no sign."""
    conditions = rule.get("conditions", {})
    said = []
    if rule.get("counterpartyName"):
        said.append(texts("rules.says.counterparty", name=rule["counterpartyName"]))
    if rule.get("counterpartyIban"):
        said.append(texts("rules.says.iban", iban=rule["counterpartyIban"]))
    if conditions.get("text"):
        said.append(texts("rules.says.text", text=conditions["text"]))
    if conditions.get("partner"):
        said.append(texts("rules.says.partner", name=conditions["partner"].replace("_", " ").title()))
    for key, name in (("amountFrom", "from"), ("amountTo", "to")):
        if conditions.get(key) is not None:
            amount = format_amount(Decimal(str(conditions[key])), "EUR", texts.language)
            said.append(texts(f"rules.says.{name}", amount=amount))
    if conditions.get("sign"):
        said.append(texts(f"rules.says.{'in' if conditions['sign'] == '+' else 'out'}"))
    if conditions.get("product"):
        known = next((product.name for product in products if product.id == conditions["product"]), "–")
        said.append(texts("rules.says.account", name=known))
    return said or ["–"]


def find_rule_for(entry: Entry) -> dict[str, Any] | None:
    """A rule for all transactions of the same partner, else of the same counterparty; None where nobody is named."""
    partner = entry.known_partner
    if partner is not None:
        return {"name": entry.title[:100], "conditions": {"partner": partner.system_name}}
    if entry.name:
        return {"name": entry.title[:100], "counterpartyName": entry.name[:256]}
    if iban := entry.facts.get("gegenkontoIban"):
        return {"counterpartyIban": iban}
    return None


async def preview_rule(api: Gateway, body: Mapping[str, Any]) -> Any:
    """`anzahl`, `summe` and `beispiele` of what a rule would decide; numbers are Decimal."""
    return await api.post(f"{RULES}/preview", body)


def fill_form(rule: Mapping[str, Any]) -> dict[str, str]:
    """The fields of the form from a rule of the API."""
    conditions = rule.get("conditions", {})
    amounts = {name: conditions.get(key) for name, key in (("min", "amountFrom"), ("max", "amountTo"))}
    return {
        "name": rule.get("name") or "",
        "text": conditions.get("text") or "",
        "partner": conditions.get("partner") or "",
        "counterparty": rule.get("counterpartyName") or "",
        "iban": rule.get("counterpartyIban") or "",
        "direction": {"+": "in", "-": "out"}.get(conditions.get("sign", ""), ""),
        "account": conditions.get("product") or "",
        "category": rule["tagTreeItem"]["systemName"],
        "active": "" if rule.get("active", True) else "no",
    } | {name: "" if amount is None else f"{Decimal(str(amount)):f}" for name, amount in amounts.items()}


def read_form(form: Form) -> dict[str, str]:
    return {name: field_of(form, name).strip() for name in FIELDS}


def write_rule(fields: Mapping[str, str]) -> tuple[dict[str, Any], str | None]:
    """The body for the API, and the name of a text about what is wrong with the fields."""
    amounts = {name: read_typed_amount(fields[name]) for name in ("min", "max")}
    if any(fields[name] and amounts[name] is None for name in amounts):
        return {}, "wrong_amount"
    conditions: dict[str, Any] = {
        "text": fields["text"], "partner": fields["partner"], "sign": SIGNS.get(fields["direction"]),
        "product": fields["account"],
        "amountFrom": None if amounts["min"] is None else float(amounts["min"]),
        "amountTo": None if amounts["max"] is None else float(amounts["max"]),
    }  # fmt: skip
    conditions = {name: value for name, value in conditions.items() if value not in ("", None)}
    if not conditions and not fields["counterparty"] and not fields["iban"]:
        return {}, "no_condition"
    if not fields["category"]:
        return {}, "no_category"
    given = {
        "counterpartyName": fields["counterparty"], "counterpartyIban": fields["iban"], "name": fields["name"],
    }  # fmt: skip
    body = {name: value for name, value in given.items() if value}
    return body | {
        "tagTreeItem": write_tag(fields["category"]), "conditions": conditions, "active": fields["active"] != "no",
    }, None  # fmt: skip
