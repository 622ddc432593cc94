"""`Accept-Language`: names, descriptions and messages in the caller's language, and everything else unchanged."""

import pytest

from banking import new_customer

AI = "/customer/v2/ai"
TREES = "/tags/v1/tag-trees"
SAME_WORDS = {"Streaming", "Cyber", "April", "August", "September", "November"}
TRANSLATED = ("displayName", "description", "message")


@pytest.fixture(scope="module")
def mover(bank_server, shared):
    customer = new_customer(shared)
    customer.add_complete("umzug+languages")
    return customer


def ask(customer, url, language=None):
    answer = customer.get(url, headers={} if language is None else {"Accept-Language": language})
    assert answer.status_code == 200, answer.text
    return answer


def list_views(customer):
    [access] = customer.read("/customer/v2/bankzugaenge").values()
    rows = access["bankprodukte"][0]["relations"]
    rows = next(relation["href"] for relation in rows if relation["rel"] == "get_kontoumsaetze")
    trees = ("categories", "insurances", "business-partners", "periods")
    yield from (f"{rows}?tag={tree}&limit=200" for tree in trees)
    analyses = ("contracts", "cashflow", "disposable-money", "life-events", "life-stages", "sales-triggers")
    yield from (f"{AI}/{name}/" for name in analyses)
    yield f"{AI}/cashflow/?focus=time&tag=CATEGORIES&catLevel=sub"
    yield from (f"{TREES}/{number}/tag-tree-items/" for number in (1, 2, 4, 5, 6, 9, 10, 12, 15))


def strip(value):
    """Without what is said in the caller's language."""
    if isinstance(value, dict):
        return {name: strip(part) for name, part in value.items() if name not in TRANSLATED}
    return [strip(part) for part in value] if isinstance(value, list) else value


def list_names(value):
    """Names and descriptions of items and trees, but of partners, which are names in every language."""
    if isinstance(value, dict):
        if value.get("systemName") and value.get("tagTree", value).get("systemName") != "BUSINESS_PARTNERS":
            yield from (value[name] for name in ("displayName", "description") if name in value)
        for part in value.values():
            yield from list_names(part)
    elif isinstance(value, list):
        for part in value:
            yield from list_names(part)


def test_every_view_has_english_names_and_is_otherwise_the_same(mover):
    for url in list_views(mover):
        german, english = ask(mover, url), ask(mover, url, "en-GB, de;q=0.5")
        assert (german.headers["content-language"], english.headers["content-language"]) == ("de", "en"), url
        assert strip(english.json()) == strip(german.json()), url
        both = zip(list_names(german.json()), list_names(english.json()), strict=True)
        same = {name for name, other in both if name == other and not name.isdecimal()}
        assert same <= {"Streaming", "Cyber", "Hobby"} | {
            f"{name} {year}" for name in MONTHS for year in range(2000, 2050)
        }


MONTHS = ("April", "August", "September", "November")


def test_a_kept_analysis_is_kept_for_each_language(mover):
    url = f"{AI}/life-stages/"
    german, english = ask(mover, url).content, ask(mover, url, "en").content
    assert b"Angestellt" in german
    assert b"Employed" in english
    assert (ask(mover, url).content, ask(mover, url, "en").content) == (german, english)


@pytest.mark.parametrize("accepted", [None, "*", "fr", "fr, *;q=0.5", "en;q=0", "de, en", "en;q=x", ""])
def test_without_a_supported_language_it_is_german(mover, accepted):
    answer = ask(mover, f"{TREES}/1/", accepted)
    assert answer.json()["displayName"] == "Kategorien"
    assert answer.headers["content-language"] == "de"
    assert answer.headers["vary"] == "Accept-Language"


@pytest.mark.parametrize("accepted", ["en", "EN-us", "fr, en;q=0.2", "de;q=0.4, en;q=0.5"])
def test_the_best_supported_language_counts(mover, accepted):
    assert ask(mover, f"{TREES}/1/", accepted).json()["displayName"] == "Categories"


def test_messages_for_end_customers_are_translated_and_codes_are_not(customer, bank_server):
    access_id = customer.add("leer+languages", pin="wrong")
    customer.wait_until(access_id, lambda access: "BA1011" in customer.issue_codes(access_id))
    url = f"/customer/v2/bankzugaenge/{access_id}/issues"
    [german], [english] = (ask(customer, url, language).json()["messages"] for language in ("de", "en"))
    assert german["code"] == english["code"] == "BA1011"
    assert german["message"].startswith("Die Zugangsdaten sind nicht korrekt.")
    assert english["message"].startswith("The credentials are incorrect.")


def test_the_message_of_an_error_is_english_in_every_language(mover):
    answers = [
        mover.get("/customer/v2/bankzugaenge/nobody", headers={"Accept-Language": name}) for name in ("de", "en")
    ]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert len({answer.json()["message"] for answer in answers}) == 1
    assert [answer.headers["content-language"] for answer in answers] == ["de", "en"]


def test_other_addresses_do_not_depend_on_the_language(mover):
    answer = mover.http.get("/providers/v2", headers={"Accept-Language": "en"})
    assert "content-language" not in answer.headers
