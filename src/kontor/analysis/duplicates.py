"""Accounts that several products report, as analyses see them: one account, each booking once."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time

from msgspec import structs

from kontor.analysis.records import Account, Record
from kontor.domain.duplicates import Source, find_repeated, group_sources, pick_balance
from kontor.domain.products import Product, ProductCategory
from kontor.domain.transactions import FIRST_YEAR, Transaction

NOON = time(12)


@dataclass(frozen=True, slots=True)
class SharedAccount:
    """Products that are one account, by id.

    `products` are the freshest first, `balance_of` is the one whose balance counts. `repeated` names the transactions
    that repeat another one, with the one that counts. `corrected` are transactions whose category the user has set.
    """

    products: tuple[str, ...]
    balance_of: str
    repeated: Mapping[str, str]
    corrected: Collection[str] = field(default_factory=frozenset)


def find_shared(
    accounts: Sequence[Account], records: Sequence[Record], transactions: Sequence[Transaction]
) -> list[SharedAccount]:
    """Accounts of a caller that share an IBAN; the freshest is the one with the newest booking.

    `records` and `transactions` are the same rows.
    """
    groups = group_sources(_make_source(account) for account in accounts if account.iban)
    ledgers: dict[str, dict[str, Transaction]] = {source.id: {} for group in groups for source in group}
    if not ledgers:
        return []
    for record, transaction in zip(records, transactions, strict=True):
        if record.account in ledgers:
            ledgers[record.account][record.id] = transaction
    return [
        SharedAccount(
            tuple(source.id for source in group),
            pick_balance(group).id,
            find_repeated([ledgers[source.id] for source in group]),
        )
        for group in groups
    ]


def _make_source(account: Account) -> Source:
    product = Product(
        account.id, account.category, account.name, account.holder, account.currency, balance=account.balance
    )
    day = account.data_until or date(FIRST_YEAR, 1, 1)
    return Source(account.id, account.id, "", datetime.combine(day, NOON, UTC), product, account.iban)


def join_accounts(
    records: Sequence[Record], accounts: Sequence[Account], shared: Sequence[SharedAccount]
) -> tuple[list[Record], list[Account]]:
    """Each shared account as its freshest product, with all bookings of the others that it does not have itself."""
    by_id = {account.id: account for account in accounts}
    joined = {shared_account.products[0]: _join(shared_account, by_id) for shared_account in shared}
    freshest = {product: shared_account.products[0] for shared_account in shared for product in shared_account.products}
    shown = [
        joined.get(account.id, account) for account in accounts if freshest.get(account.id, account.id) == account.id
    ]
    return _join_records(records, freshest, shared), shown


def _join(shared: SharedAccount, by_id: Mapping[str, Account]) -> Account:
    """The freshest product says what the account is; what it leaves open, the others say."""
    products = [by_id[product] for product in shared.products]
    # Checking is also what a product is called whose kind nobody has said, as in most files.
    categories = [product.category for product in products if product.category is not ProductCategory.CHECKING]
    return structs.replace(
        products[0],
        category=categories[0] if categories else ProductCategory.CHECKING,
        name=_pick([product.name for product in products]),
        holder=_pick([product.holder for product in products]),
        iban=_pick([product.iban for product in products]),
        balance=by_id[shared.balance_of].balance,
        data_until=max((product.data_until for product in products if product.data_until is not None), default=None),
    )


def _pick(texts: Sequence[str]) -> str:
    return next((text for text in texts if text), "")


def _join_records(
    records: Sequence[Record], freshest: Mapping[str, str], shared: Sequence[SharedAccount]
) -> list[Record]:
    by_id = {record.id: record for record in records if record.account in freshest}
    # A row that came or went while the facts were read has no partner any more: it counts itself.
    repeated = {
        key: kept
        for shared_account in shared
        for key, kept in shared_account.repeated.items()
        if key in by_id and kept in by_id
    }
    corrected = frozenset().union(*(shared_account.corrected for shared_account in shared))
    # The user has corrected the row of one access: the correction holds for the booking.
    corrections = {kept: by_id[key] for key, kept in repeated.items() if key in corrected and kept not in corrected}
    # What was learnt concerns later bookings, and this one was known to another access without it.
    unlearnt = {
        kept: by_id[key] for key, kept in repeated.items() if by_id[kept].is_learnt and not by_id[key].is_learnt
    }
    # Parts hold for the booking too.
    splits = {
        kept: by_id[key]
        for key, kept in repeated.items()
        if by_id[key].part_categories and by_id[key].amount == by_id[kept].amount and not by_id[kept].part_categories
    }
    joined = []
    for record in records:
        if record.id in repeated:
            continue
        account = freshest.get(record.account)
        if account is None:
            joined.append(record)
            continue
        meaning = corrections.get(record.id) or unlearnt.get(record.id, record)
        split = splits.get(record.id, record)
        joined.append(
            structs.replace(
                record,
                account=account,
                category=meaning.category,
                insurance_type=meaning.insurance_type,
                own_category=meaning.own_category,
                part_amounts=split.part_amounts,
                part_categories=split.part_categories,
                part_own_categories=split.part_own_categories,
            )
        )
    return joined
