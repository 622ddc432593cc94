"""Providers: banks and others, and what a login there needs."""

from datetime import datetime

from kontor_client.models.shapes import Linked, Model


class LoginField(Model, rename={"key": "fieldkey", "is_secret": "secret"}):
    """`key` is the name in the credentials."""

    key: str
    label: str
    is_secret: bool
    format: str
    hint: str | None = None


class LoginForm(Model, rename="camel"):
    fields: list[LoginField]
    login_hint: str | None = None


class Provider(
    Linked,
    kw_only=True,
    rename={"is_consumer_relevant": "consumerRelevant", "login": "authenticationInfo", "bank_code": "blz"},
):
    id: str
    name: str
    is_consumer_relevant: bool
    capabilities: list[str]
    channels: list[list[str]]
    login: LoginForm
    group: str | None = None
    bank_code: str | None = None
    bic: str | None = None


class ProviderStatistics(Model, rename="camel"):
    """Recent fetches (seven days) at a provider."""

    fetches: int
    success_rate: float | None = None
    mean_duration_seconds: float | None = None
    last_success: datetime | None = None
    down_since: datetime | None = None
    next_attempt: datetime | None = None
