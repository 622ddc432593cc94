"""Distributing tables of customers by user over the workers of a Citus cluster: what is to be done, and doing it.

Safe to repeat: what is done already is not planned again, and each table is distributed in a transaction of its own.
"""

from dataclasses import dataclass

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from kontor.domain.secrets import Secret
from kontor.storage.connections import connect_blocking
from kontor.storage.distribution import DISTRIBUTED, FIRST, LOCAL
from kontor.storage.migrate import MIGRATION_OPTIONS, MigrationError, require_migrated

Connection = psycopg.Connection[TupleRow]

OLDEST_VERSION = 13  # `create_distributed_table` of older ones was never tried
FIND_VERSION = "select split_part(extversion, '.', 1)::integer from pg_extension where extname = 'citus'"
COUNT_WORKERS = "select count(*) from pg_dist_node where groupid <> 0 and isactive and noderole = 'primary'"
LIST_FOREIGN = """
    select relname from pg_class where relnamespace = 'public'::regnamespace and relname = any(%s)
        and not pg_has_role(relowner, 'usage') order by relname
"""
# Answers of the workers: text of each, or null where one failed.
ASK_WORKERS = "select nodename || ':' || nodeport, case when success then result end from run_command_on_workers(%s)"
HAS_ROLE = "select count(*) from pg_roles where rolname = {}"
LIST_PLACES = """
    select c.relname, p.partmethod::text, p.colocationid, column_to_column_name(p.logicalrelid, p.partkey)
    from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid where c.relnamespace = 'public'::regnamespace
"""
LIST_REFERENCES = """
    select c.relname, f.conname, r.relname from pg_constraint f
        join pg_class c on c.oid = f.conrelid join pg_class r on r.oid = f.confrelid
    where f.contype = 'f' and c.relnamespace = 'public'::regnamespace and c.relname = any(%s)
        and not r.relname = any(%s)
    order by c.relname, f.conname
"""
LIST_PROCESSES = """
    select distinct application_name from pg_stat_activity
    where datname = current_database() and application_name like 'kontor%%' and pid <> pg_backend_pid()
"""
DISTRIBUTE = "select create_distributed_table(%s, 'user_id', colocate_with => %s)"
FREE_LOCAL = "select truncate_local_data_after_distributing_table(%s)"


class ClusterError(MigrationError):
    """The database cannot be distributed, in words for the operator."""


@dataclass(frozen=True, slots=True)
class Table:
    """Where the rows of a table are, where they belong, and why."""

    name: str
    is_distributed: bool
    belongs_distributed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What `apply_plan` does: foreign keys to drop, as (table, name, referred table), and tables to distribute."""

    tables: tuple[Table, ...]
    references: tuple[tuple[str, str, str], ...]
    missing: tuple[str, ...]

    @property
    def is_done(self) -> bool:
        return not self.references and not self.missing


def make_plan(owner_url: Secret, app_role: str | None) -> Plan:
    """Changes nothing. Refuses where the cluster, or our rights in it, would not do."""
    require_migrated(owner_url)
    with connect_blocking(owner_url, autocommit=True, options=MIGRATION_OPTIONS) as connection:
        _refuse_unusable(connection, app_role)
        return _read_plan(connection)


def apply_plan(owner_url: Secret, app_role: str | None) -> Plan:
    """Distribute what is missing, while no process of Kontor runs. Returns what was done."""
    require_migrated(owner_url)
    with connect_blocking(owner_url, autocommit=True, options=MIGRATION_OPTIONS) as connection:
        _refuse_unusable(connection, app_role)
        _refuse_processes(connection)
        plan = _read_plan(connection)
        for table in DISTRIBUTED:
            with connection.transaction():
                _drop_references(connection, plan, table)
                if table in plan.missing:
                    connection.execute(DISTRIBUTE, [table, "none" if table == FIRST else FIRST])
        for table in DISTRIBUTED:  # also those that an interrupted attempt has left
            connection.execute(FREE_LOCAL, [table])
        return plan


# Parts


def _refuse_unusable(connection: Connection, app_role: str | None) -> None:
    row = connection.execute(FIND_VERSION).fetchone()
    if row is None:
        raise ClusterError("The database has no extension citus. Run `create extension citus` on every node first.")
    if row[0] < OLDEST_VERSION:
        raise ClusterError(f"Citus {row[0]} is too old; version {OLDEST_VERSION} or newer is needed.")
    workers = connection.execute(COUNT_WORKERS).fetchone()
    if workers == (0,):
        raise ClusterError("The cluster has no active worker. Add one with `select citus_add_node('host', 5432)`.")
    foreign = connection.execute(LIST_FOREIGN, [[*DISTRIBUTED, *LOCAL]]).fetchall()
    if foreign:
        raise ClusterError(
            f"The role of KONTOR_MIGRATION_DATABASE_URL does not own all tables, {foreign[0][0]} for one."
        )
    _refuse_workers(
        connection,
        "show max_prepared_transactions",
        "0",
        "allows no prepared transactions: set max_prepared_transactions to at least max_connections",
    )
    if app_role is not None:
        question = sql.SQL(HAS_ROLE).format(sql.Literal(app_role)).as_string(connection)
        _refuse_workers(connection, question, "0", f"does not know the role {app_role}: create it there")


def _refuse_workers(connection: Connection, question: str, bad: str, complaint: str) -> None:
    for node, answer in connection.execute(ASK_WORKERS, [question]).fetchall():
        if answer is None:
            raise ClusterError(
                f"The worker {node} does not answer our role. See its log, pg_hba.conf and pg_dist_authinfo."
            )
        if answer == bad:
            raise ClusterError(f"The worker {node} {complaint}.")


def _refuse_processes(connection: Connection) -> None:
    found = [row[0] for row in connection.execute(LIST_PROCESSES).fetchall()]
    if found:
        raise ClusterError(f"Processes of Kontor use the database ({', '.join(sorted(found))}). Stop them first.")


def _read_plan(connection: Connection) -> Plan:
    places = {row[0]: row[1:] for row in connection.execute(LIST_PLACES).fetchall()}
    wrong = [name for name in LOCAL if name in places]
    first = places.get(FIRST)
    for name in DISTRIBUTED:
        if name in places:
            method, group, column = places[name]
            if (method, column) != ("h", "user_id") or first is None or group != first[1]:
                wrong.append(name)
    if wrong:
        raise ClusterError(
            f"{', '.join(wrong)}: distributed in another way than Kontor does it. Take that back with"
            f" `select undistribute_table('{wrong[0]}')`, then repeat."
        )
    references = connection.execute(LIST_REFERENCES, [list(DISTRIBUTED), list(DISTRIBUTED)]).fetchall()
    tables = [Table(name, name in places, True, "rows of customers") for name in DISTRIBUTED]
    tables += [Table(name, False, False, reason) for name, reason in LOCAL.items()]
    return Plan(
        tuple(tables),
        tuple((row[0], row[1], row[2]) for row in references),
        tuple(name for name in DISTRIBUTED if name not in places),
    )


def _drop_references(connection: Connection, plan: Plan, table: str) -> None:
    for own, name, _ in plan.references:
        if own == table:
            statement = sql.SQL("alter table {} drop constraint {}")
            connection.execute(statement.format(sql.Identifier(own), sql.Identifier(name)))
