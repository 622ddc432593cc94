"""What a tenant knows of merchants, and the operator's own model that is asked about unknown ones (ADR 0081)."""

from kontor.services.merchants.factory import TenantKnowledge, make_calls, make_tenant_knowledge
from kontor.services.merchants.model_calls import ModelCalls, ModelSettings
from kontor.services.merchants.prompts import INSTRUCTIONS, make_body
from kontor.services.merchants.questions import MerchantQuestions, Preview
from kontor.services.merchants.tenant_merchants import TenantMerchants

__all__ = [
    "INSTRUCTIONS",
    "MerchantQuestions",
    "ModelCalls",
    "ModelSettings",
    "Preview",
    "TenantKnowledge",
    "TenantMerchants",
    "make_body",
    "make_calls",
    "make_tenant_knowledge",
]
