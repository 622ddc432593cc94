"""HTTP clients for servers without TLS. Loading the usual certificates takes longer than most requests."""

import ssl
from typing import Any

import httpx

_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody, and is not needed


def plain_client(**options: Any) -> httpx.Client:
    return httpx.Client(verify=_NO_TLS, **options)
