"""Settings: one frozen object, read once from the environment.

Every setting is an environment variable `KONTOR_<NAME>`. `describe_settings` is what the command line prints, and what
`docs/operating/settings.md` is checked against.
"""

import difflib
import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import urlsplit

from kontor.domain.clocks import read_fast_clock
from kontor.domain.secrets import Secret

PREFIX = "KONTOR_"
TEST_PREFIX = "KONTOR_TEST_"  # for the test suite

# Variables that are no settings: commands and the guides' examples read them.
OTHER_VARIABLES = frozenset(
    f"{PREFIX}{name}"
    for name in (
        "ADMIN",
        "ADMIN_SECRET",
        "CLIENT",
        "COMPILE",
        "ENVIRONMENT",
        "OPERATOR_TOKEN",
        "PASSWORD",
        "SECRET",
        "SYNC_KEY",
        "SYNC_URL",
        "WEBHOOK",
    )
)


MIN_ONE = (
    "pool_size",
    "request_seconds",
    "keep_alive_seconds",
    "body_seconds",
    "compute_processes",
    "compute_seconds",
    "console_idle_seconds",
    "model_seconds",
    "model_daily_requests",
)


class SettingError(Exception):
    """A setting that cannot be used, in words for the operator."""


def default_data_dir() -> Path:
    """Root's home is closed to the unprivileged user that runs the embedded database, so root gets another place."""
    if os.geteuid() == 0:
        return Path("/var/lib/kontor")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "kontor"


def setting(default: Any, help_text: str) -> Any:
    if callable(default):
        return field(default_factory=default, metadata={"help": help_text})
    return field(default=default, metadata={"help": help_text})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    base_url: str = setting(
        "http://127.0.0.1:8080", "address under which callers reach the service; start of every href"
    )
    transport_security: str = setting(
        "max-age=31536000; includeSubDomains", "Strict-Transport-Security of every response when base_url is https"
    )
    data: Path = setting(
        default_data_dir,
        "folder of the embedded database, the master key and demo.json;"
        " else /var/lib/kontor for root, ~/.local/share/kontor for others",
    )
    database_url: Secret | None = setting(None, "PostgreSQL to use; without it an embedded one is started in `data`")
    migration_database_url: Secret | None = setting(None, "owner's connection for `kontor migrate`, else database_url")
    postgres_programs: Path | None = setting(
        None, "folder of pg_dump and pg_restore, for `kontor backup` and `restore`; else they are looked for"
    )
    is_embedded: bool = setting(False, "set for child processes: database_url is the embedded database in `data`")
    parent_pid: int | None = setting(None, "set for child processes: they end when this process has ended")
    master_key: Secret | None = setting(None, "32 bytes in Base64 that wrap all tenant keys")
    master_key_command: str | None = setting(None, "command that prints the master key, for a key management system")
    master_key_wrapped: str | None = setting(
        None, "master key as wrapped by HashiCorp Vault's transit engine, printed by `kontor key wrap`"
    )
    vault_address: str | None = setting(None, "https address of HashiCorp Vault")
    vault_token_path: Path | None = setting(None, "file with a token of Vault that may use the key; read at each start")
    vault_key: str = setting("transit/kontor", "mount of Vault's transit engine, and the key's name")
    vault_namespace: str | None = setting(None, "namespace of Vault, where it has any")
    pool_size: int = setting(10, "database connections per process")
    request_seconds: int = setting(180, "time limit of a request, then 504; of a streamed response, between two chunks")
    keep_alive_seconds: int = setting(
        75, "time after which an idle connection is closed; also the limit for the head of a request"
    )
    body_seconds: int = setting(
        20, "time to send a request body, then 408; one second more for each 64 KiB that arrive"
    )
    max_body_bytes: int = setting(1024 * 1024, "largest request body")
    max_bulk_body_bytes: int = setting(
        16 * 1024 * 1024, "largest body of files, pushed transactions and stateless analyses"
    )
    compute_processes: int = setting(
        2, "compute processes per API process and worker, which parse, merge, tag and analyse; about 200 MB each"
    )
    compute_preload: bool = setting(
        True, "start compute processes at once; false: each at its first task, which then takes some seconds longer"
    )
    compute_seconds: int = setting(60, "time limit of one compute task, after which it is ended")
    compute_megabytes: int = setting(1536, "memory limit of each compute process")
    refuse_guessable_passwords: bool = setting(
        False, "refuse passwords of users that are easy to guess, when one is set"
    )
    breached_passwords: Path | None = setting(
        None, "sorted file of SHA-1 hashes of passwords that are refused when one is set: docs/operating/running.md"
    )
    require_dpop_nonce: bool = setting(
        False, "DPoP proofs must contain a nonce of the server, so that none can be made in advance"
    )
    trusted_proxies: tuple[str, ...] = setting((), "addresses whose X-Forwarded-For is trusted, comma-separated")
    metrics_token: Secret | None = setting(None, "bearer token that /metrics requires")
    otlp_endpoint: str | None = setting(None, "OpenTelemetry collector (OTLP over HTTP); no traces without it")
    log_level: str = setting("info", "debug, info, warning or error")
    log_format: str = setting("json", "json for machines, text for people")
    bank_seconds: int = setting(600, "time limit of one step with a bank")
    demo_bank: bool = setting(
        False, "offer the demo bank, with its people and its own confirmation page; `kontor demo` sets it"
    )
    banks: Path | None = setting(None, "file or folder of bank profiles: docs/guides/bank-profiles.md")
    fints_product_id: str | None = setting(None, "FinTS product registration; without it the FinTS channel is disabled")
    bank_authorities: Path | None = setting(
        None, "PEM file of authorities to trust in connections to banks instead of the system's, for a test bank"
    )
    xs2a_certificate: Path | None = setting(None, "PEM file of the certificate (QWAC) for connections to XS2A banks")
    xs2a_key: Path | None = setting(None, "PEM file of its private key")
    xs2a_seal_certificate: Path | None = setting(None, "PEM file of the certificate (QSealC) that signs XS2A messages")
    xs2a_seal_key: Path | None = setting(None, "PEM file of its private key")
    enable_banking_application: str | None = setting(
        None, "id of the application at Enable Banking; without it that channel is disabled"
    )
    enable_banking_key: Path | None = setting(None, "PEM file of the application's private key")
    enable_banking_banks: Path | None = setting(
        None, "file of the banks that are offered through Enable Banking, as `kontor bank fetch` writes it"
    )
    enable_banking_url: str = setting("https://api.enablebanking.com", "address of Enable Banking, or of a test server")
    erasure_log: Path | None = setting(
        None, "file that erasures are logged in, outside the database; else erasures.log in `data`"
    )
    credit_file_days: int = setting(1095, "how long credit files are kept after their purpose has ended")
    statements: Path | None = setting(
        None, "folder with one subfolder of statement files per customer; without it the files connector is disabled"
    )
    console_clients: Secret | None = setting(
        None, "clients through which the console's users sign in, one per tenant: tenant/client:secret, spaces between"
    )
    console_url: str | None = setting(None, "address of the console where it has a host of its own; else base_url")
    console_idle_seconds: int = setting(
        1800, "time without a request after which the console asks its users and operators to sign in again"
    )
    console_sample: Secret | None = setting(
        None, "sample user that the console's first page offers to everybody, for demos: tenant/user:password"
    )
    console_sample_adviser: Secret | None = setting(
        None, "sample adviser that the console's first page offers to everybody, for demos: tenant/user:password"
    )
    model_url: str | None = setting(
        None,
        "base address of the OpenAI-compatible API of a model that may be asked about unknown merchants, such as"
        " http://127.0.0.1:11434/v1: docs/guides/own-model.md; without it nothing is asked",
    )
    model_name: str | None = setting(None, "name of the model, as its server knows it")
    model_key: Secret | None = setting(None, "bearer token that the model's server requires")
    model_seconds: int = setting(30, "time limit of one request to the model")
    model_daily_requests: int = setting(200, "requests to the model per tenant and day")
    mcp_token: Secret | None = setting(None, "token of a user, with which `kontor mcp` calls the API at base_url")
    mcp_api_key: Secret | None = setting(None, "API key of a user, for which `kontor mcp` gets tokens at base_url")
    demo_slow_seconds: int = setting(200, "how long the demo bank takes to answer the login test_slow")
    today: date | None = setting(
        None, "business date to start from, for demos and tests; tokens and logs keep real time"
    )
    allow_loopback: bool = setting(
        False, "webhooks may call loopback addresses, also over http and on any port, for local trials"
    )
    clock: str | None = setting(
        None,
        "for simulations only: business clock that runs fast, as start instant, factor and real start in epoch"
        " seconds, joined by @",
    )
    demo: bool = setting(False, "set by `kontor demo`: lists banks without a connector, allows any Customer-IP-Address")

    @property
    def erasure_log_file(self) -> Path:
        return self.erasure_log or self.data / "erasures.log"

    @property
    def console_address(self) -> str:
        return self.console_url or self.base_url

    def __post_init__(self) -> None:
        _check_service_address("KONTOR_ENABLE_BANKING_URL", self.enable_banking_url)
        _check_model(self.model_url, self.model_name)
        _check_own_address("KONTOR_BASE_URL", self.base_url)
        _check_own_address("KONTOR_CONSOLE_URL", self.console_address)
        _check_transport_security(self.transport_security)
        if self.log_level not in ("debug", "info", "warning", "error"):
            raise SettingError("KONTOR_LOG_LEVEL must be debug, info, warning or error")
        if self.log_format not in ("json", "text"):
            raise SettingError("KONTOR_LOG_FORMAT must be json or text")
        if self.clock is not None:
            _check_clock(self.clock, self.today)
        for name in MIN_ONE:
            if getattr(self, name) < 1:
                raise SettingError(f"{PREFIX}{name.upper()} must be 1 or more")
        for name, least in (("max_body_bytes", 1024), ("max_bulk_body_bytes", 1024), ("compute_megabytes", 512)):
            if getattr(self, name) < least:
                raise SettingError(f"{PREFIX}{name.upper()} must be {least} or more")
        for name in self.trusted_proxies:
            if not _is_address(name):
                raise SettingError(f"KONTOR_TRUSTED_PROXIES must be IP addresses, and {name!r} is none")
        if self.otlp_endpoint is not None and not self.otlp_endpoint.startswith(("http://", "https://")):
            raise SettingError("KONTOR_OTLP_ENDPOINT must start with http:// or https://")


def read_settings(environment: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
    """Read the environment; `overrides` (from the command line) win over it."""
    environment = os.environ if environment is None else environment
    hints = get_type_hints(Settings)
    values: dict[str, Any] = {}
    for attribute in fields(Settings):
        text = environment.get(PREFIX + attribute.name.upper())
        if text is not None and text != "":
            values[attribute.name] = _convert(attribute.name, hints[attribute.name], text)
    values.update({name: value for name, value in overrides.items() if value is not None})
    return Settings(**values)


def find_unknown_variables(environment: Mapping[str, str] | None = None) -> list[str]:
    """One sentence for each variable `KONTOR_…` that nothing reads: probably a misspelt setting."""
    environment = os.environ if environment is None else environment
    known = {PREFIX + attribute.name.upper() for attribute in fields(Settings)}
    unknown = (name for name in environment if name.startswith(PREFIX) and not name.startswith(TEST_PREFIX))
    return [_explain_unknown(name, known) for name in sorted(unknown) if name not in known | OTHER_VARIABLES]


def refuse_unknown_variables(environment: Mapping[str, str] | None = None) -> None:
    if unknown := find_unknown_variables(environment):
        raise SettingError(" ".join(unknown))


def export_settings(settings: Settings) -> dict[str, str]:
    """The environment that makes a child process read these very settings. Secrets included: never print it."""
    exported = {}
    for attribute in fields(Settings):
        value = getattr(settings, attribute.name)
        if value is None:
            continue
        if isinstance(value, Secret):
            value = value.reveal()
        elif isinstance(value, bool):
            value = "true" if value else "false"
        elif isinstance(value, tuple):
            value = ",".join(value)
        exported[PREFIX + attribute.name.upper()] = str(value)
    return exported


def describe_settings() -> list[tuple[str, str, str]]:
    """(variable, default, meaning) of every setting."""
    rows = []
    for attribute in fields(Settings):
        default = attribute.default if isinstance(attribute.default, str | int | bool | tuple) else None
        shown = {None: "", (): "", True: "true", False: "false"}.get(default, str(default))  # type: ignore[arg-type]
        rows.append((PREFIX + attribute.name.upper(), shown, attribute.metadata["help"]))
    return rows


def _explain_unknown(name: str, known: set[str]) -> str:
    setting_name = name.removesuffix("_FILE")
    if setting_name != name and setting_name in known:
        return f"{name} is read only by the container's entry point; set {setting_name}."
    similar = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
    return f"{name} is not a setting of Kontor{f'; {similar[0]} is' if similar else ''}."


def _check_own_address(name: str, address: str) -> None:
    if not address.startswith(("http://", "https://")) or address.endswith("/"):
        raise SettingError(f"{name} must start with http:// or https:// and not end with a slash")


def _check_service_address(name: str, address: str) -> None:
    parts = urlsplit(address)
    is_local = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
    if not (parts.scheme == "https" or is_local) or not parts.hostname or parts.query or parts.username:
        raise SettingError(f"{name} must be an https address, or http at this machine")


def _check_model(address: str | None, name: str | None) -> None:
    """Plain HTTP only where the address itself says that it stays in the operator's own network."""
    if address is None:
        return
    parts = urlsplit(address)
    is_private = parts.hostname == "localhost" or _is_private_address(parts.hostname or "")
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_private)
    if not is_safe or not parts.hostname or parts.query or parts.fragment or parts.username or address.endswith("/"):
        raise SettingError(
            "KONTOR_MODEL_URL must be an https address, or http at localhost or at a private IP address, and not end"
            " with a slash"
        )
    if not name:
        raise SettingError("KONTOR_MODEL_URL needs KONTOR_MODEL_NAME, the name of the model")


def _is_private_address(host: str) -> bool:
    return _is_address(host) and ipaddress.ip_address(host).is_private


def _check_transport_security(text: str) -> None:
    if not re.fullmatch(r"max-age=[0-9]{1,10}(; includeSubDomains)?(; preload)?", text):
        raise SettingError("KONTOR_TRANSPORT_SECURITY must be such as max-age=31536000; includeSubDomains")


def _check_clock(text: str, today: date | None) -> None:
    if today is not None:
        raise SettingError("KONTOR_CLOCK and KONTOR_TODAY cannot be used together")
    try:
        read_fast_clock(text)
    except ValueError:
        raise SettingError(
            "KONTOR_CLOCK must be a start instant, a factor and epoch seconds, such as"
            " 2026-10-20T00:00:00+00:00@300@1795000000"
        ) from None


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _convert(name: str, hint: Any, text: str) -> Any:
    variable = PREFIX + name.upper()
    kinds = set(getattr(hint, "__args__", ())) | {hint}
    if Secret in kinds:
        return Secret(text)
    if bool in kinds:
        if text.lower() not in ("true", "false", "1", "0"):
            raise SettingError(f"{variable} must be true or false")
        return text.lower() in ("true", "1")
    if int in kinds:
        try:
            return int(text)
        except ValueError:
            raise SettingError(f"{variable} must be a whole number") from None
    if date in kinds:
        try:
            return date.fromisoformat(text)
        except ValueError:
            raise SettingError(f"{variable} must be a date such as 2026-11-15") from None
    if Path in kinds:
        return Path(text)
    if tuple[str, ...] in kinds:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text
