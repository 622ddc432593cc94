"""What can go wrong. Everything this package raises by itself is a KontorClientError."""

import msgspec


class Message(msgspec.Struct, frozen=True):
    """A text for the end customer (German), with its code, such as BA1011."""

    level: str
    code: str
    message: str
    details: str | None = None


class KontorClientError(Exception):
    """The base of all errors of this package."""


class UnreachableError(KontorClientError):
    """No answer came: the service cannot be reached, or the connection broke."""


class ForeignAddressError(KontorClientError):
    """An address that does not belong to the service: the token is not sent there."""


class UnexpectedAnswerError(KontorClientError):
    """The answer is not what the interface describes: another program answers there, or another version."""


class TimeLimitError(KontorClientError):
    """What was waited for did not happen in time."""


class AuthenticationNeededError(KontorClientError):
    """The bank demands strong customer authentication: `give_consent`."""


class AccessFailedError(KontorClientError):
    """The last attempt to fetch an access failed; `messages` say why, in German for the user."""

    def __init__(self, access_id: str, messages: list[Message]) -> None:
        super().__init__(f"{access_id}: " + "; ".join(f"{message.code} {message.message}" for message in messages))
        self.access_id = access_id
        self.messages = messages


class ApiError(KontorClientError):
    """An answer of 4xx or 5xx.

    `text` is the service's English sentence for developers, `messages` are its German ones for the end customer.
    `content` is the whole body; an SCA answer that does not fit (409) has the current status there.
    """

    def __init__(
        self,
        status: int,
        messages: list[Message],
        correlation_id: str | None = None,
        retry_after_seconds: float | None = None,
        *,
        text: str = "",
        is_token_invalid: bool = False,
        content: bytes = b"",
    ) -> None:
        super().__init__(status, text)
        self.status = status
        self.messages = messages
        self.correlation_id = correlation_id
        self.retry_after_seconds = retry_after_seconds
        self.text = text
        self.is_token_invalid = is_token_invalid
        self.content = content

    @property
    def codes(self) -> list[str]:
        return [message.code for message in self.messages]

    def __str__(self) -> str:
        said = self.text or "no explanation"
        codes = f" [{', '.join(self.codes)}]" if self.messages else ""
        trace = f" (correlation id {self.correlation_id})" if self.correlation_id else ""
        return f"{self.status}: {said}{codes}{trace}"
