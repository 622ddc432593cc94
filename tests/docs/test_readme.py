"""What the README shows of a first request stands word for word in the quick start, which a test of its own runs."""

from guide_code import Guide, join, keep_input

QUICKSTART = Guide("guides/quickstart.md")
SHORTENED = " | grep -i -e HTTP -e location"  # of the answer's headers


def find_session():
    [session] = [block for block in Guide("../README.md").list_blocks("console") if "$base" in block]
    return session


def squeeze(text):
    return " ".join(text.replace("\\\n", " ").split())


def test_the_first_request_of_the_readme_is_that_of_the_quick_start():
    shown = squeeze("\n".join(QUICKSTART.list_blocks("sh")))
    commands = join(keep_input(find_session()))
    assert len(commands) == 2
    assert [command for command in commands if squeeze(command).removesuffix(SHORTENED) not in shown] == []


def test_the_products_that_the_readme_shows_are_those_of_the_quick_start():
    lines = find_session().partition("show_products\n")[2].splitlines()
    assert len(lines) == 10
    assert [line for line in lines if line not in "\n".join(QUICKSTART.list_blocks())] == []
