"""What the source never does, because it is hard to do safely. Checked on syntax trees, templates and scripts."""

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src"
FILES = sorted(ROOT.rglob("*.py"))
PAGES = [file for file in ROOT.rglob("*.html") if file.parent.parent.name in ("api", "console", "webform")]
SCRIPTS = [file for file in ROOT.rglob("*.js") if file.name != "chart.js"]  # ours

# Signatures by RSA PKCS #1 v1.5, which the interfaces prescribe. Nothing is encrypted with it.
RSA_SIGNATURES = {
    "kontor/connectors/enablebanking/tokens.py",
    "kontor/connectors/xs2a/signatures.py",
    "kontor/demobank/enablebanking/applications.py",
}
KEPT = {"flicker.js": ['"kontor-flicker-" + name, value'], "form.js": ['key, "sent"']}
# Jitter, and people who do not exist. Everything that must not be guessed comes from `secrets` and the like.
CHANCE = {
    "kontor/analysis/scoring/calibration.py",
    "kontor/cli/layout_rows.py",
    "kontor/connectors/demo/people/purchases.py",
    "kontor/connectors/demo/people/streams.py",
    "kontor/demobank/faults/injection.py",
    "kontor/demobank/faults/plans.py",
    "kontor/jobs/tasks.py",
    "kontor/jobs/worker.py",
    "kontor/services/alerts/pushes.py",
    "kontor/services/webhooks/deliveries.py",
    "kontor/storage/migrate.py",
    "kontor/storage/retries.py",
    "kontor_client/retries.py",
}
# Provider ids are UUIDs of version 5; credentials of older client libraries come under OAEP with SHA-1;
# lists of breached passwords are of SHA-1.
OLD_HASHES = {
    "kontor/connectors/catalogue/providers.py",
    "kontor/services/security/encryption.py",
    "kontor/services/security/breaches.py",
}
# These read XML of strangers: statements, drawings of logos, orders to the demo bank. The others write it.
XML_READERS = {
    "kontor/connectors/statements/xml_trees.py",
    "kontor/connectors/catalogue/svg.py",
    "kontor/demobank/fints/credit_transfers.py",
}
XML = {
    *XML_READERS,
    "kontor/connectors/pain001.py",
    "kontor/connectors/pain008.py",
    "kontor/connectors/pain_messages.py",
}


def calls(nodes: list[ast.AST]) -> list[ast.Call]:
    return [node for node in nodes if isinstance(node, ast.Call)]


def modules(nodes: list[ast.AST]) -> set[str]:
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module != "xml.sax.saxutils":  # it only escapes
            found |= {node.module.partition(".")[0]}
    return found


def find_faults(source: str, name: str) -> list[str]:
    nodes = list(ast.walk(ast.parse(source)))
    faults = []
    for call in calls(nodes):
        function = call.func.id if isinstance(call.func, ast.Name) else ""
        if function in ("eval", "exec", "compile", "__import__"):
            faults.append(f"{function} runs text")
        for option in call.keywords:
            value = option.value.value if isinstance(option.value, ast.Constant) else None
            if (option.arg, value) in (("shell", True), ("verify", False), ("check_hostname", False)):
                faults.append(f"{option.arg}={value}")
            if (option.arg, value) in (("follow_redirects", True), ("autoescape", False)):
                faults.append(f"{option.arg}={value}")
    used = modules(nodes)
    faults += [
        f"{module} reads objects of any type" for module in ("pickle", "marshal", "shelve", "yaml") if module in used
    ]
    if "random" in used and name not in CHANCE:
        faults.append("random can be guessed")
    if used & {"lxml", "xml"} and name not in XML:
        faults.append("XML is read in one module")
    if re.search(r"\b(md5|sha1|SHA1|MD5)\b", source) and name not in OLD_HASHES:
        faults.append("a hash that is broken")
    if re.search(r"\b(modes\.ECB|PKCS1v15|CERT_NONE)\b|_create_unverified", source) and name not in RSA_SIGNATURES:
        faults.append("a mode that is broken")
    return faults


def find_in_each(files: list[Path], find: Callable[[str, str], list[str]]) -> dict[str, list[str]]:
    """What is found in each file by its text and name, where something is."""
    names = {str(file.relative_to(ROOT)): file for file in files}
    found = {name: find(file.read_text(encoding="utf-8"), name) for name, file in names.items()}
    return {name: faults for name, faults in found.items() if faults}


def test_no_module_does_what_is_hard_to_do_safely():
    assert find_in_each(FILES, find_faults) == {}


@pytest.mark.parametrize(
    "source",
    [
        "eval(text)",
        "exec(text)",
        "subprocess.run(text, shell=True)",
        "httpx.Client(verify=False)",
        "httpx.get(url, follow_redirects=True)",
        "Environment(autoescape=False)",
        "import pickle",
        "from random import choice",
        "from lxml import etree",
        "hashlib.md5(data)",
        "modes.ECB()",
        "context.verify_mode = ssl.CERT_NONE",
    ],
)
def test_the_rule_finds_what_it_should(source):
    assert len(find_faults(source, "new.py")) == 1


def test_foreign_xml_is_read_by_three_modules_and_they_resolve_nothing():
    for name in XML:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert bool(re.search(r"XMLParser|ParserCreate|fromstring|etree\.parse", text)) is (name in XML_READERS)
        assert text.count("ExternalEntityRefHandler") == text.count("ExternalEntityRefHandler = lambda *_: _refuse(")
        assert text.count("XMLParser(") == text.count("resolve_entities=False") == text.count("no_network=True")


def test_no_template_switches_escaping_off():
    forbidden = r"\|\s*safe\b|autoescape false|<script>|\son\w+=|javascript:"
    assert find_in_each(PAGES, lambda text, _: re.findall(forbidden, text)) == {}


def test_no_script_writes_markup_or_runs_text():
    forbidden = r"(inner|outer)HTML|insertAdjacentHTML|document\.write|\beval\(|new Function|postMessage\([^)]*\"\*\""
    assert find_in_each(SCRIPTS, lambda text, _: re.findall(forbidden, text)) == {}


def test_no_script_keeps_data_of_the_user():
    """The web form keeps that it has sent the user to the bank, and how wide and fast a flicker code is drawn."""
    kept = {script.name: re.findall(r"setItem\((.*?)\);?", script.read_text(encoding="utf-8")) for script in SCRIPTS}
    assert {name: values for name, values in kept.items() if values} == KEPT
    storing = [script for script in SCRIPTS if re.search(r"indexedDB|document\.cookie|caches\.", script.read_text())]
    assert [script.name for script in storing] == ["service-worker.js"]
    worker = storing[0].read_text(encoding="utf-8")
    assert "cache.addAll(FACTS.kept)" in worker, "the offline page with its style sheet and icon"
    assert not re.search(r"\.put\(|\.add\(|indexedDB|document\.cookie", worker), "no answer of the API"


def test_fields_for_passwords_are_masked_and_can_be_pasted_into():
    sign_in = (ROOT / "kontor/console/templates/sign_in.html").read_text(encoding="utf-8")
    assert 'type="password" autocomplete="current-password"' in sign_in
    credentials = (ROOT / "kontor/webform/templates/credentials.html").read_text(encoding="utf-8")
    assert "type=\"{{ 'password' if field.is_secret else 'text' }}\"" in credentials
    for script in SCRIPTS:
        assert not re.search(r"[\"'](paste|copy|contextmenu)[\"']", script.read_text(encoding="utf-8"))


def test_there_are_pages_and_scripts_to_look_at():
    assert len(PAGES) > 30
    assert len(SCRIPTS) > 5
