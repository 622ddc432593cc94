"""Tokens: looked at and revoked with a client's own secret. The `login…` methods issue them."""

from urllib.parse import urlencode

from kontor_client.models.users import ResourceMetadata, ServerMetadata, TokenFacts
from kontor_client.plans import Call, Plan, fetch, send
from kontor_client.sessions import basic_headers


def introspect_token(client: str, client_secret: str, token: str) -> Plan[TokenFacts]:
    """Whether a token of the client's tenant is valid, and whose it is."""
    answer = yield from send(_call("introspect", client, client_secret, token))
    return answer.decode(TokenFacts)


def revoke_token(client: str, client_secret: str, token: str) -> Plan[None]:
    """The token is void from now on."""
    yield from send(_call("revoke", client, client_secret, token))


def read_server_metadata() -> Plan[ServerMetadata]:
    """What the token endpoints can do."""
    return (yield from fetch(ServerMetadata, "/.well-known/oauth-authorization-server"))


def read_resource_metadata() -> Plan[ResourceMetadata]:
    """The endpoint for assistants."""
    return (yield from fetch(ResourceMetadata, "/.well-known/oauth-protected-resource"))


def _call(what: str, client: str, client_secret: str, token: str) -> Call:
    content = urlencode({"token": token}).encode()
    headers = basic_headers(client, client_secret)
    return Call("POST", f"/auth/oauth2/{what}", content=content, headers=headers, is_repeatable=True)
