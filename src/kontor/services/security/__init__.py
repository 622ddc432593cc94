"""The audit trail, the vault of users' secrets, encryption in transit, passwords."""

from kontor.services.security import auditing
from kontor.services.security.auditing import OPERATOR, Finding, read_chain, verify_chains
from kontor.services.security.encryption import Encryption
from kontor.services.security.hashing import hash_secret, is_same_hash
from kontor.services.security.passwords import Passwords
from kontor.services.security.vault import STATEMENT, Vault

__all__ = [
    "OPERATOR",
    "STATEMENT",
    "Encryption",
    "Finding",
    "Passwords",
    "Vault",
    "auditing",
    "hash_secret",
    "is_same_hash",
    "read_chain",
    "verify_chains",
]
