"""A user of the demo bank who answers what is asked."""

from typing import Any


class PlainPerson:
    def choose_method(self, methods: list[Any]) -> int:
        return int(methods[0].code)

    def choose_medium(self, media: list[Any]) -> str:
        return str(media[0].name)

    def enter_tan(self, challenge: Any, is_repeated: bool) -> str:
        return "2"

    def confirm(self, challenge: Any) -> None:
        pass

    def follow_redirect(self, url: str) -> str:
        raise AssertionError(f"this bank has no pages: {url}")

    def decide_payee(self, message: Any) -> bool:
        return True
