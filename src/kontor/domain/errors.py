"""What a use case may answer instead of a result. Each carries a text for the developer who made the call."""


class KontorError(Exception):
    """Base of all expected errors; anything else is a defect."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class NotFoundError(KontorError):
    """No such object, or somebody else's: the two are told apart nowhere."""

    def __init__(self, message: str = "There is no such object.") -> None:
        super().__init__(message)


class InvalidError(KontorError):
    """A value that cannot be accepted. `field` is its path in the request."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.reason = message


class ConflictError(KontorError):
    """The request contradicts what is stored."""


class NotAllowedNowError(KontorError):
    """The object's state forbids this method."""


class TooManyAttemptsError(KontorError):
    """Slowed down after repeated failures."""

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(f"Too many failed attempts. Try again in {retry_after_seconds} seconds.")
        self.retry_after_seconds = retry_after_seconds


class BusyError(KontorError):
    """Another operation holds what this one needs; it may be tried again soon."""


class TooManyCallsError(KontorError):
    """The user or the client has as many calls in progress as it may have."""

    def __init__(self, message: str, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class TooLargeError(KontorError):
    """More than is taken at once: rows, or memory that the work needs."""


class DeadlineExceededError(KontorError):
    """The work was ended at its deadline."""


class UnavailableError(KontorError):
    """Nothing is wrong with the call; it may be repeated soon."""

    def __init__(self, message: str, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds
