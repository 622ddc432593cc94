"""`selectedBankProducts`: which products of an access are kept."""

from banking import ACCESSES, new_id

LOGIN = "test_bank_message"


def select(customer, access_id, chosen):
    return customer.post(ACCESSES, {access_id: {"selectedBankProducts": chosen}})


def list_ids(customer, access_id):
    return {product["id"] for product in customer.products(access_id)}


def test_a_selection_holds_at_once_without_a_call_of_the_bank(customer, owner):
    access_id = customer.add_complete(LOGIN)
    chosen = min(list_ids(customer, access_id))
    fetches = owner.execute("select count(*) from fetches where access_id = %s", [access_id]).fetchone()
    assert select(customer, access_id, [chosen]).status_code == 201
    assert list_ids(customer, access_id) == {chosen}
    assert owner.execute("select count(*) from fetches where access_id = %s", [access_id]).fetchone() == fetches


def test_null_lifts_a_selection_and_products_come_back(customer):
    access_id = customer.add_complete(LOGIN)
    everything = list_ids(customer, access_id)
    select(customer, access_id, [min(everything)])
    assert customer.post(ACCESSES, {access_id: {}}).status_code == 201
    assert list_ids(customer, access_id) == {min(everything)}  # nothing was said about the selection
    assert select(customer, access_id, None).status_code == 201
    customer.wait_until(access_id, lambda shown: {product["id"] for product in shown["bankprodukte"]} == everything)
    assert customer.refresh(access_id).status_code == 201
    assert list_ids(customer, access_id) == everything


def test_a_product_that_was_deselected_can_be_selected_again(customer):
    access_id = customer.add_complete(LOGIN)
    first, *others = sorted(list_ids(customer, access_id))
    select(customer, access_id, [first])
    assert select(customer, access_id, others).status_code == 201
    customer.wait_until(access_id, lambda shown: {product["id"] for product in shown["bankprodukte"]} == set(others))


def test_an_unknown_product_is_400_and_changes_nothing(customer):
    access_id, unknown = customer.add_complete(LOGIN), new_id()
    everything = list_ids(customer, access_id)
    answer = select(customer, access_id, [min(everything), unknown])
    assert answer.status_code == 400
    assert unknown in answer.json()["message"]
    assert f"{access_id}.selectedBankProducts" in answer.json()["message"]
    assert list_ids(customer, access_id) == everything


def test_an_unknown_product_of_a_new_access_is_told_with_the_banks_answer(customer):
    access_id, unknown = new_id(), new_id()
    customer.add_complete(LOGIN, access_id=access_id, selectedBankProducts=[unknown])
    assert customer.products(access_id) == []
    issues = customer.read(f"{ACCESSES}/{access_id}/issues")["messages"]
    assert [unknown in issue.get("details", "") for issue in issues if issue["code"] == "BA1060"] == [True]
