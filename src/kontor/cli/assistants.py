"""Assistants on the user's own machine: `kontor mcp`."""

import asyncio
from typing import Annotated, Literal

from cyclopts import Parameter

from kontor.config import SettingError, read_settings
from kontor.domain.errors import KontorError
from kontor_client import ApiError, KontorClientError


def mcp(
    *,
    language: Annotated[Literal["de", "en"], Parameter(help="The language of answers.")] = "de",
) -> None:
    """Serve an assistant over standard input and output (MCP), with the data of one user.

    It calls the API at KONTOR_BASE_URL with KONTOR_MCP_TOKEN, or with tokens for KONTOR_MCP_API_KEY.
    """
    settings = read_settings()
    if (settings.mcp_token is None) == (settings.mcp_api_key is None):
        raise SettingError("Set either KONTOR_MCP_TOKEN or KONTOR_MCP_API_KEY.")
    try:
        from kontor.assistants.stdio import serve_stdio
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise SettingError("This needs the extra `mcp`: pip install 'kontor[mcp]'.") from None
    try:
        asyncio.run(serve_stdio(settings.base_url, settings.mcp_token, settings.mcp_api_key, language))
    except ApiError as error:
        raise KontorError(f"{settings.base_url} refuses the token or key: {error.text}") from None
    except KontorClientError as error:
        raise KontorError(f"{settings.base_url} cannot be reached: {error}") from None
