"""The only file that knows every package: builds the application, the worker and the services."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from kontor.config import SettingError, Settings, default_data_dir, read_settings
from kontor.connectors.aspsps import AspspBank, read_bank_list
from kontor.connectors.base import Connector
from kontor.connectors.catalogue import find_aspsps, load_catalogue
from kontor.connectors.demo import DemoConnector
from kontor.connectors.profile_checks import load_bank_profiles
from kontor.connectors.profiles import Profiles
from kontor.connectors.registry import Registry
from kontor.logs import configure_logs
from kontor.services.accesses import Accesses, Refreshing
from kontor.services.alerts import Alerts, Pushes
from kontor.services.analyses import Analyses, OwnCategories, Repetitions, TaggingRules, TransactionTagging
from kontor.services.banks import Admissions, BankGateway, BankTracing, Providers
from kontor.services.bundle import Plans, Services
from kontor.services.compute import TURN_SECONDS, Compute, ComputeLimits, ComputeObserver
from kontor.services.credit_files import CreditFiles
from kontor.services.fetching import Fetching, FetchResults, FetchWriting, Merges, Staging
from kontor.services.identity import Authorizations, Operators, OwnLogins, TenantAdministration, Tenants, Tokens, Users
from kontor.services.merchants import make_tenant_knowledge
from kontor.services.operations import Housekeeping, Ops, Workers
from kontor.services.payments import PaymentDebtors, PaymentDrafts, PaymentExports, Payments
from kontor.services.planning import Budgets, SavingsGoals
from kontor.services.redirects import Redirects
from kontor.services.runtime import Clock, end_with_parent, harden_process
from kontor.services.sca import Consents
from kontor.services.security import Encryption, KeyRotation, Passwords, UserEncryption
from kontor.services.statements import AccountStatements, Exports, ImportForms, Imports
from kontor.services.transactions import make_transaction_services
from kontor.services.webhooks import Deliveries, Events, WebhookCalls, Webhooks
from kontor.storage import embedded
from kontor.storage.database import Database
from kontor.storage.demo_bank import DemoBankMemory
from kontor.storage.documents import store_documents
from kontor.storage.embedded_watch import running_embedded
from kontor.storage.erasure_log import ErasureLog
from kontor.storage.keys import KeyUnusableError, SealingKey, generate_key, refuse_wrong_master_key
from kontor.storage.master_keys import KeyCommand, KeyFile, KeyText, MasterKeySource, WrappedKey
from kontor.storage.migrate import Migration, find_role, migrate
from kontor.storage.system_keys import load_digest_key
from kontor.storage.transit_keys import TransitKey
from kontor.wire.transactions import FIELDS
from kontor.wire.urls import Urls
from kontor.wire.webhooks import encode_notification

if TYPE_CHECKING:  # loading the API or the queue takes a second that a short command need not wait for
    from litestar.types import ASGIApp

    from kontor.connectors.enablebanking import Application, EnableBankingSettings
    from kontor.jobs.worker import Worker

EMBEDDED_KEY_FILE = "master.key"


def load_master_key(settings: Settings) -> SealingKey:
    return find_master_key(settings).load()


def find_master_key(settings: Settings) -> MasterKeySource:
    """The key file is for embedded mode: beside an external database the key must come from elsewhere."""
    if settings.master_key is not None:
        return KeyText(settings.master_key)
    if settings.master_key_command is not None:
        return KeyCommand(settings.master_key_command)
    if settings.master_key_wrapped is not None:
        return WrappedKey(settings.master_key_wrapped, find_transit_key(settings))
    if settings.database_url is None or settings.is_embedded:
        return KeyFile(settings.data / EMBEDDED_KEY_FILE)
    raise KeyUnusableError(
        "With an external database Kontor needs KONTOR_MASTER_KEY (make one with `kontor key generate`),"
        " KONTOR_MASTER_KEY_COMMAND or KONTOR_MASTER_KEY_WRAPPED."
    )


def find_transit_key(settings: Settings) -> TransitKey:
    if settings.vault_address is None or settings.vault_token_path is None:
        raise KeyUnusableError("Vault needs KONTOR_VAULT_ADDRESS and KONTOR_VAULT_TOKEN_PATH.")
    return TransitKey(settings.vault_address, settings.vault_key, settings.vault_token_path, settings.vault_namespace)


@contextmanager
def with_database(settings: Settings, *, is_restored: bool = False) -> Iterator[Settings]:
    """Settings with a database to connect to: the external one, or the embedded one for the time of the block.

    A new embedded one is made only in a folder that somebody has named: at the default place a command that lost its
    environment would work on an empty database instead of the installation's.
    """
    if settings.database_url is not None:
        yield settings
        return
    if settings.data == default_data_dir() and not (settings.data / embedded.FACTS_FILE).exists():
        raise SettingError(
            f"No installation was found: KONTOR_DATABASE_URL is not set, and {settings.data} has no embedded database."
            " Set KONTOR_DATABASE_URL; or, for an embedded database, KONTOR_DATA to a folder for it."
        )
    with running_embedded(settings.data, is_restored=is_restored) as addresses:
        yield attach_embedded(settings, addresses)


def attach_embedded(settings: Settings, addresses: embedded.Addresses) -> Settings:
    return replace(settings, database_url=addresses.app, migration_database_url=addresses.owner, is_embedded=True)


def migrate_database(settings: Settings, *, is_alone: bool = False, are_bound: bool = False) -> list[Migration]:
    """An embedded database serves one machine: whoever migrates it there is taken to be alone."""
    assert settings.database_url is not None
    owner = settings.migration_database_url or settings.database_url
    return migrate(owner, find_app_role(settings), is_alone=is_alone or settings.is_embedded, are_bound=are_bound)


def find_app_role(settings: Settings) -> str | None:
    """The application's role where it is another one than the owner of the tables."""
    if settings.database_url is None or settings.migration_database_url in (None, settings.database_url):
        return None
    return find_role(settings.database_url)


@asynccontextmanager
async def open_services(
    settings: Settings, application_name: str, *, skips_keys: bool = False, compute: Compute | None = None
) -> AsyncIterator[Services]:
    """With `skips_keys` the database's own keys are not opened: only replacing or rewrapping them makes sense then.
    What serves several people at a time brings a `compute` with processes; it is closed at the end.
    """
    assert settings.database_url is not None
    compute, master = compute or Compute(), load_master_key(settings)
    database = Database(settings.database_url, settings.pool_size, application_name)
    try:
        await database.open()
        async with database.connect() as connection:
            if not skips_keys:
                await refuse_wrong_master_key(connection, master)
            digests = generate_key() if skips_keys else await load_digest_key(connection, master)
        store_documents(FIELDS)
        services = make_services(settings, database, master, digests, compute)
        async with services.ops.egress.storing():
            yield services
    finally:
        await compute.close()
        await database.close()


def make_compute(
    settings: Settings, observer: ComputeObserver | None = None, turn_seconds: float | None = None
) -> Compute:
    memory_bytes = settings.compute_megabytes * 1024 * 1024
    limits = ComputeLimits(settings.compute_processes, settings.compute_seconds, memory_bytes, turn_seconds)
    return Compute(limits, prepare_compute_process, observer, is_preloaded=settings.compute_preload)


def prepare_compute_process() -> None:
    """Load what work needs before there is any."""
    import kontor.api.ai_v1
    import kontor.wire.analyses  # noqa: F401
    from kontor.analysis.tagging import load_tagger

    load_tagger()


def make_services(
    settings: Settings, database: Database, master: SealingKey, digests: SealingKey, compute: Compute
) -> Services:
    events, passwords = Events(), Passwords(settings.refuse_guessable_passwords, settings.breached_passwords)
    clock, calls = Clock(settings.today, settings.clock), WebhookCalls(is_loopback_allowed=settings.allow_loopback)
    user_encryption, request_seconds = UserEncryption(master, digests), settings.request_seconds
    refreshing, registry = Refreshing(database, clock, events), make_registry(settings)
    providers, admissions = make_providers(settings, database, registry), Admissions(database, clock)
    gateway = BankGateway(database, providers, registry, user_encryption, admissions, settings.bank_seconds)
    tagging, encryption = TransactionTagging(database, compute), Encryption(database, master)
    merges, repetitions = Merges(database, compute, tagging), Repetitions(database, compute)
    writing, staging = FetchWriting(user_encryption, clock, tagging, merges), Staging(user_encryption)
    results = FetchResults(database, user_encryption, clock, events, refreshing, admissions, staging, merges, writing)
    accesses = Accesses(database, providers, encryption, user_encryption, clock, refreshing, gateway, request_seconds)
    consents = Consents(database, accesses, gateway, user_encryption, clock, results)
    debtors = PaymentDebtors(database, providers, encryption, user_encryption)
    payments = Payments(database, gateway, user_encryption, clock, debtors, events, request_seconds)
    drafts = PaymentDrafts(database, payments, providers, accesses, clock)
    rotation = KeyRotation(database, master)
    tokens = Tokens(database, passwords, digests, needs_nonce=settings.require_dpop_nonce)
    return Services(
        database=database,
        compute=compute,
        tenants=Tenants(database),
        tenant_administration=TenantAdministration(database, master),
        users=Users(database, master, passwords, refreshing, accesses, ErasureLog(settings.erasure_log_file, digests)),
        tokens=tokens,
        authorizations=Authorizations(database, tokens, digests, settings.base_url),
        own_logins=OwnLogins(database, passwords),
        encryption=encryption,
        key_rotation=rotation,
        housekeeping=Housekeeping(database, clock, refreshing, rotation, settings.credit_file_days),
        providers=providers,
        accesses=accesses,
        **make_transaction_services(database, clock, tagging, repetitions),
        transaction_tagging=tagging,
        tagging_rules=TaggingRules(database, tagging),
        own_categories=OwnCategories(database, tagging),
        **make_tenant_knowledge(settings, database, compute),
        analyses=Analyses(database, clock, tagging, compute),
        **make_plans(settings, database, clock, Analyses(database, clock, tagging, compute), user_encryption, calls),
        imports=Imports(database, clock, tagging, compute, merges),
        import_forms=ImportForms(database),
        exports=Exports(database, clock, tagging, user_encryption),
        account_statements=AccountStatements(database, user_encryption),
        fetching=Fetching(database, gateway, user_encryption, clock, results),
        consents=consents,
        redirects=make_redirects(settings, database, providers, accesses, consents, results, payments, drafts),
        payments=payments,
        payment_drafts=drafts,
        payment_exports=PaymentExports(database, clock),
        refreshing=refreshing,
        operators=Operators(database),
        ops=Ops(database, clock, refreshing),
        workers=Workers(database),
        events=events,
        webhooks=Webhooks(database, user_encryption, calls),
        deliveries=make_deliveries(settings, database, user_encryption, calls),
        bank_tracing=BankTracing(database, gateway, providers, user_encryption, clock),
    )


def make_plans(
    settings: Settings,
    database: Database,
    clock: Clock,
    analyses: Analyses,
    user_encryption: UserEncryption,
    calls: WebhookCalls,
) -> Plans:
    alerts = Alerts(database, clock, analyses)
    contact = settings.base_url if settings.base_url.startswith("https://") else None
    return {
        "budgets": Budgets(database, clock),
        "savings_goals": SavingsGoals(database),
        "alerts": alerts,
        "pushes": Pushes(database, user_encryption, calls, alerts, contact),
        "credit_files": CreditFiles(database, clock, analyses, user_encryption),
    }


def make_providers(settings: Settings, database: Database, registry: Registry) -> Providers:
    aspsps = load_aspsps(settings) if "enablebanking" in registry.kinds else ()
    catalogue = load_catalogue(registry.kinds, settings.demo, load_bank_profiles(settings.banks), aspsps)
    return Providers(database, catalogue, registry.kinds)


def make_redirects(
    settings: Settings,
    database: Database,
    providers: Providers,
    accesses: Accesses,
    consents: Consents,
    results: FetchResults,
    payments: Payments,
    drafts: PaymentDrafts,
) -> Redirects:
    return_url = f"{settings.base_url}/customer/v2/webform/return"
    parts = (providers, accesses, consents, results, payments, drafts)
    return Redirects(database, *parts, return_url=return_url, is_loopback_allowed=settings.demo)


def make_deliveries(
    settings: Settings, database: Database, user_encryption: UserEncryption, calls: WebhookCalls
) -> Deliveries:
    urls = Urls(settings.base_url)
    return Deliveries(
        database, user_encryption, calls, lambda delivery, tenant: encode_notification(delivery, tenant, urls)
    )


def make_registry(settings: Settings) -> Registry:
    """The connectors that are enabled here: each needs something of its own to be of any use."""
    assert settings.database_url is not None
    profiles = load_bank_profiles(settings.banks)
    connectors: list[Connector] = []
    if settings.demo_bank:
        memory = DemoBankMemory(settings.database_url, f"{settings.base_url}/demobank/confirm")
        connectors.append(DemoConnector(memory, settings.demo_slow_seconds))
    if settings.fints_product_id is not None:
        from kontor.connectors.fints import FintsConnector, find_fints_bank

        find_bank = partial(find_fints_bank, profiles)
        connectors.append(FintsConnector(find_bank, settings.fints_product_id, settings.bank_authorities))
    if any(bank.xs2a for bank in profiles.banks.values()):
        connectors.append(_make_xs2a(settings, profiles))
    if settings.enable_banking_application is not None:
        connectors.append(_make_enablebanking(settings, profiles))
    if settings.statements is not None:
        from kontor.connectors.files import FilesConnector

        connectors.append(FilesConnector(settings.statements))
    return Registry(connectors)


def _make_xs2a(settings: Settings, profiles: Profiles) -> Connector:
    from kontor.connectors.xs2a import Xs2aConnector, Xs2aSettings, read_profile

    banks = {code: read_profile(bank.xs2a, code, profiles) for code, bank in profiles.banks.items() if bank.xs2a}
    certificates = Xs2aSettings(
        certificate_file=settings.xs2a_certificate,
        key_file=settings.xs2a_key,
        seal_certificate_file=settings.xs2a_seal_certificate,
        seal_key_file=settings.xs2a_seal_key,
        ca_file=settings.bank_authorities,
    )
    return Xs2aConnector(lambda provider: banks.get(provider.bank_code or ""), certificates)


def load_aspsps(settings: Settings) -> tuple[AspspBank, ...]:
    if settings.enable_banking_banks is None:
        raise SettingError("KONTOR_ENABLE_BANKING_BANKS is not set. Write the list with `kontor bank fetch`.")
    return read_bank_list(settings.enable_banking_banks)


def load_enable_banking(settings: Settings) -> "tuple[Application, EnableBankingSettings]":
    """The application that the settings name, and how it calls Enable Banking."""
    from kontor.connectors.enablebanking import EnableBankingSettings, load_application

    if settings.enable_banking_application is None or settings.enable_banking_key is None:
        raise SettingError("Enable Banking needs KONTOR_ENABLE_BANKING_APPLICATION and KONTOR_ENABLE_BANKING_KEY.")
    application = load_application(settings.enable_banking_application, settings.enable_banking_key)
    return application, EnableBankingSettings(settings.enable_banking_url, settings.bank_authorities)


def _make_enablebanking(settings: Settings, profiles: Profiles) -> Connector:
    from kontor.connectors.enablebanking import EnableBankingConnector

    banks = find_aspsps(profiles, load_aspsps(settings))
    return EnableBankingConnector(lambda provider: banks.get(provider.id), *load_enable_banking(settings))


def create_app() -> "ASGIApp":
    """What each API process runs; settings come from the environment."""
    import pgqueuer  # noqa: F401 (now, rather than within somebody's request)

    from kontor import assistants, console, demobank, webform
    from kontor.api.app import make_app
    from kontor.api.metrics import ComputeMetrics

    settings = read_settings()
    configure_logs(settings.log_level, settings.log_format)
    harden_process()
    end_with_parent(settings.parent_pid)
    return make_app(
        settings,
        lambda: open_services(settings, "kontor api", compute=make_compute(settings, ComputeMetrics(), TURN_SECONDS)),
        pages=[webform.make_routes, demobank.make_routes],
        api_pages=[console.make_routes, assistants.make_routes],
        missing_pages={"/console/": console.draw_missing},
    )


def create_worker(settings: Settings) -> "Worker":
    from kontor.jobs.worker import Worker

    return Worker(settings, lambda: open_services(settings, "kontor worker", compute=make_compute(settings)))


def run_worker(settings: Settings) -> None:
    """Until it is told to stop. On the faster event loop, where there is one: a worker waits for many small answers."""
    harden_process()
    make_loop: Callable[[], asyncio.AbstractEventLoop] | None = None
    with suppress(ImportError):  # it is not there on Windows
        import uvloop

        make_loop = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=make_loop) as runner:
        runner.run(create_worker(settings).run())
