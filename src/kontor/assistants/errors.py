"""What goes wrong in a tool, as the assistant and the person read it."""


class ToolError(Exception):
    """A refusal with the key of its text."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.key = key
        self.values = values
