"""Which product the account of a statement file is."""

from collections.abc import Sequence

from kontor.connectors.files.accounts import FileAccount, derive_iban
from kontor.domain.account_numbers import is_same_number
from kontor.domain.errors import InvalidError
from kontor.domain.products import Product
from kontor.domain.stored_products import StoredProduct


def check_named(accounts: Sequence[FileAccount]) -> None:
    """For a product that the caller names: only one account without a number can be meant by it."""
    if sum(not account.has_number for account in accounts) > 1:
        raise InvalidError("the file is of several accounts that have no number", "body")


def find_target(
    stored: Sequence[StoredProduct], account: FileAccount, *, is_named: bool, may_add: bool
) -> StoredProduct | None:
    """The product among these, or None where it has to be made.

    With `is_named` the caller chose the product: a file without an account number is his word for it, any other must be
    of that account. Without, accounts of files stay among themselves: those of a bank go with its access.
    """
    if is_named and not account.has_number:
        fitting = [
            stored_product
            for stored_product in stored
            if stored_product.product.category.is_depot == account.product.category.is_depot
        ]
    else:
        fitting = [
            stored_product
            for stored_product in stored
            if is_same_account(stored_product.product, account.product, is_named=is_named)
        ]
    if not fitting and not may_add:
        raise InvalidError(f"the file is of another account: {account.product.key}", "body")
    if fitting and not is_named and not may_add:
        raise InvalidError(
            f"{account.product.key} is an account of a bank: name the product, or another access", "body"
        )
    exact = [stored_product for stored_product in fitting if stored_product.product.key == account.product.key]
    return next(iter(exact or fitting), None)


def check_targets(accounts: Sequence[FileAccount], targets: Sequence[StoredProduct | None]) -> None:
    """Each account of a file goes into a product of its own: what two files say is merged, what one file says is not.

    `targets` are those of `find_target`; an account that has to be made is known by its key.
    """
    taken = set()
    for account, target in zip(accounts, targets, strict=True):
        product = account.product if target is None else target.product
        place = product.key if target is None else target.id
        if place in taken:
            raise InvalidError(f"the file has two accounts that would go into one product: {product.key}", "body")
        taken.add(place)


def is_same_account(product: Product, other: Product, *, is_named: bool = False) -> bool:
    """By IBAN where both have one, else by number and bank; what has neither is told by its key.

    Where one has an IBAN and the other a number, the general rule tells whether they are the same. Banks are compared
    by code, and by name among accounts of files, whose names are all ours.
    """
    if product.iban and other.iban:
        return product.iban == other.iban
    if product.account_number and other.account_number:
        codes = {product.bank_code, other.bank_code} - {None, ""}
        names = set() if is_named else {product.institution, other.institution} - {None, ""}
        is_one_bank = len(codes) <= 1 and len(names) <= 1
        return is_one_bank and is_same_number(product.account_number, other.account_number)
    if other.iban or other.account_number:
        wanted = _find_iban(other)
        return wanted is not None and _find_iban(product) == wanted
    return product.key == other.key


def _find_iban(product: Product) -> str | None:
    return product.iban or derive_iban(product.bank_code, product.account_number)
