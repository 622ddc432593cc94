"""Tag trees and their items: complete, in both spellings, every relation followable."""

import pytest

from banking import href, rels

TREES = {
    1: "CATEGORIES", 2: "INSURANCE_TYPES", 3: "BUSINESS_PARTNERS", 4: "PERIODS", 5: "SALES_TRIGGERS", 6: "CASHFLOW",
    7: "AFFORDABILITY", 9: "DISPOSABLE_MONEY", 10: "LIFE_EVENTS", 12: "LIFE_STAGES", 15: "FREELANCER_CATEGORIES",
}  # fmt: skip
TREE_FIELDS = {
    "systemId", "systemName", "displayName", "description", "version", "isClientGenerated", "relations",
}  # fmt: skip
FREELANCER = (
    "REVENUE VATREFUND ASSETSALE GOODS EXTERNALSERVICES STAFF PREMISES TELECOMMUNICATIONS TRAVEL TRAINING LEGALTAX"
    " INSURANCEFEES ITCOSTS WORKEQUIPMENT ADVERTISING VEHICLE ENTERTAINMENT INTEREST VATPAID TRADETAX"
    " PRIVATEWITHDRAWAL PRIVATEDEPOSIT OTHER UNRELATED"
)


@pytest.fixture(scope="module")
def reader(demo1):
    return demo1[0]


@pytest.mark.parametrize("base", ["/tags/v1/tag-trees", "/tags/v1/tags/tag-trees/"])
def test_all_trees_are_listed_under_both_addresses(reader, base):
    trees = reader.read(base)
    assert {tree["systemId"]: tree["systemName"] for tree in trees} == TREES
    assert all(set(tree) == TREE_FIELDS for tree in trees)


@pytest.mark.parametrize("tree_id", [*TREES, 11])
def test_a_tree_its_items_and_each_relation_can_be_followed(reader, tree_id):
    tree = reader.read(f"/tags/v1/tags/tag-trees/{tree_id}/")
    items = reader.read(href(tree, "tag_tree_items"))
    assert reader.read(href(tree, "self"))["systemId"] == tree["systemId"]
    assert len({item["systemName"] for item in items}) == len({item["systemId"] for item in items}) == len(items)
    for item in items[:2] + items[-2:]:
        assert reader.read(href(item, "self")) == item
        assert rels(item) == ["self", "tag_trees", "tag_tree", "tag_tree_items", "tag_tree_item"]
        assert item["tagTree"]["systemName"] == tree["systemName"]
        assert item["displayName"]


def test_freelancer_tree_is_exactly_what_was_decided(reader):
    items = reader.read("/tags/v1/tag-trees/15/tag-tree-items/")
    assert {item["systemName"] for item in items} == set(FREELANCER.split())


def test_partners_carry_what_is_known_of_them(reader):
    found = reader.read("/tags/v1/tag-trees/3/tag-tree-items/HUK_COBURG")
    assert found["displayName"] == "HUK-COBURG"
    assert found["website"]


@pytest.mark.parametrize(
    "path", ["8", "99", "0", "no", "1/tag-tree-items/999999999", "1/tag-tree-items/NO", "99999999999999999999"]
)
def test_what_is_not_there_is_404(reader, path):
    assert reader.get(f"/tags/v1/tag-trees/{path}/").status_code == 404


def test_trees_need_a_token(reader):
    assert reader.http.get("/tags/v1/tag-trees/").status_code == 401
