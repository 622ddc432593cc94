"""The tagger: what a booking is, decided from its own texts and codes.

`load_tagger()` is all that others need. It reads the packaged knowledge once per process and then is pure: the same
booking and the same own accounts give the same `Tagging`.
"""

from kontor.analysis.tagging.corrections import Learnt
from kontor.analysis.tagging.partners import Partner
from kontor.analysis.tagging.prepared_knowledge import find_partner, list_partners
from kontor.analysis.tagging.taggers import Tagger, load_tagger
from kontor.analysis.tagging.taggings import NOBODY, Evidence, OwnAccounts, Tagging, make_own_accounts
from kontor.analysis.tagging.versions import derive_version

__all__ = [
    "NOBODY",
    "Evidence",
    "Learnt",
    "OwnAccounts",
    "Partner",
    "Tagger",
    "Tagging",
    "derive_version",
    "find_partner",
    "list_partners",
    "load_tagger",
    "make_own_accounts",
]
