"""What follows from transactions: pure functions of rows and a date.

`tag`, `find_contracts` and `analyse` are the public API for other programs (docs/guides/library.md). The names are
loaded when they are used, so that the modules of this package stay light to import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kontor.analysis.library import Analysis, analyse, find_contracts, tag
    from kontor.analysis.tables import RowError

__all__ = ["Analysis", "RowError", "analyse", "find_contracts", "tag"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "tables" if name == "RowError" else "library"
    return getattr(import_module(f"{__name__}.{module}"), name)
