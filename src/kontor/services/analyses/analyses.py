"""Analyses of a user: what they read is loaded once, and answers are kept while nothing has changed."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from uuid import UUID

import msgspec

from kontor import __version__
from kontor.analysis.contracts import Contract, find_contracts, name_contracts
from kontor.analysis.day_order import order_records
from kontor.analysis.duplicates import join_accounts
from kontor.analysis.records import Account, Record
from kontor.analysis.tagging import Evidence
from kontor.domain.clocks import BERLIN
from kontor.domain.contracts import NOTHING_SET, ContractSettings, KnownContract
from kontor.domain.errors import NotFoundError
from kontor.domain.principals import Principal, user_of
from kontor.domain.stored_products import StoredProduct
from kontor.services.analyses.contracts import ContractUpdates
from kontor.services.analyses.disclosures import Disclosures
from kontor.services.analyses.duplicates import SharedLedgers, load_shared
from kontor.services.analyses.tagging import TransactionTagging
from kontor.services.compute import Compute, Packed, cut
from kontor.services.runtime import Clock
from kontor.storage import analyses, contracts, products
from kontor.storage.analyses import Question
from kontor.storage.data_versions import read_version
from kontor.storage.database import Connection, Database


@dataclass(frozen=True)
class Facts:
    """All that analyses know of somebody: bookings, accounts and the date. `user` names the person on the wire.

    `known` are the contracts that were found before. `repeated` names rows that repeat a row of another access, with
    the one that counts. `joined` names the account of each product that several accesses report.
    """

    user: str
    records: Sequence[Record]
    accounts: Sequence[Account]
    today: date
    known: Sequence[KnownContract] = ()
    repeated: Mapping[str, str] = field(default_factory=dict)
    joined: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def all_contracts(self) -> list[Contract]:
        """Also those that the user has excluded. Most analyses begin with them, so that they are found once."""
        found = find_contracts(self.records, self.accounts, self.today)
        return name_contracts(found, self.known, self.repeated)

    @cached_property
    def contracts(self) -> list[Contract]:
        """The contracts of all analyses."""
        excluded = {contract.id for contract in self.known if contract.is_excluded}
        return [contract for contract in self.all_contracts if contract.id not in excluded]

    @cached_property
    def excluded_contracts(self) -> list[Contract]:
        """Those of which the user says that they are none."""
        shown = {contract.id for contract in self.contracts}
        return [contract for contract in self.all_contracts if contract.id not in shown]

    def find_settings(self, contract_id: str) -> ContractSettings:
        """What the user has set about a contract."""
        return next((contract.settings for contract in self.known if contract.id == contract_id), NOTHING_SET)


@dataclass(frozen=True, slots=True)
class PackedFacts:
    """Facts as they go to a compute process: the rows as they were read, in pieces."""

    user: str
    rows: Packed
    accounts: Sequence[Account]
    shared: Packed  # accounts that several accesses report
    today: date
    known: Sequence[KnownContract]

    def unpack(self) -> Facts:
        records = [record for piece in self.rows for record in _records.decode(piece)]
        records.sort(key=lambda record: (record.day, record.id))
        if not self.shared:
            return Facts(self.user, order_records(records), self.accounts, self.today, self.known)
        pairs = [_ledgers.decode(packed).pair() for packed in self.shared]
        repeated = {row: kept for pair in pairs for row, kept in pair.repeated.items()}
        bookings, accounts = join_accounts(records, self.accounts, pairs)
        joined = {product: pair.products[0] for pair in pairs for product in pair.products}
        return Facts(self.user, order_records(bookings), accounts, self.today, self.known, repeated, joined)


_records = msgspec.msgpack.Decoder(list[Record])
_ledgers = msgspec.msgpack.Decoder(SharedLedgers)


def answer_facts(make: Callable[[Facts], bytes], packed: PackedFacts) -> bytes:
    """In a compute process."""
    return make(packed.unpack())


class Analyses:
    def __init__(self, database: Database, clock: Clock, tagging: TransactionTagging, compute: Compute) -> None:
        self._database = database
        self._clock = clock
        self._tagging = tagging
        self._compute = compute
        self._contracts = ContractUpdates(database, compute, self._load)
        self.disclosures = Disclosures(database, clock)

    def today(self) -> date:
        return self._clock.today()

    async def answer(self, principal: Principal, question: str, make: Callable[[Facts], bytes]) -> bytes:
        """The kept answer, or a new one. `question` names the analysis with all its options; `make` writes it.

        `make` is run in a compute process: a function of a module, or a `partial` of one.
        """
        return await self.answer_for(user_of(principal), question, make)

    async def answer_for(self, user_id: UUID, question: str, make: Callable[[Facts], bytes]) -> bytes:
        """As `answer`, for background work, which has no principal."""
        await self._tagging.ensure_user_tagged(user_id)
        asked = Question(question, self._clock.today(), self.made_by)
        async with self._database.connect(user_id) as connection:
            kept = await analyses.find_answer(connection, user_id, asked)
        if kept is not None:
            return kept
        answer, version = await self._make(user_id, make)
        async with self._database.connect(user_id) as connection:
            await analyses.store_answer(connection, user_id, asked, version, answer)
        return answer

    async def compute_uncached(self, principal: Principal, make: Callable[[Facts], bytes]) -> bytes:
        """As `answer`, for what is asked once: nothing is kept."""
        user_id = user_of(principal)
        await self._tagging.ensure_user_tagged(user_id)
        answer, _ = await self._make(user_id, make)
        return answer

    async def _make(self, user_id: UUID, make: Callable[[Facts], bytes]) -> tuple[bytes, int]:
        """With the version of the data."""
        loaded = await self._contracts.load(user_id, self.made_by, make)
        if loaded.answer is not None:
            return loaded.answer, loaded.version
        return await self._compute.run(answer_facts, make, loaded.facts, owner=user_id), loaded.version

    async def update_contracts(self, principal: Principal) -> None:
        """Before periods of transactions are read."""
        await self._tagging.ensure_tagged(principal)
        await self._contracts.update(user_of(principal), self._clock.today(), self.made_by)

    async def require_contract(self, principal: Principal, contract_id: UUID) -> None:
        await self.update_contracts(principal)
        async with self._database.connect(principal.user_id) as connection:
            if await contracts.find_settings(connection, user_of(principal), contract_id) is None:
                raise NotFoundError

    async def change_contract(self, principal: Principal, contract_id: UUID, changes: Mapping[str, object]) -> None:
        """Set fields of `ContractSettings`; None resets one."""
        await self._contracts.change(principal, contract_id, changes)

    async def explain_periods(self, principal: Principal, ids: Sequence[UUID]) -> dict[UUID, list[Evidence]]:
        """The contract of each transaction; nothing where there is none."""
        async with self._database.connect(principal.user_id) as connection:
            found = await contracts.find_of_transactions(connection, user_of(principal), ids)
        return {row: [Evidence("contract", str(contract_id), period, 1.0)] for row, contract_id, period in found}

    async def load_facts_by_operator(self, user_id: UUID) -> Facts:
        """For the command line, which nobody reaches over the network."""
        async with self._database.transaction(user_id) as connection:
            await self._tagging.retag_changed(connection, user_id)
        return (await self._contracts.load(user_id, self.made_by)).facts.unpack()

    @property
    def made_by(self) -> str:
        """The versions of the program and of the tagger."""
        return f"{__version__} {self._tagging.version}"

    async def _load(self, connection: Connection, user_id: UUID) -> tuple[PackedFacts, int]:
        """The connection sees one state of the data."""
        version = await read_version(connection, user_id)
        stored = await products.list_products(connection, user_id)
        rows = await analyses.load_bookings(connection, user_id)
        shared = await load_shared(connection, user_id, stored)
        known = await contracts.list_known(connection, user_id)
        packed: Packed = []
        for piece in cut(rows):
            packed.append(msgspec.msgpack.encode(piece))
            await asyncio.sleep(0)
        ledgers = [msgspec.msgpack.encode(shared_ledgers) for shared_ledgers in shared]
        accounts = [make_account(product) for product in stored]
        return PackedFacts(str(user_id), packed, accounts, ledgers, self._clock.today(), known), version


def make_account(stored: StoredProduct) -> Account:
    product = stored.product
    return Account(
        id=str(stored.id),
        category=product.category,
        name=product.name,
        holder=product.holder,
        iban=product.iban or "",
        currency=product.currency or "EUR",
        balance=product.balance,
        data_until=stored.updated_at.astimezone(BERLIN).date(),
    )
