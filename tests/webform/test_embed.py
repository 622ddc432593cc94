"""The embeddable component: the checks that keep messages between the form and listed pages."""

from kontor.webform.rendering import load_assets

EMBED = load_assets().read("embed.js").decode()
FORM = load_assets().read("form.js").decode()


def test_the_component_believes_only_its_own_window_at_its_own_origin():
    assert "event.origin !== address.origin || event.source !== opened.window()" in EMBED


def test_the_form_never_speaks_to_everybody():
    assert 'postMessage(message, "*")' not in FORM
    assert FORM.count("postMessage(") == 2
    assert "postMessage(message, origin)" in FORM
    assert "}, location.origin);" in FORM


def test_the_component_leaves_one_name_behind():
    assert EMBED.count("window.Kontor = Object.freeze({ open })") == 1


def test_both_modes_and_the_event_are_there():
    for word in ('"frame"', '"popup"', '"kontor:outcome"', "onOutcome"):
        assert word in EMBED
