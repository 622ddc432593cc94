"""Many customers with bookings and tags, written with COPY.

A few lives are made up and tagged once, by the tagger; each customer has one of them. The rows lie on disk as they
would after years: of each customer the older half as a first fetch brings it, then month by month those of everybody.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from uuid import UUID

import psycopg

from benchmarks.endpoints import Request
from benchmarks.environment import DEMO_BANK, BenchmarkEnvironment, Customer
from kontor.analysis.tagging import NOBODY, load_tagger
from kontor.connectors.demo.people import large_person
from kontor.domain.accesses import make_product_id
from kontor.domain.refreshes import find_next_slot
from kontor.domain.transactions import find_day
from kontor.services.analyses.tagging import make_tags
from kontor.storage.tags import TAGS, VERSIONS, make_values
from kontor.storage.transactions import FIELDS

SIZES = (100, 150, 220, 300, 400, 500, 650, 800, 1000, 1500)  # transactions of a customer, each as frequent; mean 562
LATER_PASSES = 6
ACCESS = "bank"
SLOTS_KEPT = 28  # a week of refreshes
BLOCK_CHARACTERS = 4_000_000

COPY = (
    "copy transactions (user_id, product_id, id, booked_on, ordinal, batch_id, created_version, changed_version,"
    f" {FIELDS}) from stdin"
)
COPY_TAGS = (
    f"copy transaction_tags (user_id, product_id, transaction_id, tagger_version, {VERSIONS}, {TAGS}) from stdin"
)
FIRST_VERSION = 1  # of a booking, and of the trees of its tags


@dataclass(frozen=True)
class Life:
    """The lines that COPY reads, oldest booking first, without the three ids that they begin with."""

    bookings: Sequence[str]
    tags: Sequence[str]

    def pick(self, number: int) -> slice:
        """Which rows are written in this pass."""
        half = len(self.bookings) // 2
        if number == 0:
            return slice(0, half)
        rest = len(self.bookings) - half
        return slice(half + rest * (number - 1) // LATER_PASSES, half + rest * number // LATER_PASSES)


def encode_field(value: object) -> str:
    """As COPY's text format wants it."""
    if value is None:
        return r"\N"
    text = value.isoformat() if isinstance(value, datetime | date) else str(value)
    for character, escaped in (("\\", r"\\"), ("\t", r"\t"), ("\n", r"\n"), ("\r", r"\r")):
        text = text.replace(character, escaped)
    return text


def make_life(size: int, today: date) -> Life:
    entries = large_person(size, today, f"test_large+life-{size}").accounts[0].entries[-size:]
    rows = sorted((entry.transaction for entry in entries), key=lambda transaction: find_day(transaction) or today)
    tagger = load_tagger()
    tags = [make_tags(tagging) for tagging in tagger.tag(rows, NOBODY)]
    bookings = [
        [
            find_day(transaction) or today,
            number,
            None,
            FIRST_VERSION,
            FIRST_VERSION,
            *(getattr(transaction, name) for name in FIELDS.split(", ")),
        ]
        for number, transaction in enumerate(rows, 1)
    ]
    versions = [FIRST_VERSION] * len(VERSIONS.split(", "))
    meanings = [[tagger.version, *versions, *make_values(transaction_tags)] for transaction_tags in tags]
    return Life([encode_line(booking) for booking in bookings], [encode_line(meaning) for meaning in meanings])


def encode_line(values: Sequence[object]) -> str:
    return "".join(f"\t{encode_field(value)}" for value in values) + "\n"


def make_lines(
    people: Sequence[tuple[UUID, UUID, Life]], number: int, seed: int
) -> Iterator[tuple[list[str], list[str]]]:
    """Blocks of lines for both tables; rows of both have the same ids."""
    chance = random.Random(f"{seed} {number}")
    bookings: list[str] = []
    tags: list[str] = []
    length = 0
    for user_id, product_id, life in people:
        rows = life.pick(number)
        head = f"{user_id}\t{product_id}\t"
        for booking, meaning in zip(life.bookings[rows], life.tags[rows], strict=True):
            key = f"{head}{chance.getrandbits(128):032x}"
            bookings.append(key + booking)
            tags.append(key + meaning)
            length += len(booking)
        if length > BLOCK_CHARACTERS:
            yield bookings, tags
            bookings, tags, length = [], [], 0
    yield bookings, tags


@dataclass(frozen=True)
class Population:
    """`measured` have one life each; `strangers` are some others of the crowd."""

    measured: list[Request]
    strangers: list[Request]
    users: int
    transactions: int


async def populate(
    environment: BenchmarkEnvironment,
    users: int,
    strangers: int,
    say: Callable[[str], None],
    sizes: Sequence[int] = SIZES,
) -> Population:
    """In a database that is there for nothing else."""
    today = environment.services.analyses.today()
    lives = [make_life(size, today) for size in sizes]
    first = await environment.add_customer()
    with environment.owner() as owner:
        # Keys and triggers would check what is right by the way it is made; that would take the longest.
        owner.execute("set session_replication_role = replica")
        customers = copy_users(owner, first, users)
        people = [
            (customer.id, make_product_id(customer.id, ACCESS, "account"), lives[number % len(lives)])
            for number, customer in enumerate(customers)
        ]
        add_accesses(owner, people, datetime.now(UTC))
        total = 0
        for number in range(LATER_PASSES + 1):
            for bookings, tags in make_lines(people, number, seed=users):
                for statement, lines in ((COPY, bookings), (COPY_TAGS, tags)):
                    with owner.cursor().copy(statement) as copy:
                        copy.write("".join(lines))
                total += len(bookings)
            say(f"{users:,} users: {total:,} transactions stored")
        owner.execute("vacuum analyze")
    asked = (
        customers[: len(lives)] + customers[len(lives) :: max(1, (users - len(lives)) // max(1, strangers))][:strangers]
    )
    requests = [Request(make_path(customer), await environment.issue_user_token(customer)) for customer in asked]
    return Population(requests[: len(lives)], requests[len(lives) :], users, total)


# Of the whole server: what is measured later runs with the settings of every day.
CARELESS = ("fsync = off", "full_page_writes = off", "max_wal_size = '16GB'", "maintenance_work_mem = '256MB'")


def set_careless(owner: psycopg.Connection, *, is_careless: bool) -> None:
    """While rows are made up, a crash does not matter."""
    for setting in CARELESS:
        owner.execute(
            f"alter system set {setting}" if is_careless else f"alter system reset {setting.partition(' ')[0]}"
        )
    owner.execute("select pg_reload_conf()")
    if not is_careless:
        owner.execute("checkpoint")


def make_path(customer: Customer) -> str:
    return f"/customer/v2/bankzugaenge/{ACCESS}/{make_product_id(customer.id, ACCESS, 'account')}/kontoumsaetze"


def copy_users(owner: psycopg.Connection, first: Customer, count: int) -> list[Customer]:
    """As copies of the first one's row: hashing a password each would take minutes. All have its password."""
    rows = owner.execute(
        "with new as (insert into users (id, tenant_id, username, password_hash, pseudonym, data_key, wrapping_key_id)"
        " select gen_random_uuid(), tenant_id, 'user-' || n || '@example.com', password_hash,"
        " gen_random_uuid(), data_key, wrapping_key_id from users cross join generate_series(1, %(count)s) n"
        " where id = %(first)s returning id, username), given as (insert into role_users (role_id, user_id)"
        " select role_id, new.id from role_users cross join new where user_id = %(first)s)"
        " select id, username from new order by username",
        {"count": count, "first": first.id},
    ).fetchall()
    return [replace(first, id=row[0], username=row[1]) for row in rows]


def add_accesses(owner: psycopg.Connection, people: Sequence[tuple[UUID, UUID, Life]], now: datetime) -> None:
    """One each, complete and refreshed for a week; nothing is due."""
    users = [person[0] for person in people]
    slots = [find_next_slot(user_id, ACCESS, now) for user_id in users]
    owner.execute(
        "insert into accesses (user_id, id, provider_id, status, is_synced, credentials, credentials_digest, lease_key,"
        " next_refresh_at, scheduled_since) select n.id, %s, %s, 'COMPLETE', true, '\\x00', '\\x00',"
        " uuid_send(n.id), n.slot, now() - interval '8 days' from unnest(%s::uuid[], %s::timestamptz[]) n (id, slot)",
        [ACCESS, DEMO_BANK, users, slots],
    )
    owner.execute(
        "insert into products (user_id, id, access_id, bank_key, ordinal, status, category, name, holder, currency,"
        " iban, balance) select n.user_id, n.id, %s, 'account', 0, 'COMPLETE', 'CHECKING', 'Girokonto',"
        " 'Kim Beispiel', 'EUR', 'DE02120300000000202051', 1000 from unnest(%s::uuid[], %s::uuid[]) n (user_id, id)",
        [ACCESS, users, [person[1] for person in people]],
    )
    owner.execute("insert into data_versions (user_id) select unnest(%s::uuid[])", [users])
    owner.execute(
        "insert into tagging_states (user_id, tagger_version, own_ibans, own_holders)"
        " select unnest(%s::uuid[]), %s, '{DE02120300000000202051}', '{}'",
        [users, load_tagger().version],
    )
    for number in range(SLOTS_KEPT, 0, -1):
        add_past_slots(owner, number)


def add_past_slots(owner: psycopg.Connection, number: int) -> None:
    """The refresh so many slots ago of every access, and its call."""
    owner.execute(
        "with done as (insert into fetches (id, user_id, access_id, slot_at, state, is_attended, all_history, attempts,"
        " requested_at, started_at, finished_at, correlation_id) select gen_random_uuid(), user_id, id, at, 'DONE',"
        " false, false, 1, at, at, at, 'bench'"
        " from (select *, next_refresh_at - %s * interval '6 hours' as at from accesses where id = 'bank') a"
        " returning user_id, access_id, slot_at, id)"
        " insert into unattended_calls (user_id, access_id, called_at, fetch_id) select * from done",
        [number],
    )
