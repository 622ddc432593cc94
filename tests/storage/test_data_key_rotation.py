"""New data keys for users: everything opens at every moment, and what was interrupted goes on."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from banking import DEMO_BANK
from consenting import new_login
from kontor.bootstrap import load_master_key
from kontor.config import export_settings
from kontor.connectors.base import Done, Fetched, Headers
from kontor.domain.account_statements import AccountStatement, StatementFormat
from kontor.domain.dialogues import Secrets
from kontor.domain.secrets import Secret
from kontor.services.fetching.staging import Staging
from kontor.services.security import STATEMENT, Rotated, UserEncryption
from kontor.storage import account_statements, data_key_rotation, keys, payments
from kontor.storage.data_key_rotation import SEALED_COLUMNS
from kontor.storage.system_keys import load_digest_key
from kontor_client import Kontor, Order
from tenants import create_tenant
from timeouts import WAIT_TIMEOUT_SECONDS
from whole_customers import PRESENT, make_whole_customer

OTHER_PAYEE = "DE02120300000000202051"
# `kontor key rotate-data-keys` that is killed before it replaces the nth value.
KILLED = """
import os, signal, sys
from kontor.cli.commands import run
from kontor.storage import data_key_rotation

real, left = data_key_rotation.replace_value, [int(sys.argv[1])]

async def die(*arguments):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    await real(*arguments)

data_key_rotation.replace_value = die
run(["key", "rotate-data-keys", sys.argv[2], "--made-before", "9999-01-01", "--json"])
"""


def soon():
    return datetime.now(UTC) + timedelta(minutes=5)


class Rotating:
    """A tenant with a customer who has used everything, seen from behind."""

    def __init__(self, services, owner, settings, tenant, whole):
        self.services, self.owner, self.settings, self.tenant, self.whole = services, owner, settings, tenant, whole
        self.user = UUID(whole.customer.reference)
        self.master = load_master_key(settings)

    async def rotate(self):
        tenant = await self.services.tenant_administration.find_tenant(self.tenant.name)
        return await self.services.key_rotation.rotate(tenant.id, datetime.now(UTC) + timedelta(minutes=5))

    async def load_key(self):
        async with self.services.database.connect() as connection:
            return await keys.load_data_key(connection, self.master, self.user)

    async def make_user_encryption(self):
        async with self.services.database.connect() as connection:
            return UserEncryption(self.master, await load_digest_key(connection, self.master))

    def list_values(self):
        """Column and value."""
        return [
            (f"{column.table}.{column.name}", bytes(row[0]))
            for column in SEALED_COLUMNS
            for row in self.owner.execute(
                f"select {column.name} from {column.table} where user_id = %s and {column.name} is not null",
                [self.user],
            )
        ]

    def count_values(self):
        """By the key that they are sealed with."""
        return Counter(value[1:9] for _, value in self.list_values())

    def let_a_day_pass(self):
        day, of_tenant = "interval '25 hours'", "tenant_id = (select tenant_id from users where id = %s)"
        self.owner.execute(f"update users set data_key_at = now() - {day} where {of_tenant}", [self.user])
        self.owner.execute(f"update tenant_keys set created_at = created_at - {day} where {of_tenant}", [self.user])


@pytest.fixture(scope="module")
async def rotating_tenant(standing_services, http):
    return await create_tenant(standing_services, http)


@pytest.fixture(scope="module")
def rotating_customer(rotating_tenant, bank_server):
    """With an open payment and an open consent, too."""
    whole = make_whole_customer(bank_server, rotating_tenant)
    order = Order(
        recipient="Erika Mustermann", iban=OTHER_PAYEE, amount=Decimal("1.20"), purpose="Miete", bic="COBADEFFXXX"
    )
    first = datetime.now(UTC).date() + timedelta(days=20)
    with Kontor(bank_server, whole.customer.token) as client:
        client.create_standing_order(
            whole.access_id, whole.product["id"], order, period="MONTH_ONE", first_execution_date=first, **PRESENT
        )
        access = client.add_access(DEMO_BANK, {"userid": new_login("test_phototan"), "pin": "demo"})
        client.start_consent(access.id, **PRESENT)
    return whole


@pytest.fixture
async def rotating(services, owner, settings, rotating_tenant, rotating_customer):
    """Nothing is under way, and no key is kept from a test before."""
    made = Rotating(services, owner, settings, rotating_tenant, rotating_customer)
    running = "select 1 from fetches where user_id = %s and state in ('QUEUED', 'RUNNING')"
    end = time.monotonic() + WAIT_TIMEOUT_SECONDS
    while owner.execute(running, [made.user]).fetchone() and time.monotonic() < end:  # noqa: ASYNC110 (a worker decides)
        await asyncio.sleep(0.05)
    made.let_a_day_pass()
    await services.key_rotation.finish()
    return made


async def fill_rarely_used(rotating):
    """Columns that have values for moments only, sealed by the code that seals them then."""
    user_encryption, access_id = await rotating.make_user_encryption(), rotating.whole.access_id
    services, user, owner = rotating.services, rotating.user, rotating.owner
    [(payment_id,)] = owner.execute("select id from payments where user_id = %s and state = 'OPEN'", [user]).fetchall()
    async with services.database.transaction(user) as connection:
        payment, _, _ = await payments.find_payment(connection, user, payment_id)
        credentials = await services.payments.dialogues.seal_credentials(connection, payment, {"pin": Secret("1")})
        sealed = await user_encryption.seal(connection, user, access_id, f"payment {payment_id}", Secrets())
        assert await services.payments.dialogues.open_lookup_secrets(connection, (payment, sealed, None)) == Secrets()
        await Staging(user_encryption).stage_headers(connection, user, access_id, Headers(()))
        await Staging(user_encryption).stage_result(connection, user, access_id, Done(Fetched({}), {"a": 1}))
    change = "update payments set sealed = %s, credentials = %s where user_id = %s and id = %s"
    owner.execute(change, [sealed, credentials, user, payment_id])
    owner.execute(  # as a withdrawal does it
        "update permissions p set credentials = a.credentials, memory = a.memory from accesses a"
        " where a.user_id = p.user_id and a.id = p.access_id and p.user_id = %s and a.id = %s",
        [user, access_id],
    )


async def test_values_of_every_column_are_sealed_anew_and_the_service_goes_on(rotating):
    await fill_rarely_used(rotating)
    before, values = await rotating.load_key(), rotating.list_values()
    assert {name for name, _ in values} == {f"{column.table}.{column.name}" for column in SEALED_COLUMNS}
    rotated = await rotating.rotate()
    after = await rotating.load_key()
    assert after.id != before.id
    assert rotated == Rotated(users=2, values=len(values))  # anna is the tenant's other user
    assert rotating.count_values() == {after.id: len(values)}
    customer, access_id = rotating.whole.customer, rotating.whole.access_id
    with Kontor(str(customer.http.base_url), customer.token) as client:
        client.refresh_access(access_id)
        assert client.wait_until_complete(access_id).is_complete
    entry = rotating.owner.execute(
        "select object from audit_entries where chain = (select tenant_id from users where id = %s)"
        " and action = 'key.rotate' order by serial desc limit 1",
        [rotating.user],
    ).fetchone()
    assert entry == ("data keys of 2 users",)


async def test_the_key_before_opens_what_was_begun_with_it_and_is_forgotten_after_a_day(rotating):
    before = await rotating.load_key()
    await rotating.rotate()
    place = f"user {rotating.user} access {rotating.whole.access_id} credentials"
    late = before.seal(b'{"userid": "late"}', place)
    rotating.owner.execute(
        "update accesses set credentials = %s where user_id = %s and id = %s",
        [late, rotating.user, rotating.whole.access_id],
    )
    assert (await rotating.load_key()).unseal(late, place) == b'{"userid": "late"}'
    await rotating.services.housekeeping.clean()
    assert (await rotating.load_key()).previous.id == before.id
    rotating.let_a_day_pass()
    await rotating.services.housekeeping.clean()
    after = await rotating.load_key()
    assert after.previous is None
    assert set(rotating.count_values()) == {after.id}


async def test_a_value_that_changes_meanwhile_is_not_overwritten(rotating, monkeypatch):
    real, place = data_key_rotation.replace_value, (rotating.user, rotating.whole.access_id)
    user_encryption, changed = await rotating.make_user_encryption(), []

    async def change_first(connection, user_id, old, sealed):
        if old.column.table == "accesses" and old.key == place[1] and not changed:
            changed.append(await user_encryption.seal(connection, *place, old.column.name, {"userid": "meanwhile"}))
            rotating.owner.execute(
                f"update accesses set {old.column.name} = %s where user_id = %s and id = %s", [changed[0], *place]
            )
        await real(connection, user_id, old, sealed)

    monkeypatch.setattr(data_key_rotation, "replace_value", change_first)
    await rotating.rotate()
    assert changed[0] in {value for _, value in rotating.list_values()}


async def test_a_value_that_no_key_opens_is_told_and_keeps_the_key_before(rotating):
    before = await rotating.load_key()
    [(sealed,)] = rotating.owner.execute(
        "select sealed from push_subscriptions where user_id = %s", [rotating.user]
    ).fetchall()
    change = "update push_subscriptions set sealed = %s where user_id = %s"
    rotating.owner.execute(change, [sealed[:-1] + bytes([sealed[-1] ^ 1]), rotating.user])
    rotated = await rotating.rotate()
    assert (rotated.users, rotated.unreadable) == (2, 1)
    rotating.let_a_day_pass()
    await rotating.services.key_rotation.finish()
    assert (await rotating.load_key()).previous.id == before.id
    assert rotating.count_values()[before.id] == 1
    rotating.owner.execute(change, [sealed, rotating.user])
    await rotating.services.key_rotation.finish()
    assert (await rotating.load_key()).previous is None


async def test_a_statement_that_is_fetched_again_is_stored_once(rotating):
    """It has no number, so that its keyed hash alone tells that it is there."""
    statement = AccountStatement(format=StatementFormat.PDF, content=b"%PDF-once", size=9)
    [(product_id,)] = rotating.owner.execute(
        "select id from products where user_id = %s and access_id = %s order by id limit 1",
        [rotating.user, rotating.whole.access_id],
    ).fetchall()
    user_encryption, count = await rotating.make_user_encryption(), 0

    async def store():
        async with rotating.services.database.transaction(rotating.user) as connection:
            digests, sealed = await user_encryption.seal_file(
                connection, rotating.user, rotating.whole.access_id, STATEMENT, b"%PDF-once"
            )
            await account_statements.store_statement(connection, rotating.user, product_id, statement, digests, sealed)
        query = "select count(*) from account_statements where user_id = %s and number is null"
        return rotating.owner.execute(query, [rotating.user]).fetchone()[0]

    count = await store()
    await rotating.rotate()
    assert await store() == count
    rotating.let_a_day_pass()
    await rotating.services.key_rotation.finish()
    assert await store() == count


async def test_secrets_of_webhooks_move_to_the_new_wrapping_key_and_the_old_one_goes(rotating):
    tenant = rotating.tenant
    answer = tenant.http.post(
        f"{tenant.url}/webhooks",
        json={"url": "https://8.8.8.8/hook", "events": ["transactions.new"]},
        headers=tenant.as_admin,
    )
    query = (
        "select k.id, count(w.id) from tenant_keys k join tenants t on t.id = k.tenant_id"
        " left join webhooks w on w.wrapping_key_id = k.id where t.name = %s and k.kind = 'wrapping'"
        " group by k.id, k.created_at order by k.created_at"
    )
    assert answer.status_code == 201, answer.text
    old = rotating.owner.execute(query, [tenant.name]).fetchall()[-1][0]
    await rotating.rotate()
    assert (old, 0) in rotating.owner.execute(query, [tenant.name]).fetchall()
    rotating.let_a_day_pass()
    rotating.let_a_day_pass()
    await rotating.services.key_rotation.finish()
    await rotating.rotate()
    assert old not in {row[0] for row in rotating.owner.execute(query, [tenant.name])}
    # The secret opens: the present one is kept beside a new one.
    changed = tenant.http.put(answer.headers["location"], json={"rotateSecret": True}, headers=tenant.as_admin)
    assert changed.status_code == 200, changed.text


@pytest.mark.programs
@pytest.mark.parametrize("nth", [1, 3])
async def test_a_rotation_that_is_killed_goes_on_where_it_was(rotating, nth):
    before, count = await rotating.load_key(), len(rotating.list_values())
    environment = os.environ | export_settings(rotating.settings)
    command = [sys.executable, "-c", KILLED, str(nth), rotating.tenant.name]
    killed = await asyncio.to_thread(subprocess.run, command, env=environment, capture_output=True, timeout=120)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    between = await rotating.load_key()
    assert rotating.count_values() == {before.id: count - nth + 1} | ({between.id: nth - 1} if nth > 1 else {})
    user_encryption = await rotating.make_user_encryption()
    async with rotating.services.database.connect(rotating.user) as connection:
        [(credentials, memory)] = rotating.owner.execute(
            "select credentials, memory from accesses where user_id = %s and id = %s",
            [rotating.user, rotating.whole.access_id],
        ).fetchall()
        opened, _ = await user_encryption.open_access(
            connection, rotating.user, rotating.whole.access_id, credentials, memory
        )
    assert "userid" in opened
    assert (await rotating.services.key_rotation.finish()).values == count - nth + 1
    assert rotating.count_values() == {between.id: count}
