"""Settings and the files that they name. `serve` and `worker` refuse the same problems."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from kontor.cli.checks.certificates import check_certificates
from kontor.cli.checks.enable_banking import check_enable_banking
from kontor.cli.checks.findings import Finding, State, ok, problem, warning
from kontor.config import SettingError, Settings, find_unknown_variables
from kontor.connectors.profiles import ProfileError

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def check_settings(settings: Settings) -> Iterator[Finding]:
    yield from (problem("settings", text) for text in find_unknown_variables())
    yield _check_base_url(settings)
    if settings.demo_bank and not settings.demo:
        yield warning("KONTOR_DEMO_BANK", "The demo bank is offered to customers. Remove this setting in production.")
    if settings.allow_loopback and not settings.demo:
        yield warning("KONTOR_ALLOW_LOOPBACK", "Webhooks may call this machine itself. Only for local trials.")
    if settings.metrics_token is None:
        yield warning("KONTOR_METRICS_TOKEN", "/metrics answers everybody. Set a token, or close it at the proxy.")
    yield from _check_files(settings)


def refuse_unusable_files(settings: Settings) -> None:
    """Raises SettingError for files that cannot work: the first customer would meet them otherwise."""
    found = [*_check_files(settings), *check_certificates(settings, datetime.now(UTC))]
    if problems := [f"{finding.subject}: {finding.text}" for finding in found if finding.state is State.PROBLEM]:
        raise SettingError(" ".join(problems))


def _check_base_url(settings: Settings) -> Finding:
    address = urlsplit(settings.base_url)
    if address.scheme == "http" and address.hostname not in LOOPBACK:
        return warning("KONTOR_BASE_URL", f"{settings.base_url} is not encrypted. Callers need https.")
    return ok("KONTOR_BASE_URL", f"Callers reach Kontor at {settings.base_url}.")


def _check_files(settings: Settings) -> Iterator[Finding]:
    yield from check_enable_banking(settings)
    if settings.banks is not None:
        yield _check_banks(settings)
    if settings.breached_passwords is not None:
        yield _check_breaches(settings.breached_passwords)
    if settings.statements is not None:
        if settings.statements.is_dir() and os.access(settings.statements, os.R_OK | os.X_OK):
            yield ok("KONTOR_STATEMENTS", f"{settings.statements} is readable.")
        else:
            yield problem("KONTOR_STATEMENTS", f"{settings.statements} is not a readable folder.")


def _check_breaches(file: Path) -> Finding:
    from kontor.services.security import BreachedPasswords, BreachFileError

    try:
        BreachedPasswords(file).check()
    except BreachFileError as error:
        return problem("KONTOR_BREACHED_PASSWORDS", str(error))
    except OSError as error:
        return problem("KONTOR_BREACHED_PASSWORDS", f"{file} cannot be read: {error.strerror}.")
    return ok("KONTOR_BREACHED_PASSWORDS", f"{file} is a sorted list of hashes.")


def _check_banks(settings: Settings) -> Finding:
    from kontor.connectors.profile_checks import load_bank_profiles

    try:
        profiles = load_bank_profiles(settings.banks)
    except ProfileError as error:
        return problem("KONTOR_BANKS", str(error).removeprefix("KONTOR_BANKS: "))
    except OSError as error:
        return problem("KONTOR_BANKS", f"{settings.banks} cannot be read: {error.strerror}.")
    xs2a = [bank for bank in profiles.banks.values() if bank.xs2a]
    if xs2a and settings.xs2a_certificate is None:
        return warning("KONTOR_BANKS", f"{len(xs2a)} XS2A banks, but KONTOR_XS2A_CERTIFICATE is not set.")
    if settings.fints_product_id is None and any(bank.fints for bank in profiles.banks.values()):
        return warning("KONTOR_BANKS", "FinTS banks are described, but KONTOR_FINTS_PRODUCT_ID is not set.")
    return ok("KONTOR_BANKS", f"{len(profiles.banks)} banks of {settings.banks} are understood.")
