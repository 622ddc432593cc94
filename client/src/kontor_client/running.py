"""The two runners of plans: one waits, the other awaits. Everything else is the same for both clients."""

import asyncio
import inspect
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import httpx

from kontor_client.answers import Answer
from kontor_client.plans import Ask, Call, Pause, Plan, Send, Step
from kontor_client.retries import Retries
from kontor_client.sessions import Login, Session

if TYPE_CHECKING:  # needs a library that nothing else of the client needs
    from kontor_client.proofs import ProofKey

T = TypeVar("T")

# The service itself gives up after 180 seconds.
TIMEOUT_SECONDS = 190.0
CONNECT_SECONDS = 10.0
RETRIES = 3


def _timeout(seconds: float) -> httpx.Timeout:
    return httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


class _Client:
    """What the clients know; nothing of it shows a token."""

    def __init__(
        self, base_url: str, token: str | None, retries: int, login: Login | None, key: "ProofKey | None"
    ) -> None:
        self.session = Session(base_url, token, login, Retries(retries), key)

    @property
    def base_url(self) -> str:
        return self.session.base_url

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.session.base_url!r})"


class AsyncRunner(_Client):
    """Runs plans with asyncio."""

    def __init__(
        self,
        base_url: str,
        token: str | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        retries: int = RETRIES,
        login: Login | None = None,
        dpop_key: "ProofKey | None" = None,
    ) -> None:
        super().__init__(base_url, token, retries, login, dpop_key)
        self._http = httpx.AsyncClient(transport=transport, timeout=_timeout(timeout_seconds), follow_redirects=False)

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Any call of the API. `path` is a path, or an href that the service gave.

        4xx and 5xx raise `ApiError`, except 451: its Location is the web form. Redirects are not followed.
        """
        return await self.run(self.session.perform(Call(method.upper(), path, params, json, content, headers)))

    async def run(self, plan: Plan[T]) -> T:
        try:
            step = next(plan)
            while True:
                try:
                    result = await self._do(step)
                except Exception as error:
                    step = plan.throw(error)
                else:
                    step = plan.send(result)
        except StopIteration as end:
            value: T = end.value
            return value
        finally:
            plan.close()

    async def _do(self, step: Step) -> Any:
        match step:
            case Call():
                return await self.run(self.session.perform(step))
            case Send(method, url, headers, content):
                request = self._http.build_request(method, url, headers=dict(headers), content=content)
                return await self._http.send(request)
            case Pause(seconds):
                return await asyncio.sleep(seconds)
            case Ask(function, arguments):
                result = function(*arguments)
                return await result if inspect.isawaitable(result) else result

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class SyncRunner(_Client):
    """Runs plans in the calling thread."""

    def __init__(
        self,
        base_url: str,
        token: str | None = None,
        *,
        transport: httpx.BaseTransport | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        retries: int = RETRIES,
        login: Login | None = None,
        dpop_key: "ProofKey | None" = None,
    ) -> None:
        super().__init__(base_url, token, retries, login, dpop_key)
        self._http = httpx.Client(transport=transport, timeout=_timeout(timeout_seconds), follow_redirects=False)

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Any call of the API. `path` is a path, or an href that the service gave.

        4xx and 5xx raise `ApiError`, except 451: its Location is the web form. Redirects are not followed.
        """
        return self.run(self.session.perform(Call(method.upper(), path, params, json, content, headers)))

    def run(self, plan: Plan[T]) -> T:
        try:
            step = next(plan)
            while True:
                try:
                    result = self._do(step)
                except Exception as error:
                    step = plan.throw(error)
                else:
                    step = plan.send(result)
        except StopIteration as end:
            value: T = end.value
            return value
        finally:
            plan.close()

    def _do(self, step: Step) -> Any:
        match step:
            case Call():
                return self.run(self.session.perform(step))
            case Send(method, url, headers, content):
                request = self._http.build_request(method, url, headers=dict(headers), content=content)
                return self._http.send(request)
            case Pause(seconds):
                return time.sleep(seconds)
            case Ask(function, arguments):
                return function(*arguments)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
