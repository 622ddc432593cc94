"""Passwords in the operator's list of breached ones are refused wherever a password is set."""

import hashlib
from dataclasses import replace
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.bootstrap import open_services
from kontor.cli.checks.findings import State
from kontor.cli.checks.settings import check_settings
from kontor.domain.errors import InvalidError
from kontor.domain.secrets import Secret
from kontor.services.identity import NewUser
from kontor.services.security import BreachedPasswords, BreachFileError

BREACHED, OTHER = "correct horse battery staple", "another passphrase of some length"


def hash_password(password):
    return hashlib.sha1(password.encode()).hexdigest().upper()


def write_list(file, passwords, suffix=":3", end="\r\n"):
    file.write_bytes("".join(f"{text}{suffix}{end}" for text in sorted(map(hash_password, passwords))).encode())
    return file


@pytest.fixture
def listed(tmp_path):
    return write_list(tmp_path / "breached", [BREACHED, *(f"password {number}" for number in range(500))])


@given(
    passwords=st.sets(st.text(st.characters(codec="utf-8"), max_size=5), min_size=1, max_size=30),
    others=st.sets(st.text(st.characters(codec="utf-8"), max_size=5), max_size=10),
    suffix=st.sampled_from(["", ":1", ":123456789"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_exactly_the_listed_passwords_are_found(tmp_path_factory, passwords, others, suffix, end):
    found = BreachedPasswords(write_list(tmp_path_factory.mktemp("list") / "breached", passwords, suffix, end))
    found.check()
    assert [text for text in passwords if not found.contains(text)] == []
    assert [text for text in others - passwords if found.contains(text)] == []


def test_a_list_in_small_letters_and_without_a_last_line_break_is_read(tmp_path):
    file = tmp_path / "breached"
    file.write_text("\n".join(sorted(hash_password(text).lower() for text in ("a", "b", "c"))))
    found = BreachedPasswords(file)
    found.check()
    assert [found.contains(text) for text in "abcd"] == [True, True, True, False]


@pytest.mark.parametrize("content", [b"", b"\n", b"password\n", b"F" * 40 + b"\n" + b"0" * 40, b"0" * 40 + b"\nend\n"])
def test_what_is_no_sorted_list_is_a_problem_of_the_settings(settings, tmp_path, content):
    file = tmp_path / "breached"
    file.write_bytes(content)
    with pytest.raises(BreachFileError):
        BreachedPasswords(file).check()
    findings = check_settings(replace(settings, breached_passwords=file))
    assert ("KONTOR_BREACHED_PASSWORDS", State.PROBLEM) in [(finding.subject, finding.state) for finding in findings]


async def test_a_listed_password_is_refused_for_new_and_reactivated_users_and_at_a_change(settings, tenant, listed):
    async with open_services(replace(settings, breached_passwords=listed), "tests") as services:
        with pytest.raises(InvalidError, match=r"^password: is in a list of breached passwords$"):
            await services.users.create_user_by_operator(tenant.name, NewUser(uuid4().hex, Secret(BREACHED)))
        admin = await services.tokens.authenticate(tenant.client_token())
        user = await services.users.create_user_by_operator(tenant.name, NewUser(uuid4().hex, Secret(OTHER)))
        await services.users.deactivate_user(admin, user)
        with pytest.raises(InvalidError, match=r"^password: is in a list"):
            await services.users.reactivate_user(admin, user, NewUser(user.username, Secret(BREACHED)))
        principal = await services.tokens.authenticate(tenant.user_token())
        with pytest.raises(InvalidError, match=r"^newPassword: is in a list"):
            await services.own_logins.change_password(principal, Secret(tenant.password), Secret(BREACHED))


async def test_without_a_list_nothing_is_looked_up(services, tenant):
    await services.users.create_user_by_operator(tenant.name, NewUser(uuid4().hex, Secret(BREACHED)))
