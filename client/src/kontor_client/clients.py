"""The two clients: the same operations, once to await and once to wait for."""

from typing import Any, Self

from kontor_client.async_methods import AsyncMethods
from kontor_client.sessions import client_login, key_login, user_login
from kontor_client.sync_methods import SyncMethods


class AsyncKontor(AsyncMethods):
    """A client for asyncio."""

    @classmethod
    async def login(
        cls,
        base_url: str,
        client: str,
        client_secret: str,
        username: str,
        password: str,
        *,
        scope: str | None = None,
        **options: Any,
    ) -> Self:
        """A client with a user's token, which is renewed as long as the password is right."""
        made = cls(base_url, login=user_login(client, client_secret, username, password, scope), **options)
        return await made._with_token()

    @classmethod
    async def login_client(
        cls, base_url: str, client: str, client_secret: str, *, scope: str | None = None, **options: Any
    ) -> Self:
        """A client with a token of a tenant's client, such as the admin client."""
        return await cls(base_url, login=client_login(client, client_secret, scope), **options)._with_token()

    @classmethod
    async def login_with_key(cls, base_url: str, api_key: str, **options: Any) -> Self:
        """A client with a user's token for an API key."""
        return await cls(base_url, login=key_login(api_key), **options)._with_token()

    async def _with_token(self) -> Self:
        try:
            await self.run(self.session.renew_token())
        except BaseException:
            await self.close()
            raise
        return self


class Kontor(SyncMethods):
    """A client without asyncio."""

    @classmethod
    def login(
        cls,
        base_url: str,
        client: str,
        client_secret: str,
        username: str,
        password: str,
        *,
        scope: str | None = None,
        **options: Any,
    ) -> Self:
        """A client with a user's token, which is renewed as long as the password is right."""
        made = cls(base_url, login=user_login(client, client_secret, username, password, scope), **options)
        return made._with_token()

    @classmethod
    def login_client(
        cls, base_url: str, client: str, client_secret: str, *, scope: str | None = None, **options: Any
    ) -> Self:
        """A client with a token of a tenant's client, such as the admin client."""
        return cls(base_url, login=client_login(client, client_secret, scope), **options)._with_token()

    @classmethod
    def login_with_key(cls, base_url: str, api_key: str, **options: Any) -> Self:
        """A client with a user's token for an API key."""
        return cls(base_url, login=key_login(api_key), **options)._with_token()

    def _with_token(self) -> Self:
        try:
            self.run(self.session.renew_token())
        except BaseException:
            self.close()
            raise
        return self
