"""Many imports of one user at once: each is stored, and no booking twice."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from kontor.domain.errors import NotFoundError
from kontor.services.statements import imports
from kontor.services.statements.imports import Owner

AT_ONCE = 8  # a user may have no more in progress
HEADER = "Tag;Was;Umsatz"
FORM = {"Tag": "buchungsdatum", "Was": "verwendungszweck", "Umsatz": "betrag"}


def write(*texts):
    return "\n".join([HEADER, *(f"02.11.2026;{text};-3,50" for text in texts)]).encode()


def test_files_of_one_user_at_once_are_all_stored(sender):
    sender.describe()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(sender.send, [write("Brot", f"Nr. {number}") for number in range(AT_ONCE)]))
    assert [answer.status_code for answer in answers] == [201] * AT_ONCE
    (product,) = sender.customer.products("dateien")
    texts = [row["verwendungszweck"] for row in sender.customer.transactions(product)]
    assert sorted(texts) == sorted(["Brot", *(f"Nr. {number}" for number in range(AT_ONCE))])


@pytest.fixture
async def owner_of_files(services, customer, monkeypatch):
    """Whose data changes with every plan, so that it is locked while the last one is made."""
    monkeypatch.setattr(imports, "PLAN_ATTEMPTS", 0)
    assert customer.post("/customer/v2/imports/forms", {
        "name": "Hausbank", "spalten": FORM, "datumsformat": "dd.mm.yyyy", "dezimalzeichen": ",",
    }).status_code == 201  # fmt: skip
    users = await services.users.list_users_by_operator(customer.tenant.name)
    user = next(user for user in users if user.username == customer.username)
    return Owner(user.id, user.pseudonym, user.tenant_id, "operator")


async def test_an_import_ends_although_the_data_has_changed_with_each_plan(services, customer, owner_of_files):
    first = await services.imports.import_file(owner_of_files, "dateien", write("Brot"), is_kept=True)
    again = await services.imports.import_file(owner_of_files, "dateien", write("Brot", "Milch"), is_kept=True)
    assert [(len(read.accounts[0].added), read.accounts[0].known) for read in (first, again)] == [(1, 0), (1, 1)]
    (product,) = customer.products("dateien")
    assert sorted(row["verwendungszweck"] for row in customer.transactions(product)) == ["Brot", "Milch"]
    kept = await services.imports.read_result(owner_of_files, again.id)
    assert [account.added for account in kept.accounts] == [1]


async def test_a_product_that_is_gone_meanwhile_is_not_found(services, owner_of_files):
    with pytest.raises(NotFoundError):
        await services.imports.import_file(owner_of_files, "gone", write("Brot"), product_id=uuid4())
