"""The keys by which everybody can check what this installation has signed."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kontor.api.answers import Answer, json_answer
from kontor.api.operations import Call, Security, Success, operation


class SigningKey(msgspec.Struct):
    """A JSON Web Key (RFC 7517, RFC 8037)."""

    kty: Literal["OKP"]
    crv: Literal["Ed25519"]
    x: str
    kid: Annotated[str, Meta(description="thumbprint (RFC 7638)")]
    use: Literal["sig"]
    alg: Literal["EdDSA"]


class SigningKeys(msgspec.Struct):
    keys: list[SigningKey]


@operation(
    "GET", "/.well-known/jwks.json", tag="Tokens", security=Security.NONE, success=Success(shape=SigningKeys)
)  # fmt: skip
async def list_signing_keys(call: Call) -> Answer:
    """List the keys that documents of this installation are signed with.

    As a JSON Web Key Set (RFC 7517): the current key first, then earlier ones.
    """
    found = await call.services.credit_files.list_public_keys()
    return json_answer(SigningKeys([SigningKey("OKP", "Ed25519", key.x, key.id, "sig", "EdDSA") for key in found]))
