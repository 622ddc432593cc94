"""Where a text is stored."""

from typing import Any

import psycopg
from psycopg import sql


def find_tables_with(owner: psycopg.Connection[Any], text: str) -> set[str]:
    """Every table of which a row contains the text."""
    names = owner.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
    look = sql.SQL("select 1 from {} t where strpos(t::text, %s) > 0 limit 1")
    return {name for (name,) in names if owner.execute(look.format(sql.Identifier(name)), [text]).fetchone()}
