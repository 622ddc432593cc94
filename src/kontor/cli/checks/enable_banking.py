"""Enable Banking: its settings belong together, and the application is registered as Kontor uses it."""

from collections.abc import Iterator

from kontor.cli.checks.findings import Finding, ok, problem, warning
from kontor.config import Settings
from kontor.connectors.aspsps import SetupError
from kontor.connectors.profiles import ProfileError

NAMES = {
    "KONTOR_ENABLE_BANKING_APPLICATION": "enable_banking_application",
    "KONTOR_ENABLE_BANKING_KEY": "enable_banking_key",
    "KONTOR_ENABLE_BANKING_BANKS": "enable_banking_banks",
}
SUBJECT = "Enable Banking"


def check_enable_banking(settings: Settings) -> Iterator[Finding]:
    """Without a call. All three settings, or none."""
    missing = [name for name, attribute in NAMES.items() if getattr(settings, attribute) is None]
    if len(missing) == len(NAMES):
        return
    if missing:
        given = next(name for name in NAMES if name not in missing)
        yield problem(missing[0], f"is not set, but {given} is. Enable Banking needs {', '.join(NAMES)}.")
        return
    yield _check_usable(settings)


def _check_usable(settings: Settings) -> Finding:
    from kontor.bootstrap import load_aspsps, load_enable_banking
    from kontor.connectors.catalogue import find_aspsps, load_catalogue
    from kontor.connectors.profile_checks import load_bank_profiles

    try:
        load_enable_banking(settings)
        banks, profiles = load_aspsps(settings), load_bank_profiles(settings.banks)
    except SetupError as error:
        return problem(SUBJECT, f"{error}.")
    except ProfileError:  # has a finding of its own
        return ok(SUBJECT, "The application's key can be used.")
    known = load_catalogue(frozenset(), True, profiles)
    linked = sum(known.find(provider_id) is not None for provider_id in find_aspsps(profiles, banks))
    return ok(SUBJECT, f"{len(banks)} banks are offered, {linked} of them are in the catalogue already.")


def check_application(settings: Settings) -> Iterator[Finding]:
    """Asks Enable Banking, which says nothing to a bank."""
    if any(found.state != "ok" for found in check_enable_banking(settings)) or settings.enable_banking_key is None:
        return
    from kontor.bootstrap import load_enable_banking
    from kontor.connectors.enablebanking import read_application
    from kontor.connectors.enablebanking.failures import CallError

    try:
        facts = read_application(*load_enable_banking(settings))
    except CallError as error:
        yield problem(SUBJECT, f"{settings.enable_banking_url}: {error.detail or error.kind}.")
        return
    if not facts.active:
        yield problem(SUBJECT, f"The application {facts.name} is not active. Activate it in the control panel.")
    elif "AIS" not in facts.services:
        yield problem(SUBJECT, f"The application {facts.name} may not read accounts (AIS).")
    else:
        yield ok(SUBJECT, f"The application {facts.name} is active ({facts.environment}).")
    form = f"{settings.base_url}/customer/v2/webform/return"
    if form not in facts.redirect_urls:
        yield problem(
            SUBJECT, f"{form} is not among the application's redirect addresses. Add it in the control panel."
        )
    console = f"{settings.base_url}/console/connect/back"
    if console not in facts.redirect_urls:
        yield warning(SUBJECT, f"{console} is not among the redirect addresses: no bank can be added in the console.")
