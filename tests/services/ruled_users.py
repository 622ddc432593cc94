"""Users with rules and own categories, and a model of what their tags have to be."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

from kontor.domain.accesses import AccessStatus, make_product_id
from kontor.domain.own_categories import fits_basis, resolve_basis
from kontor.domain.products import Product, ProductCategory
from kontor.domain.tagging_rules import RuleBook, RuleConditions, RuledTransaction, Sign, TaggingRule
from kontor.domain.tags import TagSource
from kontor.domain.transactions import Transaction
from kontor.storage import accesses, products, tags, transactions
from kontor.wire.transactions import CUSTOMER_FIELDS

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
        self.tenants_rules: list[TaggingRule] = []
        self.corrected: dict[UUID, tuple[str, str]] = {}  # category, own category

    async def store(self, chance):
        async with self.services.database.transaction(self.user_id) as connection:
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
        async with self.services.database.connect(self.user_id) as connection:
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
        book = RuleBook(await self.list_rules(), self.tenants_rules)
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


async def change_something(user, chance, *, can_change_categories=True):
    rules, service = await user.list_rules(), user.services.tagging_rules
    own = [category.system_name for category in await user.list_own()]
    choice = chance.random()
    if can_change_categories and choice < 0.25:
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
