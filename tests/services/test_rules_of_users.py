"""Rules and own categories change stored tags at once: tags follow from corrections, rules and the tagger."""

import random
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import psycopg
import pytest

from kontor import bootstrap
from kontor.domain.accesses import AccessStatus, make_product_id
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.own_categories import fits_basis, resolve_basis
from kontor.domain.principals import Principal
from kontor.domain.products import Product, ProductCategory
from kontor.domain.scopes import ALL_SCOPES, MANAGEMENT_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tagging_rules import RuleBook, RuleConditions, RuledTransaction, Sign, TaggingRule
from kontor.domain.tags import TagSource
from kontor.domain.tenants import ClientKind
from kontor.domain.transactions import Transaction
from kontor.services.analyses import own_categories, tagging
from kontor.services.identity.tenants import new_tenant
from kontor.services.identity.users import NewUser
from kontor.storage import accesses, products, tags, transactions
from kontor.wire.transactions import CUSTOMER_FIELDS
from processes import beside

NOON = datetime(2026, 11, 2, 11, tzinfo=UTC)
TODAY = date(2026, 11, 15)
GIRO = Product("giro", ProductCategory.CHECKING, "Girokonto", "Anna Muster", "EUR", balance=Decimal("1.00"))
SAVINGS = replace(GIRO, key="savings", category=ProductCategory.SAVINGS, name="Sparkonto")
NAMES = ("REWE SAGT DANKE", "Hausverwaltung Sommer", "ARAL AG", "Kiosk", "Verein", "Muster GmbH")
PURPOSES = ("Einkauf", "Miete November", "Tankstelle", "Beitrag", "Lohn Gehalt")
CATEGORIES = ("RECREATION_HOBBY", "HOUSING_OTHER", "INCOME_OTHER", "TRANSFER_OTHER", "INSURANCE_HOME")


def make_rows(chance, count):
    return [
        Transaction(
            Decimal(chance.randint(-9000, 9000)) / 100 or Decimal("1.00"),
            chance.choice(("EUR", "EUR", "USD")),
            NOON - timedelta(days=number),
            counterparty_name=chance.choice(NAMES),
            purpose=chance.choice(PURPOSES),
        )
        for number in range(count)
    ]


BASES = ("LIVING", "LIVING_GROCERIES", "INCOME", "OTHER", "TRANSFER", "HEALTH", "INSURANCE")


def make_rule(chance, product_ids, own=()):
    """With at least one condition."""
    while True:
        rule = TaggingRule(
            uuid4(),
            chance.choice((*CATEGORIES, *own)),
            "",
            chance.choice(("", "", *NAMES)),
            RuleConditions(
                text=chance.choice(("", "", "miete", "Einkauf", "beitrag verein")),
                partner=chance.choice(("", "", "REWE")),
                amount_from=chance.choice((None, None, Decimal("20.00"))),
                amount_to=chance.choice((None, None, Decimal("70.00"))),
                sign=chance.choice((None, None, *Sign)),
                product_id=chance.choice((None, None, *product_ids)),
            ),
            is_active=chance.random() < 0.9,
        )
        if rule.count:
            return rule


class RuledUser:
    """With a model beside it: what the tagger says of each row, and what the user has said."""

    def __init__(self, services, principal):
        self.services, self.principal, self.user_id = services, principal, principal.user_id
        self.products = {key: make_product_id(self.user_id, "a", key) for key in ("giro", "savings")}
        self.tagger: dict[UUID, object] = {}
        self.corrected: dict[UUID, tuple[str, str]] = {}  # category, own category

    async def store(self, chance):
        async with self.services.database.transaction() as connection:
            await accesses.insert_access(
                connection, self.user_id, "a", UUID(int=0), is_synced=True, selected_products=None
            )
            await accesses.set_status(connection, self.user_id, "a", AccessStatus.COMPLETE)
            for place, product in enumerate((GIRO, SAVINGS)):
                product_id = self.products[product.key]
                await products.upsert_product(connection, self.user_id, product_id, "a", place, product)
                rows = make_rows(chance, 15)
                await transactions.insert_transactions(connection, self.user_id, product_id, rows, TODAY)
        await self.services.transaction_tagging.ensure_tagged(self.principal)
        self.tagger = {row.id: row.tags for row in await self.read()}

    async def read(self):
        found = []
        async with self.services.database.connect() as connection:
            for product_id in self.products.values():
                cursor = await connection.execute(
                    "select id from transactions where user_id = %s and product_id = %s", [self.user_id, product_id]
                )
                ids = [row[0] for row in await cursor.fetchall()]
                found += await tags.list_tagged(connection, self.user_id, product_id, ids)
        return found

    async def list_rules(self):
        return await self.services.tagging_rules.list_rules(self.principal)

    async def list_own(self):
        return await self.services.own_categories.list_categories(self.principal)

    async def expect(self):
        """Tags by the model."""
        book = RuleBook(await self.list_rules())
        expected = {}
        for row in await self.read():
            found = self.tagger[row.id]
            rule = book.find(RuledTransaction(row.product_id, row.transaction, found.partner, is_settled=True))
            if row.id in self.corrected:
                expected[row.id] = (*self.corrected[row.id], TagSource.USER, None)
            elif rule is not None:
                category = resolve_basis(rule.category, row.transaction.amount)
                expected[row.id] = category, rule.own_category, TagSource.RULE, rule.id
            else:
                expected[row.id] = found
        return expected

    async def check(self):
        expected = await self.expect()
        for row in await self.read():
            wanted = expected[row.id]
            if row.id in self.corrected or isinstance(wanted, tuple):
                said = row.tags
                assert (said.category, said.own_category, said.source, said.rule_id) == wanted
                assert row.tags.partner == self.tagger[row.id].partner
            else:
                assert row.tags == wanted, "all that the tagger says"

    async def count_decided(self, rule_id):
        return [row for row in await self.read() if row.tags.rule_id == rule_id]


@pytest.fixture(scope="module")
def own(settings):
    with beside(settings) as own:
        yield own


@pytest.fixture(scope="module")
async def services(own):
    async with bootstrap.open_services(replace(own, pool_size=4), "kontor tests") as services:
        administration = services.tenant_administration
        await administration.create_tenant(new_tenant("t", is_regulated=True, scopes=ALL_SCOPES))
        await administration.create_client("t", "app", ClientKind.USER, MANAGEMENT_SCOPES)
        yield services


@pytest.fixture
async def new_user(services, own):
    async def make(seed):
        with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as owner:
            tenant, client = owner.execute("select tenant_id, id from clients").fetchone()
        new = await services.users.create_user_by_operator("t", NewUser(f"user-{uuid4().hex[:12]}", Secret("password")))
        principal = Principal(tenant, "t", True, client, "app", frozenset(ALL_SCOPES), new.id, new.pseudonym)
        user = RuledUser(services, principal)
        await user.store(random.Random(seed))
        return user

    return make


async def change_something(user, chance):
    rules, service = await user.list_rules(), user.services.tagging_rules
    own = [category.system_name for category in await user.list_own()]
    choice = chance.random()
    if choice < 0.2 or (choice < 0.5 and chance.random() < 0.3):
        await change_categories(user, chance)
    elif choice < 0.55 or not rules:
        rule = make_rule(chance, user.products.values(), own)
        found = await service.preview_rule(user.principal, rule, CUSTOMER_FIELDS, replaces=False)
        rule = await service.add_rule(user.principal, rule)
        await compare(user, rule, found)
    elif choice < 0.7:
        rule = replace(make_rule(chance, user.products.values(), own), id=chance.choice(rules).id)
        found = await service.preview_rule(user.principal, rule, CUSTOMER_FIELDS, replaces=True)
        await service.change_rule(user.principal, rule)
        await compare(user, rule, found)
    elif choice < 0.85:
        await service.delete_rule(user.principal, chance.choice(rules).id)
    else:
        row = chance.choice(await user.read())
        amount = row.transaction.amount
        fitting = [category for category in await user.list_own() if fits_basis(category.basis, amount)]
        chosen = chance.choice(fitting) if fitting else None
        category = "RECREATION_SPORTS" if amount < 0 else "INCOME_RENTAL"
        await user.services.transaction_tagging.correct(
            user.principal, "a", row.product_id, row.id, category if chosen is None else chosen.system_name,
            changes_existing=False, creates_rule=False,
        )  # fmt: skip
        resolved = (category, "") if chosen is None else (resolve_basis(chosen.basis, amount), chosen.system_name)
        user.corrected[row.id] = resolved


async def change_categories(user, chance):
    """Add, change or delete an own category; corrected transactions follow."""
    service, own = user.services.own_categories, await user.list_own()
    choice = chance.random()
    if choice < 0.4 or not own:
        await service.add_category(user.principal, "Eigene", chance.choice(BASES), "")
        return
    category = chance.choice(own)
    if choice < 0.7:
        category = replace(category, name="Andere", basis=chance.choice(BASES))
        await service.change_category(user.principal, category)
    else:
        await service.delete_category(user.principal, category.system_id)
    amounts = {row.id: row.transaction.amount for row in await user.read()}
    for row_id, (said, own_category) in user.corrected.items():
        if own_category == category.system_name:
            is_kept = choice < 0.7 and fits_basis(category.basis, amounts[row_id])
            basis = resolve_basis(category.basis, amounts[row_id])
            user.corrected[row_id] = (basis, own_category) if is_kept else (said, "")


async def compare(user, rule, found):
    """A preview tells what the change then does."""
    decided = await user.count_decided(rule.id)
    assert found.count == len(decided)
    assert found.total == sum(row.transaction.amount for row in decided if row.transaction.currency == "EUR")
    assert len(found.examples) == min(10, len(decided))
    assert all(any(str(row.id) in example for row in decided) for example in found.examples)


@pytest.mark.parametrize("seed", range(5))
async def test_after_any_changes_tags_follow_from_corrections_rules_and_the_tagger(new_user, seed):
    user, chance = await new_user(seed), random.Random(1000 + seed)
    for _ in range(16):
        await change_something(user, chance)
        await user.check()
    await user.services.tagging_rules.delete_rules(user.principal)
    assert await user.list_rules() == []
    for row in await user.read():
        if row.id not in user.corrected:
            assert row.tags == user.tagger[row.id], "without rules the tagger's tags are back"


async def test_a_new_version_of_the_tagger_keeps_what_rules_decide(new_user, services, own):
    user = await new_user(7)
    rule = TaggingRule(uuid4(), "RECREATION_HOBBY", conditions=RuleConditions(text="Einkauf", sign=Sign.OUTGOING))
    await services.tagging_rules.add_rule(user.principal, rule)
    before = {row.id: row.tags for row in await user.read()}
    assert any(found.rule_id == rule.id for found in before.values())
    with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as owner:
        owner.execute("update transaction_tags set tagger_version = 'old' where user_id = %s", [user.user_id])
    assert await services.transaction_tagging.retag_step(user.user_id) is False
    assert {row.id: row.tags for row in await user.read()} == before


async def test_a_rule_that_an_earlier_program_applied_is_undone_too(new_user, services, own):
    user = await new_user(8)
    rule = await services.tagging_rules.add_rule(user.principal, TaggingRule(uuid4(), "TRANSFER_OTHER", "", "Kiosk"))
    assert await user.count_decided(rule.id)
    with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as owner:
        owner.execute("update transaction_tags set rule_id = null where user_id = %s", [user.user_id])
        owner.execute("update tagging_rules set is_for_all = false where user_id = %s", [user.user_id])
    await services.tagging_rules.delete_rule(user.principal, rule.id)
    assert {row.id: row.tags for row in await user.read()} == user.tagger


async def test_no_more_than_500_rules_and_replacing_one_is_no_further_one(new_user, services, monkeypatch):
    user = await new_user(9)
    monkeypatch.setattr(tagging, "MOST_RULES", 2)
    first = TaggingRule(uuid4(), "HOUSING_OTHER", "", "Kiosk")
    await services.tagging_rules.add_rule(user.principal, first)
    await services.tagging_rules.add_rule(user.principal, replace(first, id=uuid4(), counterparty_name="Verein"))
    with pytest.raises(InvalidError, match="at most 2 rules"):
        await services.tagging_rules.add_rule(user.principal, replace(first, id=uuid4(), counterparty_name="Aral"))
    row = next(row for row in await user.read() if row.transaction.counterparty_name == "ARAL AG")
    category = "RECREATION_SPORTS" if row.transaction.amount < 0 else "INCOME_RENTAL"
    with pytest.raises(InvalidError, match=r"createRule: .* at most 2 rules"):
        await services.transaction_tagging.correct(
            user.principal, "a", row.product_id, row.id, category, changes_existing=False, creates_rule=True
        )
    replaced = await services.tagging_rules.add_rule(
        user.principal, replace(first, id=uuid4(), category="LIVING_OTHER")
    )
    assert replaced.id == first.id
    assert len(await user.list_rules()) == 2


async def test_another_users_rules_are_not_found(new_user, services):
    user, stranger = await new_user(10), await new_user(11)
    rule = await services.tagging_rules.add_rule(user.principal, TaggingRule(uuid4(), "TRANSFER_OTHER", "", "Kiosk"))
    before = {row.id: row.tags for row in await user.read()}
    for attempt in (
        services.tagging_rules.read_rule(stranger.principal, rule.id),
        services.tagging_rules.change_rule(stranger.principal, rule),
        services.tagging_rules.delete_rule(stranger.principal, rule.id),
        services.tagging_rules.preview_rule(stranger.principal, rule, CUSTOMER_FIELDS, replaces=True),
    ):
        with pytest.raises(NotFoundError):
            await attempt
    foreign = replace(rule, conditions=RuleConditions(product_id=stranger.products["giro"]))
    with pytest.raises(InvalidError, match="is no product of this user"):
        await services.tagging_rules.add_rule(user.principal, replace(foreign, id=uuid4()))
    assert {row.id: row.tags for row in await user.read()} == before
    assert {row.id: row.tags for row in await stranger.read()} == stranger.tagger


async def test_own_categories_are_200_at_most_and_nobody_elses(new_user, services, monkeypatch):
    user, stranger = await new_user(12), await new_user(13)
    monkeypatch.setattr(own_categories, "MOST_CATEGORIES", 1)
    category = await services.own_categories.add_category(user.principal, "Hund", "RECREATION_PETS", "")
    with pytest.raises(InvalidError, match="at most 1 own categories"):
        await services.own_categories.add_category(user.principal, "Katze", "RECREATION_PETS", "")
    assert await stranger.list_own() == []
    for attempt in (
        services.own_categories.require_own(stranger.principal, category.system_id),
        services.own_categories.change_category(stranger.principal, category),
        services.own_categories.delete_category(stranger.principal, category.system_id),
    ):
        with pytest.raises(NotFoundError):
            await attempt
    rule = TaggingRule(uuid4(), category.system_name, "", "Kiosk")
    with pytest.raises(InvalidError, match="is no category that a transaction can have"):
        await services.tagging_rules.add_rule(stranger.principal, rule)
    assert await user.list_own() == [category]
