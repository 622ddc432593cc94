"""Methods for annotations, edits, changes, tenants, operators, web forms and legacy transfers against the service."""

from datetime import date
from decimal import Decimal
from uuid import uuid4

import msgspec
import pytest
from comparing import find_lost

from banking import DEMO_BANK, new_customer
from kontor.domain.scopes import RULES_MANAGE
from kontor.domain.tenants import ClientKind
from kontor_client import ApiError, AsyncKontor, Batch, Filters, Kontor, NewPart, NewTransaction, Order, RuleConditions
from kontor_client.sessions import encode_json

PRESENT = {"callback_url": "https://example.com/back", "customer_ip": "8.8.8.8"}
CREDENTIALS = {"userid": "student+methods", "pin": "demo"}


def assert_whole(client, typed, path, **params):
    """Nothing that the service says is lost."""
    said = client.request("GET", path, params=params).json()
    assert said, path
    assert find_lost(said, msgspec.json.decode(encode_json(typed))) == []


@pytest.fixture
def holder(bank_server, shared):
    """A client, an access and its account with two bookings."""
    with Kontor(bank_server, new_customer(shared).token) as client:
        access = client.add_access(DEMO_BANK, {"userid": "leer+methods", "pin": "demo"})
        product_id = client.wait_until_complete(access.id).products[0].id
        rows = [(-23.45, "REWE Markt"), (-900, "Hausverwaltung Meier")]
        client.push_transactions(
            access.id,
            product_id,
            [
                NewTransaction(
                    batch=Batch(id="b"), amount=Decimal(str(amount)), booked_at="2026-11-02", counterparty_name=name
                )
                for amount, name in rows
            ],
        )
        yield client, access.id, product_id


def test_a_transaction_is_annotated_split_and_told_as_changed(holder):
    client, *place = holder
    cursor = client.list_all_transaction_changes().cursor
    rent, *_ = client.list_transactions(*place)
    parts = [NewPart(amount=rent.amount + 1, category="TAXES", note="t"), NewPart(amount=Decimal(-1), category="TAXES")]
    client.annotate_transaction(*place, rent.id, note="geprüft", keywords=["Haus"], parts=parts)
    changes = client.list_transaction_changes(*place, since=cursor)
    [changed] = changes.changed
    assert (changed.id, changed.note, changed.keywords) == (rent.id, "geprüft", ["Haus"])
    assert [(part.amount, part.note) for part in changed.parts] == [(rent.amount + 1, "t"), (Decimal(-1), None)]
    assert (changes.new, changes.removed, changes.has_more) == ([], [], False)
    everything = client.list_all_transaction_changes(limit=1)
    assert (len(everything.new), everything.has_more, everything.new[0].product_id) == (1, True, place[1])
    client.annotate_transaction(*place, rent.id, note=None, keywords=[], parts=[])
    [plain] = [row for row in client.list_transactions(*place) if row.id == rent.id]
    assert (plain.note, plain.keywords, plain.parts) == (None, [], [])


def test_transactions_of_all_accounts_are_filtered_and_added_up(holder):
    client, access_id, product_id = holder
    rows = client.list_all_transactions(Filters(search="rewe", is_incoming=False, products=[product_id]))
    assert [(row.amount, row.access_id, row.product_id) for row in rows] == [(Decimal("-23.45"), access_id, product_id)]
    assert_whole(client, rows, "/customer/v2/kontoumsaetze", search="rewe")
    both = list(client.iterate_all_transactions(page_size=1, is_ascending=True))
    assert len({row.id for row in both}) == 2
    [total] = client.sum_transactions(Filters(max_amount=Decimal(0)))
    assert (total.count, total.total, total.income) == (2, Decimal("-923.45"), Decimal(0))
    assert client.list_all_transactions(Filters(amount=Decimal("23.45")))[0].id == rows[0].id
    assert client.list_all_transactions(Filters(category="HOUSING"), tag="categories")[0].category == "HOUSING_RENT"
    assert_whole(client, client.list_completeness(), "/customer/v2/vollstaendigkeit")
    file = client.create_credit_file("Ratenkredit")
    assert (file.purpose, file.disclosure, file.version) == ("Ratenkredit", "SELBST", 1)
    assert_whole(client, file, f"/customer/v2/ai/credit-files/{file.id}")
    assert_whole(client, client.list_credit_files(), "/customer/v2/ai/credit-files")
    assert client.print_credit_file(file.id).startswith(b"%PDF-")
    assert client.list_signing_keys()[0].crv == "Ed25519"
    [balance, *_] = client.list_balances(access_id, product_id, since=date(2026, 11, 2), until=date(2026, 11, 2))
    assert (balance.day, balance.currency) == (date(2026, 11, 2), "EUR")


def test_several_transactions_are_previewed_edited_and_restored(holder):
    client, *_ = holder
    chosen = Filters(search="rewe")
    preview = client.preview_edit(chosen, category="TAXES", keywords=["a"], note="n")
    assert (preview.count, preview.total, len(preview.examples)) == (1, Decimal("-23.45"), 1)
    edit = client.edit_transactions(chosen, category="TAXES", keywords=["a"], note="n")
    assert (edit.count, edit.skipped) == (1, 0)
    [stored] = client.list_transaction_edits()
    assert stored == client.read_transaction_edit(edit.id)
    assert_whole(client, stored, f"/customer/v2/kontoumsaetze/bearbeitungen/{edit.id}")
    [row] = client.list_all_transactions(Filters(keyword="a"), tag="categories")
    assert (row.category, row.note) == ("TAXES", "n")
    assert client.undo_transaction_edit(edit.id).count == 1
    assert client.list_all_transactions(Filters(keyword="a")) == []
    assert client.edit_transactions([row.id], note="m").count == 1


def test_rules_categories_trees_and_logos_are_read_one_by_one(holder):
    client, *_ = holder
    own = client.add_own_category("Hund", "RECREATION_PETS")
    assert client.read_own_category(own.system_id) == own
    rule = client.add_tagging_rule("TAXES", conditions=RuleConditions(text="rewe"))
    assert client.read_tagging_rule(rule.id) == rule
    client.delete_tagging_rules()
    assert client.list_tagging_rules() == []
    assert client.read_tag_tree(1).system_name == "CATEGORIES"
    assert client.read_tag_tree_item("CATEGORIES", "TAXES").system_name == "TAXES"
    assert client.read_logo(DEMO_BANK)


def test_a_form_is_read_and_all_accesses_are_deleted(holder):
    client, *_ = holder
    columns = {"Tag": "buchungsdatum", "Wert": "betrag"}
    form = client.add_import_form("Verein", columns, day_format="dd.mm.yyyy", decimal_sign=",")
    assert client.read_import_form("Verein") == form
    client.delete_accesses()
    assert client.list_accesses() == {}


def test_transactions_are_tagged_and_analysed_without_being_stored(holder):
    client, *_ = holder
    row = {
        "betrag": Decimal("-900.00"), "buchungsdatum": "2026-11-02 00:00:00", "verwendungszweck": "Miete Wohnung 12",
        "user": "u", "provider": "p", "product": "p", "tenant": "t",
    }  # fmt: skip
    [tagged] = client.tag_transactions([row])
    assert tagged["tags"][0]["tagTreeItem"]["systemName"] == "HOUSING_RENT"
    assert set(client.analyse_transactions(["contracts"], [row], today=date(2026, 11, 15))) >= {"contracts"}


# Payments


@pytest.fixture(scope="module")
def payer(bank_server, shared):
    with Kontor(bank_server, new_customer(shared).token) as client:
        access = client.add_access(DEMO_BANK, CREDENTIALS)
        giro = next(product for product in client.wait_until_complete(access.id).products if product.can_transfer)
        yield client, access.id, giro


def make_order():
    return Order(
        recipient="Erika Mustermann",
        iban="DE89370400440532013000",
        amount=Decimal("1.20"),
        purpose=uuid4().hex,
        bic="COBADEFFXXX",
    )


def walk(client, status):
    """Answer step by step until the transfer has ended."""
    payment_id = status.transfer.payment_id
    for _ in range(4):
        offered = {relation.rel for relation in status.relations}
        if "set_method" in offered:
            status = client.answer_transfer(payment_id, method=status.methods[0].code)
        elif "set_medium" in offered:
            status = client.answer_transfer(payment_id, medium=status.media[0].name)
        elif "authenticate" in offered:
            status = client.answer_transfer(payment_id, data="2")
    return status


def test_a_transfer_is_answered_step_by_step(payer):
    client, access_id, giro = payer
    status = walk(client, client.order_transfer(access_id, giro.id, make_order(), **PRESENT))
    assert status.is_executed
    assert client.read_transfer_of_product(access_id, giro.id, status.transfer.payment_id).is_executed


def test_a_transfer_with_credentials_is_verified_and_ordered(payer):
    client, _, giro = payer
    order = make_order()
    found = client.verify_payee_with_credentials(DEMO_BANK, CREDENTIALS, giro.iban, order)
    status = client.order_transfer_with_credentials(
        DEMO_BANK, CREDENTIALS, giro.iban, order, payment_id=found.payment_id, verification_id=found.id, **PRESENT
    )
    assert walk(client, status).is_executed


def test_a_payee_that_does_not_fit_is_confirmed(payer):
    client, access_id, giro = payer
    order = msgspec.structs.replace(make_order(), iban="DE71999999990000000009", recipient="Max Muster")
    status = client.order_transfer(access_id, giro.id, order, **PRESENT)
    assert status.find_href("confirm_vop")
    assert walk(client, client.confirm_payee(status.transfer.payment_id)).is_executed


def test_a_legacy_transfer_is_released_with_a_tan(payer):
    client, access_id, giro = payer
    method = client.read_access(access_id).methods[0].code
    media = client.read_access(access_id).media
    status = client.start_legacy_transfer(
        DEMO_BANK,
        giro.id,
        make_order(),
        CREDENTIALS,
        method=method,
        medium=media[0].name if media else None,
        customer_ip="8.8.8.8",
    )
    assert (status.code, status.hint is not None) == ("BA1110", True)
    assert client.submit_text_tan(DEMO_BANK, giro.id, status.transfer_id, "2").code == "BA1111"


async def test_a_consent_is_answered_and_polled(own):
    consent_id = await own.start_consent(
        str(uuid4()),
        provider_id=DEMO_BANK,
        credentials={"userid": f"test_sca_method+{uuid4().hex[:8]}", "pin": "demo"},
        **PRESENT,
    )
    status = await own.read_consent(consent_id)
    status = await own.answer_consent(consent_id, method=900)
    assert (await own.answer_consent(consent_id, data="12")).is_given
    assert status.challenge is not None
    polled = await own.start_consent(
        str(uuid4()),
        provider_id=DEMO_BANK,
        credentials={"userid": f"test_decoupled+{uuid4().hex[:8]}", "pin": "demo"},
        **PRESENT,
    )
    assert (await own.poll_consent(polled)).challenge.is_decoupled


# Tenants


def test_users_clients_and_roles_are_administered(administrating, shared):
    admin, tenant = administrating, shared.name
    assert [found.name for found in admin.list_tenants()] == [tenant] == [admin.read_tenant(tenant).name]
    assert admin.read_certificate(tenant).startswith(b"-----BEGIN CERTIFICATE-----")
    client = admin.read_client(tenant, shared.app[0].partition("/")[2])
    assert client in admin.list_clients(tenant)
    role = admin.list_roles(tenant, client.name)[0]
    assert admin.read_role(tenant, client.name, role.name) == role
    user = admin.create_user(tenant, f"user-{uuid4().hex[:8]}", "a password")
    admin.assign_role(tenant, client.name, role.name, user.reference)
    reference = admin.read_role_user(tenant, client.name, role.name, user.reference)
    assert reference in admin.list_role_users(tenant, client.name, role.name)
    admin.rename_user(tenant, user.reference, f"{user.username}-2", first_name="Anna")
    assert admin.read_user(tenant, user.reference).username == f"{user.username}-2"
    admin.deactivate_user(tenant, user.reference)
    admin.reactivate_user(tenant, user.reference, f"{user.username}-2", "another password")
    admin.deactivate_user(tenant, user.reference)
    admin.erase_user(tenant, user.reference)
    with pytest.raises(ApiError) as caught:
        admin.read_user(tenant, user.reference)
    assert caught.value.status == 404


def test_a_token_is_looked_at_and_revoked(server, shared, new_user):
    with Kontor(server) as client:
        facts = client.introspect_token(*shared.app, new_user.token)
        assert (facts.is_active, facts.username, facts.tenant) == (True, new_user.username, shared.name)
        client.revoke_token(*shared.app, new_user.token)
        assert not client.introspect_token(*shared.app, new_user.token).is_active
        assert client.read_liveness().status


async def test_a_tenants_rules_and_categories_are_managed(server, tenant, services):
    _, secret = await services.tenant_administration.create_client(
        tenant.name, "rules", ClientKind.ADMIN, [RULES_MANAGE]
    )
    name = tenant.name
    async with await AsyncKontor.login_client(server, f"{name}/rules", secret) as client:
        own = await client.add_tenant_category(name, "Verein", "RECREATION")
        await client.change_tenant_category(name, own.system_id, "Klub", "RECREATION")
        assert (await client.read_tenant_category(name, own.system_id)).display_name == "Klub"
        rule = await client.add_tenant_rule(name, own.system_name, conditions=RuleConditions(text="kegelclub"))
        await client.change_tenant_rule(name, rule.id, own.system_name, iban="DE89370400440532013000", is_active=False)
        assert not (await client.read_tenant_rule(name, rule.id)).is_active
        assert len(await client.list_tenant_rules(name)) == len(await client.list_tenant_categories(name)) == 1
        await client.delete_tenant_rule(name, rule.id)
        await client.delete_tenant_category(name, own.system_id)
        assert await client.list_tenant_rules(name) == await client.list_tenant_categories(name) == []


async def test_sessions_of_the_web_form_are_read_and_ended(server, redirect_tenant):
    async with await AsyncKontor.login(server, *redirect_tenant.app, "anna", "annas password") as client:
        await client.end_web_forms()
        await client.start_web_form("https://example.com/back")
        [session] = await client.list_web_forms()
        assert (session.status, session.use_case) == ("OPEN", "CREATE_ACCOUNT")
        assert await client.read_web_form(session.id) == session
        await client.end_web_form(session.id)
        assert session.id not in [found.id for found in await client.list_web_forms()]


# Operators

OPERATED = {
    "list_operated_tenants": "tenants",
    "list_operated_clients": "clients",
    "list_operated_users": "users",
    "list_operated_accesses": "accesses",
    "summarise_accesses": "accesses/summary",
    "summarise_refreshes": "refreshes/summary",
    "list_operated_providers": "providers",
    "list_workers": "workers",
    "list_audit_entries": "audit",
    "verify_audit_trail": "audit/verification",
    "check_health": "health",
}


@pytest.fixture(scope="module")
async def operator_token(standing_services):
    _, token = await standing_services.operators.create_operator(f"olga-{uuid4().hex[:8]}", 1)
    return token.reveal()


@pytest.mark.parametrize("name", OPERATED)
def test_nothing_that_operators_see_is_lost(server, demo1, operator_token, name):
    with Kontor(server, operator_token) as client:
        typed = getattr(client, name)()
        said = client.request("GET", f"/ops/v1/{OPERATED[name]}").json()
    lost = find_lost(said, msgspec.json.decode(encode_json(typed)))
    moving = ("At", "entries", ".at", "hash", "detail", "users", "accesses", "total", "byStatus")
    assert said
    assert [place for place in lost if not any(word in place for word in moving)] == []


def test_lists_for_operators_that_may_be_empty_are_read(server, operator_token):
    with Kontor(server, operator_token) as client:
        for state in ("due", "late", "running", "failing", "paused"):
            client.list_refreshes(state, limit=5)
        client.list_jobs()
        client.list_held_jobs(limit=5)
        client.list_egress(since=date(2026, 1, 1), limit=5)
        for webhook in client.list_operated_webhooks(limit=5):
            client.list_operated_deliveries(webhook.id, limit=5)
        with pytest.raises(ApiError) as caught:
            client.replay_operated_delivery(str(uuid4()), 1)
    assert caught.value.status == 404


def test_a_permission_is_listed_withdrawn_and_its_receipt_read(bank_server, shared):
    with Kontor(bank_server, new_customer(shared).token) as client:
        until = date(2099, 12, 31)
        access = client.add_access(DEMO_BANK, {"userid": "leer", "pin": "demo"}, purpose="Umzug", usable_until=until)
        client.wait_until_complete(access.id)
        (permission,) = client.list_permissions()
        assert (permission.access_id, permission.purpose, permission.status) == (access.id, "Umzug", "AKTIV")
        assert_whole(client, [permission], "/customer/v2/berechtigungen")
        receipt = client.withdraw_permission(permission.id)
        assert (receipt.erased.products, receipt.is_bank_told) == (1, False)
        assert client.withdraw_permission(permission.id) == receipt
        ended = client.read_permission(permission.id)
        assert (ended.status, ended.checksum, ended.erased) == ("WIDERRUFEN", receipt.checksum, receipt.erased)
        assert_whole(client, ended, f"/customer/v2/berechtigungen/{permission.id}")
