"""`kontor mcp`: the tools over standard input and output, for assistants on the user's own machine."""

from datetime import datetime

import msgspec
from mcp.server.stdio import stdio_server

from kontor.assistants.api import Api
from kontor.assistants.server import Session
from kontor.domain.clocks import BERLIN
from kontor.domain.secrets import Secret
from kontor.pages.texts import load_texts
from kontor_client import AsyncKontor

PACKAGE = "kontor.assistants"


async def serve_stdio(base_url: str, token: Secret | None, api_key: Secret | None, language: str) -> None:
    """Until the assistant closes standard input. ApiError for a token or key that is refused."""
    if token is not None:
        client = AsyncKontor(base_url, token.reveal())
        secret = token
    else:
        assert api_key is not None, "the command asks for one of the two"
        client = await AsyncKontor.login_with_key(base_url, api_key.reveal())
        secret = api_key

    async def read_scopes() -> frozenset[str]:
        answer = await client.request("GET", "/customer/v2/tokens")
        tokens = msgspec.json.decode(answer.content)
        return frozenset(next((found["scope"] for found in tokens if found["current"]), "").split())

    async with client:
        await read_scopes()  # whoever starts it reads at once that a token has ended
        today = datetime.now(BERLIN).date()
        session = Session(Api(client, language), load_texts(PACKAGE)[language], today, secret, read_scopes)
        server = session.make_server()
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())
