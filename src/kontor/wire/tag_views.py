"""Tag views of transactions: ready JSON of rows, with ready JSON of tag items put in.

All that a tag says apart from the transaction's id and the confidence is the same for every transaction with that tag,
so it is encoded once per item.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from kontor.analysis.tagging import Evidence
from kontor.analysis.trees import (
    BUSINESS_PARTNERS,
    CATEGORIES,
    CUSTOM_CATEGORIES,
    FREELANCER_CATEGORIES,
    INSURANCE_TYPES,
    PERIODS,
    Item,
    Tree,
)
from kontor.domain.json_fields import TagColumns, TagRow
from kontor.wire.encoding import encode_json
from kontor.wire.tags import name_item, show_evidence, show_item
from kontor.wire.urls import Urls

TagChoice = Annotated[
    Literal[
        "true",
        "false",
        "categories",
        "insurances",
        "insurance-types",
        "business-partners",
        "freelancer-categories",
        "custom-categories",
        "periods",
    ],
    Meta(title="TagChoice"),
]
TREES_OF_CHOICES = {
    "true": CATEGORIES,
    "categories": CATEGORIES,
    "insurances": INSURANCE_TYPES,
    "insurance-types": INSURANCE_TYPES,
    "business-partners": BUSINESS_PARTNERS,
    "freelancer-categories": FREELANCER_CATEGORIES,
    "custom-categories": CUSTOM_CATEGORIES,
    "periods": PERIODS,
}
COLUMNS: dict[str, TagColumns] = {
    CATEGORIES: ("category", "category_confidence"),
    INSURANCE_TYPES: ("insurance_type", "insurance_confidence"),
    BUSINESS_PARTNERS: ("partner", "partner_confidence"),
    FREELANCER_CATEGORIES: ("freelancer_category", "freelancer_confidence"),
    CUSTOM_CATEGORIES: ("own_category", "category_confidence"),
    PERIODS: ("period", "period_confidence"),
}
UNTAGGED = {
    CATEGORIES: "OTHER_SPENDING",
    INSURANCE_TYPES: "UNRELATED_OTHER",
    BUSINESS_PARTNERS: "UNKNOWN",
    FREELANCER_CATEGORIES: "UNRELATED",
    PERIODS: "IRREGULAR_UNKNOWN",
}
# Objects begin with the id, and nothing that is rendered contains this character.
ID_START, ID_END = len('{"id":"'), len('{"id":"') + 36
ID_PLACE = b"\x00"
# At least so many of the demo bank's bookings for which no contract is found belong to none.
IRREGULAR_CONFIDENCE = 0.99


@dataclass(frozen=True, slots=True)
class TagView:
    """What is shown with each transaction: tags of one tree, classifications, or both."""

    tree: str | None
    has_classifications: bool
    own_tree: Tree | None = None  # with the user's own categories, where these are shown

    @property
    def needs_contracts(self) -> bool:
        return self.tree == PERIODS

    @property
    def columns(self) -> tuple[TagColumns, ...]:
        shown = () if self.tree is None else (COLUMNS[self.tree],)
        return (*shown, COLUMNS[CATEGORIES]) if self.has_classifications else shown


def choose_view(tag: TagChoice, *, has_classifications: bool = False) -> TagView | None:
    """What is to be shown beside the transactions, if anything."""
    tree = TREES_OF_CHOICES.get(tag)
    return None if tree is None and not has_classifications else TagView(tree, has_classifications)


def render_page(
    rows: Sequence[TagRow], view: TagView, urls: Urls, evidence: Mapping[UUID, Sequence[Evidence]] | None = None
) -> bytes:
    """The objects of a page, separated by commas."""
    pieces: list[bytes] = []
    kept: dict[tuple[object, ...], list[bytes]] = {}  # most rows have a tag that others on the page have too
    for row in rows:
        shown = row[0]
        said = row[2:] if evidence is None else (row[1], *row[2:])
        parts = kept.get(said)
        if parts is None:
            found = None if evidence is None else evidence.get(row[1], ())
            parts = kept[said] = _render_additions(row, view, urls, found).encode().split(ID_PLACE)
        pieces += (b",", shown[:-1], shown[ID_START:ID_END].join(parts))  # without its closing brace
    return b"".join(pieces[1:])


def _render_additions(row: TagRow, view: TagView, urls: Urls, evidence: Sequence[Evidence] | None) -> str:
    """What follows the fields of the transaction; `ID_PLACE` stands for its id."""
    pieces = []
    if view.tree is not None:
        pieces.append(f',"tags":[{_render_shown(view, row[2], row[3], ID_PLACE.decode(), urls, evidence)}]')
    if view.has_classifications:
        pieces.append(f',"classifications":[{_render_classification(row[-2], row[-1])}]')
    return "".join([*pieces, "}"])


def _render_shown(
    view: TagView,
    system_name: str | None,
    confidence: float | None,
    transaction_id: str,
    urls: Urls,
    evidence: Sequence[Evidence] | None,
) -> str:
    """Nothing where a transaction has no own category, or one that is gone."""
    assert view.tree is not None
    if view.tree != CUSTOM_CATEGORIES:
        return render_tag(view.tree, system_name, confidence, transaction_id, urls, evidence)
    item = None if view.own_tree is None or system_name is None else view.own_tree.items.get(system_name)
    if view.own_tree is None or item is None:
        return ""
    return _render(_encode_pair(view.own_tree, item, urls), confidence, transaction_id, evidence)


def render_tag(
    tree: str,
    system_name: str | None,
    confidence: float | None,
    transaction_id: str,
    urls: Urls,
    evidence: Sequence[Evidence] | None = None,
) -> str:
    """One tag instance. A row that was stored in this very moment may have no tag yet; it is then not known."""
    if tree == PERIODS and system_name is None:
        confidence = IRREGULAR_CONFIDENCE
    return _render(_encode_item(tree, system_name or UNTAGGED[tree], urls), confidence, transaction_id, evidence)


def _render(
    encoded: tuple[int, str], confidence: float | None, transaction_id: str, evidence: Sequence[Evidence] | None
) -> str:
    head, middle = encoded
    details = f'"confidenceLevel":{confidence or 0.0:.2f}'
    if evidence is not None:
        details += f',"evidence":{encode_json([show_evidence(entry) for entry in evidence]).decode()}'
    return (
        f'{{"id":"{transaction_id}-{head}","entity":{{"displayName":"Kontoumsatz","entityClass":"TRANSACTION",'
        f'"id":"{transaction_id}"}},{middle},"details":{{{details}}}}}'
    )


@lru_cache(maxsize=8192)
def _encode_item(tree_name: str, system_name: str, urls: Urls) -> tuple[int, str]:
    return _encode_pair(*name_item(tree_name, system_name), urls)


def _encode_pair(tree: Tree, item: Item, urls: Urls) -> tuple[int, str]:
    """The tree's id, and relations and item as JSON without braces around them."""
    relations = urls.instance_relations(tree.system_id, item.system_id)
    both = encode_json({"relations": relations, "tagTreeItem": show_item(tree, item)})
    return tree.system_id, both.decode()[1:-1]


@lru_cache(maxsize=1024)
def _encode_classification(category: str) -> str:
    _, item = name_item(CATEGORIES, category)
    shown = {"category": item.system_name, "displayName": item.name}
    if item.parent:
        shown["parentCategory"] = item.parent
    return encode_json(shown).decode()[:-1]


def _render_classification(category: str | None, confidence: float | None) -> str:
    found = _encode_classification(category or UNTAGGED[CATEGORIES])
    return f'{found},"confidenceLevel":{confidence or 0.0:.2f}}}'
