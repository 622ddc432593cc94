"""Values that must never be printed."""

from typing import final


@final
class Secret:
    """Holds a text that no log, error, repr or serialiser may show. Only `reveal()` gives it out."""

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        self.__text = text

    def reveal(self) -> str:
        return self.__text

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.reveal() == self.__text

    def __hash__(self) -> int:
        return hash(self.__text)

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a Secret is not serialised")
