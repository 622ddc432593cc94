"""The search finds what a person means."""

import pytest
from catalogue_view import EVERYTHING as CATALOGUE
from catalogue_view import count_calls, load_again
from hypothesis import given
from hypothesis import strategies as st

from kontor.connectors.catalogue.aliases import HEAD_OFFICES, SYNONYMS
from kontor.connectors.catalogue.search import fold
from many_examples import many_examples

CODES = {provider.bank_code for provider in CATALOGUE.list()}

FIRST_HITS = """
sparkasse köln           37050198
sparkasse koeln          37050198
sparkasse Koln           37050198
SPARKASSE KÖLN           37050198
spk köln                 37050198
Sparkasse KölnBonn       37050198
sparkasse bonn           37050198
kölnbonn                 37050198
kreissparkasse köln      37050299
köln kreissparkasse      37050299
ksk köln                 37050299
ksk koeln                37050299
ing                      50010517
ING-DiBa                 50010517
diba                     50010517
dkb                      12030000
deutsche kreditbank      12030000
postbank                 10010010
postbank köln            37010050
comdirect                20041133
voba köln                38060186
volksbank bonn           38060186
volksbank köln bonn      38060186
apobank                  30060601
ärztebank                30060601
aerztebank               30060601
deutsche bank            50070010
deutsche bank berlin     10070000
berlin deutsche bank     10070000
coba                     50040000
commerzbank              50040000
commerzbank hamburg      20040000
coba hamburg             20040000
haspa                    20050550
hamburger sparkasse      20050550
sparkasse münchen        70150000
stadtsparkasse muenchen  70150000
sskm                     70150000
berliner sparkasse       10050000
berliner volksbank       10090000
gls                      43060967
hvb                      70020270
hypovereinsbank          70020270
unicredit                70020270
n26                      10011001
trade republic           10012345
consors                  76030080
targobank                30020900
santander                31010833
sparda münchen           70090500
psd nürnberg             76090900
bbbank                   66090800
bw bank                  60050101
gießen sparkasse         51350025
giessen sparkasse        51350025
stadtsparkasse duesseldorf 30050110
frankfurter sparkasse    50050201
sparkasse ffm            50050201
1822direkt               50050222
1822                     50050222
umweltbank               76035000
ethikbank                83094495
kd-bank                  35060190
37050198                 37050198
370 501 98               37050198
370501                   37050198
COLSDE33                 37050198
INGDDEFFXXX              50010517
ingd                     50010517
sparkase köln            37050198
sparkasse kölm           37050198
volksbnak köln           38060186
postbnak                 10010010
comdirekt                20041133
demo                     99999999
""".strip().splitlines()


def test_the_first_hit_is_the_bank_that_is_meant():
    wrong = {}
    for line in FIRST_HITS:
        query, code = line.rsplit(maxsplit=1)
        found = CATALOGUE.list(q=query)
        if not found or found[0].bank_code != code:
            wrong[line] = [provider.name for provider in found[:5]]
    assert wrong == {}


@pytest.mark.parametrize(
    ("query", "beginning"),
    [("voba", "Volksbank"), ("raiba", "Raiffeisenbank"), ("ksk", "Kreissparkasse"), ("spk", "Sparkasse")],
)
def test_nicknames_of_a_kind_list_that_kind_first(query, beginning):
    assert all(provider.name.startswith(beginning) for provider in CATALOGUE.list(q=query)[:20])


def test_vr_bank_is_found_written_together_or_apart():
    for query in ("vr bank", "vr-bank", "vrbank"):
        assert all(provider.name.startswith(("VR-Bank", "VR Bank")) for provider in CATALOGUE.list(q=query)[:20])


def test_private_customers_banks_come_before_the_others():
    relevant = [provider.is_consumer_relevant for provider in CATALOGUE.list(q="commerzbank")]
    assert True in relevant
    assert False in relevant
    assert relevant == sorted(relevant, reverse=True)


def test_bank_codes_are_listed_in_their_order():
    codes = [provider.bank_code for provider in CATALOGUE.list(q="3705")]
    assert codes == sorted(codes)
    assert all(code.startswith("3705") for code in codes)


def test_every_bank_is_found_by_its_code_and_by_its_name():
    for provider in CATALOGUE.list():
        assert CATALOGUE.list(q=provider.bank_code)[0] is provider
    for provider in CATALOGUE.list()[::25]:
        assert provider in CATALOGUE.list(q=provider.name), provider.name


@pytest.mark.parametrize(
    "query", ["!!!", "xyzzyxyzzy", "sparkasse xyzzyxyzzy", "99999998", "12345678901234567890", "\ud800"]
)
def test_what_is_not_there_finds_nothing(query):
    assert CATALOGUE.list(q=query) == ()


def test_the_order_is_the_same_every_time():
    again = load_again()
    for query in ("bank", "s", "köln", "sparkasse"):
        assert [p.id for p in CATALOGUE.list(q=query)] == [p.id for p in again.list(q=query)]


@many_examples(60)
@given(st.text(max_size=200))
def test_no_query_breaks_the_search(query):
    CATALOGUE.list(q=query)


@given(st.text(alphabet="aeouäöüßstKÖ", max_size=12), st.integers(min_value=0, max_value=12))
def test_the_folded_beginning_of_a_word_begins_the_folded_word(word, length):
    assert fold(word).startswith(fold(word[:length]))


def test_aliases_are_written_as_they_are_compared_and_their_banks_exist():
    for word, others in SYNONYMS.items():
        assert [word, *others] == [fold(synonym) for synonym in (word, *others)]
        assert CATALOGUE.list(q=word), word
    for phrase, codes in HEAD_OFFICES.items():
        assert phrase == fold(phrase)
        assert set(codes) <= CODES
        assert CATALOGUE.list(q=phrase)[0].bank_code == codes[0]


@pytest.mark.parametrize("query", ["s", "a", "bank", "voba", "deutsche bank köln", "370", "370501"])
def test_a_search_looks_at_what_it_finds_and_not_at_every_bank(query):
    found = len(CATALOGUE.list(q=query))
    assert count_calls(lambda: CATALOGUE.list(q=query)) < 500 + 15 * found  # measured: below 150 + 9.5 * found


@pytest.mark.parametrize("word", ["sparkase", "xyzzyxyzzyxyzzy"])
def test_looking_for_a_typing_error_grows_with_the_word_only(word):
    found = len(CATALOGUE.list(q=word))
    assert count_calls(lambda: CATALOGUE.list(q=word)) < 2_000 * len(word) + 15 * found
