"""`kontor check`: each thing that would fail later is named now; `serve` and `worker` refuse what cannot work."""

import json
import socket
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

from kontor.cli.checks import check_certificates, check_database, check_machine, check_networks, check_settings
from kontor.cli.checks.findings import Finding, State
from kontor.config import Settings, export_settings, read_settings
from kontor.domain.secrets import Secret
from process_tree import KONTOR, clean_environment
from processes import free_port, run_kontor

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)


def write_certificate(folder: Path, name: str, *, days: int = 365, password: bytes | None = None) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - timedelta(days=500))
        .not_valid_after(NOW + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = folder / f"{name}.pem", folder / f"{name}.key"
    files[0].write_bytes(certificate.public_bytes(Encoding.PEM))
    locked = NoEncryption() if password is None else BestAvailableEncryption(password)
    files[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked))
    return files


def check_pair(certificate: Path | None, key: Path | None) -> list[Finding]:
    return list(check_certificates(read_settings({}, xs2a_certificate=certificate, xs2a_key=key), NOW))


def only_problem(found: list[Finding]) -> Finding:
    problems = [finding for finding in found if finding.state is State.PROBLEM]
    assert len(problems) == 1, found
    return problems[0]


def test_a_certificate_with_its_key_is_ok_and_one_that_expires_soon_is_a_warning(tmp_path):
    assert [finding.state for finding in check_pair(*write_certificate(tmp_path, "good"))] == [State.OK]
    [soon] = check_pair(*write_certificate(tmp_path, "soon", days=29))
    assert (soon.state, "2026-12-17" in soon.text) == (State.WARNING, True)


def test_each_way_in_which_certificate_and_key_cannot_work_is_told_apart(tmp_path):
    good, other = write_certificate(tmp_path, "good"), write_certificate(tmp_path, "other")
    garbage = tmp_path / "garbage.pem"
    garbage.write_text("not a certificate")
    locked = write_certificate(tmp_path, "locked", password=b"secret")
    cases = {
        (good[0], None): "is not set, but KONTOR_XS2A_CERTIFICATE is",
        (None, good[1]): "is not set, but KONTOR_XS2A_KEY is",
        (good[0], other[1]): "is not the key of the certificate",
        (good[0], tmp_path / "nowhere"): "cannot be read: No such file",
        (garbage, good[1]): "is not a certificate in PEM form",
        (good[0], garbage): "is not a private key in PEM form",
        locked: "is encrypted with a password",
        write_certificate(tmp_path, "old", days=-1): "has expired on 2026-11-17",
    }
    for files, said in cases.items():
        assert said in only_problem(check_pair(*files)).text, said


def test_a_seal_needs_an_rsa_key(tmp_path):
    certificate, key = write_certificate(tmp_path, "seal")
    settings = read_settings({}, xs2a_seal_certificate=certificate, xs2a_seal_key=key)
    assert "is not an RSA key" in only_problem(list(check_certificates(settings, NOW))).text


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_serve_and_worker_refuse_misspelt_settings_and_name_the_right_one(settings, command):
    given = export_settings(settings) | {"KONTOR_POOLSIZE": "3", "KONTOR_LOG_LEVEL_FILE": "/run/level"}
    done = subprocess.run(
        [*KONTOR, command], env=clean_environment(**given), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "KONTOR_POOLSIZE is not a setting of Kontor; KONTOR_POOL_SIZE is." in done.stderr
    assert "set KONTOR_LOG_LEVEL." in done.stderr


def test_other_commands_warn_of_misspelt_settings_and_go_on():
    given = clean_environment(KONTOR_POOLSIZE="3", KONTOR_TEST_ANYTHING="1", KONTOR_CLIENT="acme/app")
    done = subprocess.run([*KONTOR, "settings"], env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == "Warning: KONTOR_POOLSIZE is not a setting of Kontor; KONTOR_POOL_SIZE is.\n"


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_serve_and_worker_refuse_files_that_cannot_work(settings, tmp_path, command):
    certificate, _ = write_certificate(tmp_path, "good")
    nowhere = tmp_path / "nowhere"
    unusable = replace(settings, xs2a_certificate=certificate, statements=nowhere, breached_passwords=nowhere)
    refused = run_kontor(unusable, command, code=1).stderr
    assert "KONTOR_XS2A_KEY: is not set" in refused
    assert "KONTOR_STATEMENTS: " in refused
    assert "KONTOR_BREACHED_PASSWORDS: " in refused


def test_a_complete_installation_has_no_problem(settings):
    done = run_kontor(settings, "check", "--json")
    found = {row["subject"]: row["state"] for row in json.loads(done.stdout)}
    parts = ("database", "clock", "database role", "schema", "start", "master key", "open files")
    assert {name: found[name] for name in parts} == dict.fromkeys(parts, "ok")
    assert "problem" not in found.values()


def test_check_reports_a_problem_by_its_exit_code_and_prints_no_secret(settings):
    address = Secret(f"postgresql://kontor:geheim-77@127.0.0.1:{free_port()}/kontor")
    done = run_kontor(replace(settings, database_url=address, is_embedded=False, master_key=None), "check", code=1)
    assert "cannot be used" in done.stdout
    assert "KONTOR_MASTER_KEY" in done.stdout
    assert "geheim-77" not in done.stdout + done.stderr


def test_check_makes_no_embedded_database(tmp_path):
    folder = tmp_path / "data"
    given = clean_environment(KONTOR_DATA=str(folder))
    done = subprocess.run([*KONTOR, "check"], env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert not folder.exists()


def test_the_owner_as_the_application_s_role_is_a_warning(settings):
    found = check_database(replace(settings, database_url=settings.migration_database_url))
    assert {finding.subject: finding.state for finding in found}["database role"] is State.WARNING


def test_a_database_that_is_not_migrated_is_a_problem_with_its_remedy(settings):
    with psycopg.connect(settings.migration_database_url.reveal(), autocommit=True) as owner:
        owner.execute("create database kontor_check_empty")
        try:
            empty = make_address(settings, "kontor_check_empty")
            assert (
                "Run `kontor migrate`" in only_problem(list(check_database(replace(settings, database_url=empty)))).text
            )
        finally:
            owner.execute("drop database kontor_check_empty")


def make_address(settings: Settings, name: str) -> Secret:
    parts = psycopg.conninfo.conninfo_to_dict(settings.migration_database_url.reveal())
    return Secret(psycopg.conninfo.make_conninfo(**parts | {"dbname": name}))


@pytest.fixture
def bank_address(tmp_path) -> Iterator[tuple[str, Path]]:
    """A TLS server that nobody trusts unless told to."""
    certificate, key = write_certificate(tmp_path, "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        while True:
            try:
                plain, _ = listener.accept()
            except OSError:
                return
            try:
                context.wrap_socket(plain, server_side=True).close()
            except OSError:
                plain.close()

    Thread(target=answer, daemon=True).start()
    yield f"https://localhost:{listener.getsockname()[1]}/fints", certificate
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def test_bank_addresses_are_tried_and_each_failure_has_its_reason(tmp_path, bank_address):
    address, certificate = bank_address
    banks = tmp_path / "banks.toml"
    closed = f"https://localhost:{free_port()}/fints"
    banks.write_text(
        f'[[bank]]\ncode = "99999991"\nname = "A"\nfints = "{address}"\n'
        f'[[bank]]\ncode = "99999992"\nname = "B"\nfints = "{closed}"\n'
        '[[bank]]\ncode = "99999993"\nname = "C"\nfints = "https://bank.invalid/fints"\n'
    )
    settings = read_settings({}, banks=banks, fints_product_id="X")
    texts = {finding.text.split(": ")[0]: finding.text for finding in check_networks(settings, all_banks=False)}
    assert "certificate is not trusted" in texts[address]
    assert "nothing answers" in texts[closed]
    assert "is not known here" in texts["https://bank.invalid/fints"]
    trusting = replace(settings, bank_authorities=certificate)
    assert "1 of 3 are reached." in [finding.text for finding in check_networks(trusting, all_banks=False)]


def test_unsafe_settings_of_production_are_warnings():
    settings = read_settings({}, base_url="http://kontor.example", allow_loopback=True, demo_bank=True)
    found = {finding.subject for finding in check_settings(settings) if finding.state is State.WARNING}
    assert found == {"KONTOR_BASE_URL", "KONTOR_DEMO_BANK", "KONTOR_ALLOW_LOOPBACK", "KONTOR_METRICS_TOKEN"}


def test_bank_profiles_that_cannot_be_understood_are_a_problem(tmp_path):
    banks = tmp_path / "banks.toml"
    banks.write_text(
        '[[bank]]\ncode = "99999991"\n[bank.xs2a]\nbase_url = "https://a.example"\nconsent_days = "soon"\n'
    )
    found = only_problem(list(check_settings(read_settings({}, banks=banks))))
    assert (found.subject, "consent_days" in found.text) == ("KONTOR_BANKS", True)


def test_a_full_disk_is_a_problem(monkeypatch, tmp_path):
    usage = type("Usage", (), {"free": 100_000_000})
    monkeypatch.setattr("shutil.disk_usage", lambda place: usage)
    found = list(check_machine(read_settings({}, data=tmp_path / "not yet there")))
    assert [finding.state for finding in found if "disk" in finding.subject] == [State.PROBLEM] * 2
