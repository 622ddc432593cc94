"""HTTP clients for servers without TLS. Loading the usual certificates takes longer than most requests."""

import ssl
import time
from functools import cache
from typing import Any

import httpx

from timeouts import WAIT_TIMEOUT_SECONDS

_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody, and is not needed


def plain_client(**options: Any) -> httpx.Client:
    return httpx.Client(verify=_NO_TLS, **options)


class PatientClient(httpx.Client):
    """It reads again while the service is too busy to answer: machines that run tests are shared."""

    def __init__(self, **options: Any) -> None:
        super().__init__(verify=_NO_TLS, timeout=WAIT_TIMEOUT_SECONDS, **options)

    def get(self, url: httpx.URL | str, **options: Any) -> httpx.Response:
        end = time.monotonic() + WAIT_TIMEOUT_SECONDS
        while (answer := super().get(url, **options)).status_code == 503 and time.monotonic() < end:
            time.sleep(0.5)
        return answer


_load_certificates = cache(httpx.create_ssl_context)


def create_shared_ssl_context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
    """In place of httpx's: clients that trust the usual authorities share them, where each loaded them for 20 ms."""
    if verify is True and cert is None:
        return _load_certificates(trust_env=trust_env)
    return httpx.create_ssl_context(verify, cert, trust_env)
