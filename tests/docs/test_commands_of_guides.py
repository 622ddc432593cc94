"""Every command that a guide shows is run by a test that reads it from the guide, or is listed here with the reason.

`RUN_BY` names those tests by page. `NOT_RUN` names the blocks that no test runs, by their first words.
"""

import re
from pathlib import Path

from guide_code import DOCS, Guide

TESTS = Path(__file__).parents[1]
LANGUAGES = ("sh", "console", "python", "sql")
PAGES = ["../README.md", "../client/README.md", "releasing.md"]
PAGES += sorted(f"guides/{file.name}" for file in (DOCS / "guides").glob("*.md"))

RUN_BY = {
    "../README.md": ["docs/test_file_guide.py", "docs/test_readme.py"],
    "../client/README.md": ["client/test_client_guide.py"],
    "guides/actual.md": ["syncs/test_actual_peer.py"],
    "guides/analyse-a-file.md": ["docs/test_file_guide.py"],
    "guides/analyses.md": ["docs/test_analyses_guide.py"],
    "guides/assistants.md": ["assistants/test_assistants_guide.py", "assistants/test_recorded_conversation.py"],
    "guides/clients.md": ["client/test_client_guide.py"],
    "guides/credit-files.md": ["docs/test_credit_file_guide.py"],
    "guides/enable-banking.md": ["docs/test_enable_banking_guide.py"],
    "guides/exports.md": ["exports/test_export_commands.py"],
    "guides/firefly.md": ["syncs/test_firefly_guide.py"],
    "guides/library.md": ["analysis/test_library.py", "analysis/test_library_install.py"],
    "guides/own-model.md": ["docs/test_own_model_guide.py"],
    "guides/parquet.md": ["exports/test_parquet_export.py"],
    "guides/payees.md": ["docs/test_payee_guide.py"],
    "guides/quickstart.md": ["docs/test_quickstart.py"],
    "guides/real-banks.md": ["imports/test_import_command.py"],
    "guides/webhooks.md": ["docs/test_webhook_guide.py"],
    "guides/write-a-connector.md": ["docs/test_connector_guide.py"],
    "releasing.md": ["cli/test_release.py"],
}

NEEDS_A_BANK = "needs a product id or a customer's login at a real bank"
OTHER_MACHINE = "changes something on other machines: registries and repositories"
NEEDS_NETWORK = (
    "downloads a program of others; tests/spec/test_generated_clients.py runs them, installed by ./dev test peers"
)
THE_SUITE = "would run this suite within itself"
NOT_RUN = {
    ("../README.md", "./dev demo"): "tests/docs/test_quickstart.py starts the demo",
    ("../README.md", "./dev test"): THE_SUITE,
    (
        "guides/bank-profiles.md",
        "kontor bank",
    ): "tests/cli/test_cli_banks.py runs these commands with profiles of its own",
    (
        "guides/clients.md",
        "python3 -m pip install",
    ): "downloads packages; the wheel is installed by tests/cli/test_release.py",
    ("guides/clients.md", "./dev demo"): "tests/client/test_examples.py runs the program beside a demo",
    ("guides/clients.md", "npx openapi-typescript"): NEEDS_NETWORK,
    ("guides/clients.md", "openapi-python-client"): NEEDS_NETWORK,
    (
        "guides/console.md",
        "kontor client create",
    ): "an operator's setup; the console of the tests has the same by settings",
    ("guides/console.md", "kontor role create"): "an operator's setup; tests/tenants.py makes the same role",
    ("guides/demo-bank.md", "kontor demobank"): "tests/demobank/test_demobank_command.py starts it with these options",
    ("guides/demo-bank.md", "aqhbci-tool4"): "tests/demobank/fints/peers runs AqBanking against it",
    ("guides/demo-bank.md", "from fints.client"): "tests/demobank/fints/peers runs python-fints against it",
    ("guides/demo-bank.md", "message="): "tests/demobank/test_demobank_command.py sends this message by another client",
    (
        "guides/demo-bank.md",
        "python -c",
    ): "counts bookings of a made-up person; tests/connectors/demo tests the function",
    ("guides/real-banks.md", "export KONTOR_FINTS_PRODUCT_ID"): NEEDS_A_BANK,
    ("guides/teach-a-merchant.md", "./dev"): THE_SUITE,
    ("guides/traces.md", "kontor trace"): NEEDS_A_BANK,
    ("guides/xs2a.md", "kontor demobank"): "tests/demobank/test_demobank_command.py starts it with this option",
    ("releasing.md", "git push"): OTHER_MACHINE,
}


def list_blocks(page: str) -> list[str]:
    return [block for language in LANGUAGES for block in Guide(page).list_blocks(language)]


def find_reason(page: str, block: str) -> str | None:
    first = block.removeprefix("$ ")
    reasons = (reason for (named, start), reason in NOT_RUN.items() if named == page and first.startswith(start))
    return next(reasons, None)


def test_every_page_with_commands_has_tests_that_read_it_or_a_reason_for_each_block():
    unknown = [
        (page, block.splitlines()[0])
        for page in PAGES
        for block in list_blocks(page)
        if page not in RUN_BY and find_reason(page, block) is None
    ]
    assert unknown == []


def test_each_test_of_the_list_reads_its_page():
    silent = []
    for page, tests in RUN_BY.items():
        assert page in PAGES, page
        for test in tests:
            source = (TESTS / test).read_text(encoding="utf-8")
            if Path(page).name not in source:
                silent.append((page, test))
    assert silent == []


def test_each_reason_is_about_a_block_that_there_is_and_tests_that_there_are():
    idle = [
        (page, start)
        for page, start in NOT_RUN
        if not any(block.removeprefix("$ ").startswith(start) for block in list_blocks(page))
    ]
    assert idle == []
    named = set(re.findall(r"tests/([\w/]+(?:\.py)?)", " ".join(NOT_RUN.values())))
    assert [name for name in sorted(named) if not (TESTS / name).exists()] == []
