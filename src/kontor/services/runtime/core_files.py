"""A process that holds keys and PINs leaves no copy of its memory behind when it crashes."""

import resource


def forbid_core_files() -> None:
    """For good: the process cannot raise the limit again, and what it starts inherits it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
