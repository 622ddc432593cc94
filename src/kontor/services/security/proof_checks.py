"""What a DPoP proof is held against beyond itself: the clock, the proofs that were used before, and our nonce."""

import hashlib
import hmac

from kontor.services.security.proofs import ProofError, SentProof, read_proof, show_thumbprint
from kontor.storage import proofs
from kontor.storage.database import Database
from kontor.storage.keys import SealingKey

# A nonce is accepted for as long, and once more as long after the next one has come up.
NONCE_SECONDS = 300


class ProofChecks:
    def __init__(self, database: Database, digests: SealingKey, *, needs_nonce: bool) -> None:
        self._database = database
        self._digests = digests
        self._needs_nonce = needs_nonce

    async def check(self, sent: SentProof, token: str | None = None, thumbprint: bytes | None = None) -> bytes:
        """The thumbprint of the key that made the proof; ProofError for one that cannot be accepted.

        `thumbprint` is that of the key that the token is bound to.
        """
        proof = read_proof(sent, token)
        if thumbprint is not None and proof.thumbprint != thumbprint:
            raise ProofError("The token is bound to another key.")
        if self._needs_nonce:
            await self._check_nonce(proof.nonce)
        digest = hashlib.sha256(proof.thumbprint + proof.id.encode("utf-8", "surrogatepass")).digest()
        async with self._database.connect() as connection:
            is_first = await proofs.use_proof(connection, digest, proof.issued_at)
        if is_first is None:
            now = f"iat of the proof must be within {proofs.WINDOW_SECONDS} seconds of the server's clock."
            raise ProofError(now)
        if not is_first:
            raise ProofError("The proof was used before.")
        return proof.thumbprint

    async def _check_nonce(self, nonce: str | None) -> None:
        async with self._database.connect() as connection:
            period = await proofs.find_period(connection, NONCE_SECONDS)
        sent = (nonce or "").encode("utf-8", "surrogatepass")
        if not any(hmac.compare_digest(sent, self.make_nonce(period - back).encode()) for back in (0, 1)):
            text = "Repeat the request with this nonce in the proof."
            raise ProofError(text, "use_dpop_nonce", self.make_nonce(period))

    def make_nonce(self, period: int) -> str:
        """The same in all processes, so that none has to remember any."""
        return show_thumbprint(self._digests.digest("dpop nonce", str(period))[:18])
