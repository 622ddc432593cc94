"""Migrations run beside processes of the version before: nothing may break those, and nothing may lock them out.

What breaks (a column that goes) is right one release after the program stopped using it, and says so with `-- needs:`.
What locks a large table is never right: there is a way that does not.
"""

import re

import pytest

from kontor.storage.migrate import NEEDS, NO_TRANSACTION, Migration, read_migrations, split_statements

FIRST = 10  # those before were applied by versions that could not be upgraded while they ran

# Tables with rows per transaction, per fetch or per event. Others have rows per user at most, and take a second.
LARGE = {
    "transactions", "transaction_tags", "removed_transactions", "repeated_transactions", "positions", "push_batches",
    "fetches", "unattended_calls", "analysis_results",
    "audit_entries", "access_tokens", "webhook_deliveries", "pgqueuer_log", "provider_outcomes",
}  # fmt: skip

# Statements that are allowed all the same: (version, what they begin with) and why.
EXCEPTIONS = {
    (10, "create unique index fetches_one_per_slot"): "until then there are fetches only when somebody asked for one",
    (10, "alter table fetches validate constraint"): "as before: few rows",
}

BREAKING = {
    "a column, table, view or function goes": r"\bdrop (column|table|view|function|trigger|type)\b",
    "something is renamed": r"\brename\b",
    "a column gets another type": r"\balter column \w+ (set data )?type\b",
    "a column must be filled from now on": r"\bset not null\b",
    "a column must be filled by programs that do not know it": r"\badd column (?!.*\bdefault\b).*\bnot null\b",
    "a right is taken away": r"^revoke\b",
}
HEADER = re.compile(r"^--\s*(?:needs?\s*:?\s*\d+|no[ -]transactions?)\s*$", re.MULTILINE | re.IGNORECASE)
REPEATABLE = re.compile(
    r"create table if not exists|create (unique )?index concurrently if not exists|drop index concurrently if exists"
    r"|alter table \w+ validate constraint|alter type \w+ add value if not exists"
)


def find_statements(text: str) -> list[str]:
    """In lower case, on one line, without comments and without the bodies of functions."""
    text = re.sub(r"--[^\n]*", "", re.sub(r"\$\$.*?\$\$", "''", text, flags=re.DOTALL))
    return [statement for part in text.lower().split(";") if (statement := " ".join(part.split()))]


def find_locking(statement: str, new: set[str]) -> str | None:
    """Why this statement would keep others from a large table that was there before."""
    table = re.match(r"(?:alter|lock) table (?:only )?(?:if exists )?(\w+)", statement)
    index = re.match(r"create (?:unique )?index (?!concurrently)\w+ on (?:only )?(\w+)", statement)
    change = re.match(r"(?:update (\w+) (?:\w+ )?set|delete from (\w+))", statement)
    if index and index[1] in LARGE - new:
        return "an index is built without `concurrently`"
    if change and (change[1] or change[2]) in LARGE - new:
        return "many rows are changed at once"
    if not table or table[1] not in LARGE - new:
        return None
    if re.search(r"\b(check|references|foreign key)\b", statement) and re.search(r"\badd constraint\b", statement):
        return None if statement.endswith("not valid") else "a constraint is checked at once: say `not valid`"
    if re.search(r"\badd (constraint \w+ )?(primary key|unique)\b(?! using index)", statement):
        return "an index is built without `concurrently`"
    if re.search(
        r"\bgenerated always as \(.*\) stored\b|\bdefault (gen_random_uuid|random|clock_timestamp)\b", statement
    ):
        return "the table is written anew"
    if "validate constraint" in statement or statement.startswith("lock table"):
        return "it is locked while all rows are read; put it into a migration without transaction"
    return None


def find_faults(migration: Migration) -> list[str]:
    statements = find_statements(migration.sql)
    new = {
        found[1]
        for text in statements
        if (found := re.match(r"create (?:unlogged )?table (?:if not exists )?(\w+)", text))
    }
    faults = [
        f"`{text[:80]}`: {reason}, and nothing says since when nobody needs the old"
        for text in statements for reason, pattern in BREAKING.items()
        if re.search(pattern, text) and not migration.needs and not _is_of_new(text, new)
    ]  # fmt: skip
    if migration.is_transactional:
        faults += [
            f"`{text[:80]}`: {reason}" for text in statements
            if (reason := find_locking(text, new)) and not _is_excepted(migration.version, text)
        ]  # fmt: skip
        faults += [f"`{text[:80]}`: not in a transaction" for text in statements if " concurrently" in text]
    else:
        faults += [f"`{text[:80]}`: must bear repetition" for text in statements if not REPEATABLE.match(text)]
        if [" ".join(text.lower().split()) for text in split_statements(migration.sql)] != statements:
            faults.append("its statements do not end where lines do")
    if migration.needs >= migration.version:
        faults.append("it needs a program that comes after it")
    for line in re.findall(
        r"^--\s*(?:needs?\s*:?\s*\d+|no[ -]transactions?)\s*$", migration.sql, re.MULTILINE | re.IGNORECASE
    ):
        if not (NEEDS.match(line) or NO_TRANSACTION.match(line)):
            faults.append(f"`{line}` is not read")
    return faults


def _is_of_new(statement: str, new: set[str]) -> bool:
    found = re.match(r"alter table (?:only )?(\w+)", statement)
    return bool(found and found[1] in new)


def _is_excepted(version: int, statement: str) -> bool:
    return any(number == version and statement.startswith(begin) for number, begin in EXCEPTIONS)


@pytest.mark.parametrize(
    "migration",
    [migration for migration in read_migrations() if migration.version >= FIRST],
    ids=lambda migration: f"{migration.version:04}-{migration.name}",
)
def test_no_migration_breaks_or_locks_out_the_version_before(migration):
    assert find_faults(migration) == []


def test_every_exception_is_still_there():
    texts = {(migration.version, text) for migration in read_migrations() for text in find_statements(migration.sql)}
    for version, begin in EXCEPTIONS:
        assert any(number == version and text.startswith(begin) for number, text in texts), begin


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("alter table users drop column photo;", "goes"),
        ("drop table payments;", "goes"),
        ("alter table users rename column a to b;", "renamed"),
        ("alter table users rename to people;", "renamed"),
        ("alter table users alter column a type bigint;", "another type"),
        ("alter table users alter column a set not null;", "must be filled"),
        ("alter table users add column a text not null;", "do not know it"),
        ("revoke select on users from kontor;", "right"),
        ("create index a on transactions (b);", "concurrently"),
        ("create unique index a on fetches (b);", "concurrently"),
        ("alter table transactions add constraint a check (b > 0);", "not valid"),
        ("alter table transactions add unique (a);", "concurrently"),
        ("alter table transactions add column a uuid default gen_random_uuid();", "anew"),
        ("alter table transactions validate constraint a;", "without transaction"),
        ("update transactions set a = 1;", "many rows"),
        ("create index concurrently if not exists a on transactions (b);", "not in a transaction"),
        ("-- no transaction\ncreate index concurrently a on transactions (b);", "repetition"),
        ("-- no transaction\ncreate table a ();", "repetition"),
        ("-- no transaction\nalter table users drop column photo;", "goes"),
        ("-- needs: 99\nalter table users drop column photo;", "comes after it"),
        ("--needs 12\nselect 1;", "is not read"),
        ("-- No Transaction\nselect 1;", "is not read"),
    ],
)
def test_the_rules_find_what_they_should(text, word):
    assert [fault for fault in find_faults(Migration(20, "x", text)) if word in fault]


@pytest.mark.parametrize(
    "text",
    [
        "alter table users add column a text;",
        "alter table users add column a text not null default '';",
        "alter table transactions add constraint a check (b > 0) not valid;",
        "-- no transaction\nalter table transactions validate constraint a;",
        "-- no transaction\ncreate index concurrently if not exists a\n    on transactions (b);\n"
        "drop index concurrently if exists c; -- it is replaced by a\n",
        "-- needs: 12\nalter table users drop column photo;",
        "create table notes (a text);\ncreate index notes_by_a on notes (a);\nalter table notes rename to old_notes;",
        "create index users_by_a on users (a);",
        "-- The column is needed by nobody who needs: words\nselect 1;",
    ],
)
def test_the_rules_let_pass_what_they_should(text):
    assert find_faults(Migration(20, "x", text)) == []
