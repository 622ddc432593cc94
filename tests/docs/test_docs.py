"""The documentation is true where a machine can tell: links, commands, settings, codes, logins, tests."""

import re
from importlib import import_module
from pathlib import Path

from cyclopts import App

from for_each import for_each
from kontor.cli.commands import COMMANDS
from kontor.config import describe_settings
from kontor.connectors.demo.people import PERSONAS, TEST_LOGINS
from kontor.connectors.demo.scenarios import SCENARIOS
from kontor.connectors.statements.csv_profiles import load_profiles
from kontor.connectors.statements.pdf_profiles import load_pdf_profiles
from kontor.demobank.faults import Fault
from kontor.wire.messages import TEXTS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FORBIDDEN = re.compile(
    r"/work\b|/root\b|/home/\w|/shared/|\bregistry\.|\bpypi\.|pythonhosted|npmjs|\bnexus\b|artifactory|index-url",
    re.IGNORECASE,
)

every_page = for_each("page", PAGES, lambda page: str(page.relative_to(ROOT)))


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def find_code(text: str) -> list[str]:
    """Shell blocks, and code within lines."""
    blocks = [body for language, body in FENCE.findall(text) if language in ("sh", "console")]
    return blocks + re.findall(r"`([^`\n]+)`", FENCE.sub("", text))


def find_anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_page
def test_every_link_leads_somewhere(page):
    text = page.read_text(encoding="utf-8")
    broken = []
    for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", FENCE.sub("", text)):
        if target.startswith(("https://", "http://")):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists() or (anchor and anchor not in find_anchors(file.read_text(encoding="utf-8"))):
            broken.append(target)
    assert broken == []


@every_page
def test_nothing_speaks_of_somebodys_machine(page):
    assert FORBIDDEN.findall(page.read_text(encoding="utf-8")) == []


@every_page
def test_every_dev_command_exists(page):
    known = set(re.findall(r"^  (\w+)\)$", read("dev"), re.MULTILINE))
    named = {name for code in find_code(page.read_text(encoding="utf-8")) for name in re.findall(r"\./dev (\w+)", code)}
    assert known >= {"demo", "test", "check"}
    assert named - known == set()


@every_page
def test_every_kontor_command_exists(page):
    code = "\n".join(find_code(page.read_text(encoding="utf-8")))
    named = re.findall(r"(?:^|[ (])kontor ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?", code, re.MULTILINE)
    unknown = [f"{command} {sub}" for command, sub in named if not is_command(command, sub)]
    assert unknown == []


def is_command(command: str, sub: str) -> bool:
    if command not in COMMANDS:
        return False
    module, _, name = COMMANDS[command][0].partition(":")
    target = getattr(import_module(module), name)
    return not isinstance(target, App) or not sub or sub in set(target)


def test_settings_page_is_up_to_date():
    """On failure: put the lines that are missing into the page."""
    rows = [
        f"| `{name}` | {f'`{default}`' if default else ''} | {text} |" for name, default, text in describe_settings()
    ]
    shown = [line for line in read("docs/operating/settings.md").splitlines() if line.startswith("| `")]
    assert shown == rows


def test_every_message_code_is_explained():
    rows = re.findall(r"^\| `(BA\d+)` \| (\w+) \| .*? \| (yes|no) \|", read("docs/api-errors.md"), re.MULTILINE)
    expected = [(code, level, "yes" if kind.is_for_the_user else "no") for kind, (level, code, _) in TEXTS.items()]
    assert sorted(rows) == sorted(expected)


def test_every_fault_of_the_demo_bank_is_listed():
    page = read("docs/guides/demo-bank.md")
    assert [fault for fault in Fault if f"| `{fault}` | {fault.description} |" not in page] == []


def test_every_login_of_the_demo_bank_is_listed():
    page = read("docs/guides/demo-bank.md").partition("## On the wire")[0]
    listed = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE))))
    assert listed == {*PERSONAS, *TEST_LOGINS, *SCENARIOS, "leer"}


def test_threat_model_has_every_row_and_names_tests_that_exist():
    rows = re.findall(r"^\| (T\d+) \|.*\| ([^|]+) \|$", read("docs/security/threat-model.md"), re.MULTILINE)
    assert len(rows) >= 33
    assert [number for number, _ in rows] == [f"T{number}" for number in range(1, len(rows) + 1)]
    named = {name for _, proof in rows for name in re.findall(r"`([^`]+)`", proof)}
    assert [name for name in sorted(named) if not (ROOT / "tests" / name).exists()] == []
    assert [number for number, proof in rows if not re.search("`|later|no test yet", proof)] == []


def test_decisions_are_numbered_and_listed():
    files = sorted(file.name for file in (DOCS / "decisions").glob("0*.md"))
    assert [name[:4] for name in files] == [f"{number:04}" for number in range(1, len(files) + 1)]
    assert re.findall(r"\((0.*?\.md)\)", read("docs/decisions/README.md")) == files


def test_every_layout_of_files_is_named_in_the_guide():
    guide = " ".join(read("docs/guides/real-banks.md").split())
    assert [profile.name for profile in (*load_profiles(), *load_pdf_profiles()) if profile.name not in guide] == []


def test_each_test_that_a_page_about_findings_names_exists():
    named = set(re.findall(r"`(test_\w+)`", (DOCS / "guides/console-findings.md").read_text(encoding="utf-8")))
    source = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) > 40
    assert named - set(re.findall(r"^(?:async )?def (test_\w+)", source, re.MULTILINE)) == set()
