"""Passwords that are easy to guess are refused where the operator wants that, and only there."""

from dataclasses import replace
from uuid import uuid4

import pytest
from zxcvbn.frequency_lists import FREQUENCY_LISTS

from kontor.bootstrap import open_services
from kontor.domain.errors import InvalidError
from kontor.domain.secrets import Secret
from kontor.domain.tenants import MAX_PASSWORD_LENGTH
from kontor.services.identity import NewUser
from kontor.services.security.passwords import is_guessable


@pytest.fixture
async def strict(settings):
    async with open_services(replace(settings, refuse_guessable_passwords=True), "tests") as services:
        yield services


async def create(services, tenant, password, username=None):
    await services.users.create_user_by_operator(tenant.name, NewUser(username or uuid4().hex, Secret(password)))


@pytest.mark.parametrize("count", [300, pytest.param(3000, marks=pytest.mark.long)])
def test_the_most_common_passwords_of_the_policys_length_are_refused(count):
    """No list has 3000 of 12 characters: the most common ones, and what people make of them to get there."""
    common = FREQUENCY_LISTS["passwords"][:count]
    long = [word for word in FREQUENCY_LISTS["passwords"] if len(word) >= 12]
    made = [(word + "123456789012")[: max(12, len(word))] for word in common]
    assert [word for word in long + made if not is_guessable(word)] == []


@pytest.mark.parametrize(
    "password",
    [
        "x" * 12,
        "abcdefghijkl",
        "qwertyuiop123",
        "Passwort1234",
        "kontorkontor",
        "Sommer2026!!",
        "a" * MAX_PASSWORD_LENGTH,
    ],
)
async def test_a_guessable_password_is_refused_where_the_operator_wants_that(strict, tenant, password):
    with pytest.raises(InvalidError, match="password: is easy to guess"):
        await create(strict, tenant, password)


async def test_names_of_the_user_and_the_tenant_are_no_passwords(strict, tenant):
    for password in (f"{tenant.name}2026", "hildegardhildegard1"):
        with pytest.raises(InvalidError, match="password: is easy to guess"):
            await create(strict, tenant, password, f"hildegard {uuid4().hex}")


@pytest.mark.parametrize(
    "password", ["c3oRGbD9mXq1", "ein Satz mit vielen Wörtern", "7f" + uuid4().hex * 30, "ü§漢字😀ñßøå∆ж"]
)
async def test_others_of_any_signs_and_length_are_accepted(strict, tenant, password):
    await create(strict, tenant, password)


async def test_without_the_setting_the_length_alone_counts(services, tenant):
    await create(services, tenant, "x")


async def test_the_check_applies_to_reactivation_too(strict, tenant):
    principal = await strict.tokens.authenticate(tenant.client_token())
    user = await strict.users.create_user_by_operator(tenant.name, NewUser(uuid4().hex, Secret("c3oRGbD9mXq1")))
    await strict.users.deactivate_user(principal, user)
    with pytest.raises(InvalidError, match="password: is easy to guess"):
        await strict.users.reactivate_user(principal, user, NewUser(user.username, Secret("password1234")))
