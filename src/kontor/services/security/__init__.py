"""The audit trail, encryption of what users store, encryption in transit, passwords."""

from kontor.services.security import auditing
from kontor.services.security.auditing import OPERATOR, Finding, read_chain, verify_chains
from kontor.services.security.breaches import BreachedPasswords, BreachFileError
from kontor.services.security.encryption import Encryption
from kontor.services.security.hashing import hash_secret, is_same_hash
from kontor.services.security.key_rotation import KeyRotation, Rotated
from kontor.services.security.passwords import Passwords
from kontor.services.security.proof_checks import ProofChecks
from kontor.services.security.proofs import ALGORITHMS, ProofError, SentProof, show_thumbprint
from kontor.services.security.signatures import PublicKey, describe_key, sign_detached
from kontor.services.security.user_encryption import STATEMENT, UserEncryption

__all__ = [
    "ALGORITHMS",
    "OPERATOR",
    "STATEMENT",
    "BreachFileError",
    "BreachedPasswords",
    "Encryption",
    "Finding",
    "KeyRotation",
    "Passwords",
    "ProofChecks",
    "ProofError",
    "PublicKey",
    "Rotated",
    "SentProof",
    "UserEncryption",
    "auditing",
    "describe_key",
    "hash_secret",
    "is_same_hash",
    "read_chain",
    "show_thumbprint",
    "sign_detached",
    "verify_chains",
]
