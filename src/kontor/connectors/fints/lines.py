"""The line to a bank's FinTS server: one message out, one message back, within limits of time and size."""

import base64
import binascii
import ssl
from pathlib import Path
from types import TracebackType

import httpx

CONNECT_SECONDS, ANSWER_SECONDS = 10, 60
LARGEST_ANSWER = 32 * 1024 * 1024  # in Base64; a year of a busy account has a tenth of that
GOOD = range(200, 300)


class SilentBankError(Exception):
    """No answer, or none that is FinTS. `may_have_arrived` says whether the bank may have got the message."""

    def __init__(self, reason: str, *, may_have_arrived: bool) -> None:
        super().__init__(reason)
        self.may_have_arrived = may_have_arrived


class Line:
    """HTTPS with the bank's certificate checked. Redirects are not followed, and no proxy is looked for."""

    def __init__(self, url: str, tls: ssl.SSLContext) -> None:
        self._url = url
        timeout = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
        self._client = httpx.Client(verify=tls, timeout=timeout, follow_redirects=False, trust_env=False)

    def __enter__(self) -> "Line":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def exchange(self, message: bytes) -> bytes:
        content = base64.b64encode(message)
        try:
            with self._client.stream("POST", self._url, content=content, headers={"Content-Type": "text/plain"}) as one:
                return self._read(one)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise SilentBankError(type(error).__name__, may_have_arrived=False) from None
        except httpx.HTTPError as error:
            raise SilentBankError(type(error).__name__, may_have_arrived=True) from None

    @staticmethod
    def _read(response: httpx.Response) -> bytes:
        if response.status_code not in GOOD:
            raise SilentBankError(f"HTTP status {response.status_code}", may_have_arrived=True)
        pieces, size = [], 0
        for piece in response.iter_bytes():
            size += len(piece)
            if size > LARGEST_ANSWER:
                raise SilentBankError("the answer is too large", may_have_arrived=True)
            pieces.append(piece)
        try:
            # Some banks break the lines, which is not an error.
            return base64.b64decode(b"".join(b"".join(pieces).split()), validate=True)
        except binascii.Error:
            raise SilentBankError("the answer is not Base64", may_have_arrived=True) from None


def make_tls(authorities: Path | None) -> ssl.SSLContext:
    """The system's authorities, or those of a file: for a test bank."""
    context = ssl.create_default_context(cafile=authorities)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
