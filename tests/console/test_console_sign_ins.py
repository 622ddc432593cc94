"""The page of sign-ins: which assistants may read, where the user is signed in, and how both end."""

from uuid import uuid4

import pytest
from lxml import html

from assistants.granting import BACK, Assistant
from banking import new_customer
from console_site import password_of, read_token

PAGE = "/console/sign-ins"


@pytest.fixture
async def assistant(standing_services, console_site):
    name = f"helper-{uuid4().hex[:8]}"
    administration = standing_services.tenant_administration
    made = await administration.create_assistant(console_site.regulated.name, name, [BACK])
    return Assistant(made.username, new_customer(console_site.regulated), console_site.address)


@pytest.fixture
def visitor(console_site, assistant):
    with console_site.visit(assistant.customer) as client:
        yield client


def list_shown(page, section):
    """The checkboxes of a section with their names."""
    tree = html.fromstring(page.text)
    return {
        box.get("value"): tree.find(f".//label[@for='{box.get('id')}']").text
        for box in tree.iterfind(f".//section[@id='{section}']//input[@type='checkbox']")
    }


def end(client, ids, password):
    page = client.get(PAGE)
    form = {"token": read_token(page.text), "action": "end", "id": ids, "password": password}
    return client.post(PAGE, data=form)


def test_an_assistant_is_shown_with_what_it_may_and_ends_with_the_password(assistant, visitor):
    tokens = assistant.get_tokens(tags=True)
    page = visitor.get(PAGE)
    [(grant, name)] = list_shown(page, "assistants").items()
    assert name == assistant.client_id.partition("/")[2]
    assert "Darf Ihre Daten lesen und Kategorien ändern." in page.text
    ended = end(visitor, [grant], password_of(assistant.customer))
    assert (ended.status_code, ended.headers["location"]) == (303, f"{PAGE}?notice=sign_ins_ended")
    assert not assistant.can_read(tokens)
    assert assistant.refresh(tokens["refresh_token"]).status_code == 400
    assert list_shown(visitor.get(PAGE), "assistants") == {}


def test_nothing_ends_without_a_choice_or_with_a_wrong_password_which_no_page_repeats(assistant, visitor):
    tokens = assistant.get_tokens()
    [grant] = list_shown(visitor.get(PAGE), "assistants")
    nothing = end(visitor, [], password_of(assistant.customer))
    assert (nothing.status_code, "mindestens einen Eintrag" in nothing.text) == (422, True)
    wrong = end(visitor, [grant], "a wrong password of mine")
    assert (wrong.status_code, "Das Passwort ist falsch." in wrong.text) == (422, True)
    assert "a wrong password of mine" not in wrong.text
    assert f'id="token-{grant}"' in wrong.text
    assert html.fromstring(wrong.text).find(f".//input[@id='token-{grant}']").get("checked") is not None
    assert assistant.can_read(tokens)


def test_another_sign_in_ends_and_the_own_one_is_not_offered(console_site, assistant, visitor):
    with console_site.visit(assistant.customer) as other:
        shown = list_shown(visitor.get(PAGE), "others")
        assert visitor.get(PAGE).text.count("diese Anmeldung<") == 1
        end(visitor, list(shown), password_of(assistant.customer))
        assert visitor.get(PAGE).status_code == 200
        assert other.get(PAGE).headers["location"].startswith("/console/sign-in?next=")
