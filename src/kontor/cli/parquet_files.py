"""Parquet is written by DuckDB, an extra: docs/decisions/0074-parquet-by-duckdb.md."""

from types import ModuleType

from kontor.domain.errors import InvalidError


def load_duckdb(option: str) -> ModuleType:
    """`option` is what needs it."""
    try:
        import duckdb
    except ImportError as error:
        raise InvalidError("needs DuckDB: install kontor[parquet]", option) from error
    return duckdb
