"""Tags of transactions and the analyses that are computed from them."""

from kontor.services.analyses.analyses import Analyses, Facts
from kontor.services.analyses.decisions import ASSIGNABLE, CategoryChoice, choose_category, correct_row, read_categories
from kontor.services.analyses.merchants import MerchantKnowledge, fits_payments, may_be_known
from kontor.services.analyses.own_categories import OwnCategories
from kontor.services.analyses.repetitions import Repetitions
from kontor.services.analyses.rules import RulePreview, TaggingRules
from kontor.services.analyses.tagging import (
    NOTHING_PREPARED,
    PreparedTags,
    TransactionTagging,
    read_own_accounts,
)
from kontor.services.analyses.tenant_rules import TenantRules

__all__ = [
    "ASSIGNABLE",
    "NOTHING_PREPARED",
    "Analyses",
    "CategoryChoice",
    "Facts",
    "MerchantKnowledge",
    "OwnCategories",
    "PreparedTags",
    "Repetitions",
    "RulePreview",
    "TaggingRules",
    "TenantRules",
    "TransactionTagging",
    "choose_category",
    "correct_row",
    "fits_payments",
    "may_be_known",
    "read_categories",
    "read_own_accounts",
]
