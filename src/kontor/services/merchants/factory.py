"""What a tenant knows for all its users, as `bootstrap` builds it."""

from typing import Protocol, TypedDict

from kontor.domain.secrets import Secret
from kontor.services.analyses import MerchantKnowledge, TenantRules
from kontor.services.compute import Compute
from kontor.services.merchants.model_calls import ModelCalls, ModelSettings
from kontor.services.merchants.questions import MerchantQuestions
from kontor.services.merchants.tenant_merchants import TenantMerchants
from kontor.storage.database import Database


class TenantKnowledge(TypedDict):
    tenant_rules: TenantRules
    tenant_merchants: TenantMerchants
    merchant_questions: MerchantQuestions


class GivenSettings(Protocol):
    @property
    def model_url(self) -> str | None: ...
    @property
    def model_name(self) -> str | None: ...
    @property
    def model_key(self) -> Secret | None: ...
    @property
    def model_seconds(self) -> int: ...
    @property
    def model_daily_requests(self) -> int: ...


def make_tenant_knowledge(settings: GivenSettings, database: Database, compute: Compute) -> TenantKnowledge:
    return {
        "tenant_rules": TenantRules(database),
        "tenant_merchants": TenantMerchants(database),
        "merchant_questions": MerchantQuestions(database, MerchantKnowledge(compute), make_calls(settings)),
    }


def make_calls(settings: GivenSettings) -> ModelCalls | None:
    """None where the operator has named no model."""
    if settings.model_url is None or settings.model_name is None:
        return None
    limits = settings.model_seconds, settings.model_daily_requests
    return ModelCalls(ModelSettings(settings.model_url, settings.model_name, settings.model_key, *limits))
