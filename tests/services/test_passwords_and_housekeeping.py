"""Password hashing that tells nothing by its time, and housekeeping that removes only what has run out."""

from datetime import UTC, datetime, timedelta
from os import urandom

from cheap_passwords import PRODUCTION
from kontor.services.security import passwords
from kontor.services.security.passwords import Passwords


async def test_an_unknown_user_costs_the_same_work_as_a_known_one(monkeypatch):
    for name, value in zip(("_hasher", "_nobody"), PRODUCTION, strict=True):
        monkeypatch.setattr(passwords, name, value)
    assert not passwords._hasher.check_needs_rehash(passwords._nobody)
    hashing = Passwords()
    assert await hashing.verify(await hashing.hash("right"), "right")
    assert not await hashing.verify(None, "the password of nobody")
    assert not await hashing.verify("not a hash", "x")


async def test_housekeeping_removes_expired_tokens_in_batches_and_nothing_else(services, shared, owner, monkeypatch):
    from kontor.services.operations import housekeeping

    monkeypatch.setattr(housekeeping, "BATCH", 2)
    token = shared.user_token()
    [(row,)] = owner.execute("select id from tenants where name = %s", [shared.name]).fetchall()
    [(client,)] = owner.execute("select id from clients where tenant_id = %s order by id limit 1", [row]).fetchall()
    past, now = datetime.now(UTC) - timedelta(hours=3), datetime.now(UTC)
    for _ in range(5):
        owner.execute(
            "insert into access_tokens values (%s, %s, %s, null, '{}', %s, %s)",
            [urandom(32), row, client, past, past + timedelta(hours=2)],
        )
    owner.execute("insert into login_failures values (%s, 3, %s, %s)", [b"old" + urandom(8), past, past])
    owner.execute("insert into login_failures values (%s, 3, %s, %s)", [b"new" + urandom(8), now, now])
    await services.housekeeping.clean()
    assert owner.execute("select count(*) from access_tokens where expires_at < now()").fetchone() == (0,)
    assert owner.execute("select count(*) from login_failures where key >= 'old' and key < 'ole'").fetchone() == (0,)
    assert owner.execute("select count(*) from login_failures where key >= 'new' and key < 'nex'").fetchone() != (0,)
    assert await services.tokens.authenticate(token) is not None
