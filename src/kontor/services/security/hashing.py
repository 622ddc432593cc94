"""Hashes of secrets that are random: client secrets, tokens, API keys, handles. Passwords are hashed by `passwords`."""

import hashlib
import hmac


def hash_secret(secret: str) -> bytes:
    """Client secrets, tokens and API keys are 256 random bits: a plain hash cannot be guessed back."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def is_same_hash(left: bytes, right: bytes) -> bool:
    return hmac.compare_digest(left, right)
