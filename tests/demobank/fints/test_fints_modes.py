"""Modes of the FinTS server: each is documented, and refuses what the banks that it is named after refuse."""

from decimal import Decimal
from pathlib import Path

import pytest
from fints_talk import REPORT, SHOP, Talk, find_account, make_order, make_tan, write_pain

from fints_banks import running_fints_bank
from kontor.cli.demobank import serving_fints
from kontor.demobank.fints.modes import MODES, Mode
from kontor.demobank.fints.segments import make_segment
from kontor.domain.errors import InvalidError

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "demo-bank.md"
CHECK = make_segment("HKVPP", 1, REPORT)


@pytest.fixture
def begin(settings, tmp_path):
    """A dialogue with a bank in these modes, and the customer's account."""

    def start(*modes, login="test_products+modes", function="901", profile=2):
        with running_fints_bank(settings, tmp_path, modes=frozenset(modes)) as bank:
            talk = Talk(bank.bank, login, function=function, system="abc", profile=profile)
            return talk, talk.begin(make_tan())

    return start


def order(talk, account, *before, code="HKCCS", total=None, after=()):
    pain = write_pain(account[0], ("Erika Muster", SHOP, "1.00"), ("Anna Andere", SHOP, "2.00"))
    if code == "HKCCS":
        pain = write_pain(account[0], ("Erika Muster", SHOP, "1.00"))
    return talk.send(*before, make_order(code, account, pain, total), *after, make_tan(order=code))


def test_every_mode_is_in_the_guide_as_in_the_table():
    rows = [f"| `{mode}` | {banks} | {what} |" for mode, (banks, what) in MODES.items()]
    text = GUIDE.read_text(encoding="utf-8")
    start = text.index(rows[0])
    assert text[start:].splitlines()[: len(rows)] == rows
    assert set(MODES) == set(Mode)


def test_an_unknown_mode_is_refused_by_name(settings):
    with (
        pytest.raises(InvalidError, match="no-such-mode"),
        serving_fints(settings, "", 0, None, 1, False, ["no-such-mode"]),
    ):
        pass


@pytest.mark.parametrize(
    ("restart_point", "knows_id", "code"), [("vop", True, "3040"), (None, True, "9210"), ("vop", False, "9210")]
)
def test_a_poll_names_polling_id_and_restart_point(begin, restart_point, knows_id, code):
    talk, begun = begin(Mode.PAYEES_LATER)
    first = order(talk, find_account(begun), CHECK)
    assert {"3905", "3040", "3945"} <= set(first.codes)
    polling_id = first.find("HIVPP").read_binary(3) if knows_id else None
    poll = talk.send(make_segment("HKVPP", 1, REPORT, polling_id, None, restart_point))
    assert code in poll.codes


def test_an_approval_behind_its_order_is_refused(begin):
    talk, begun = begin(Mode.APPROVAL_FIRST, Mode.MATCH_HELD)
    account = find_account(begun)
    pain = write_pain(account[0], ("Erika Muster", SHOP, "1.00"))
    held = talk.send(CHECK, make_order("HKCCS", account, pain), make_tan(order="HKCCS"))
    assert {"3090", "0025", "3945"} <= set(held.codes)
    approval = make_segment("HKVPA", 1, held.find("HIVPP").read_binary(1))
    assert "9210" in talk.send(make_order("HKCCS", account, pain), approval, make_tan(order="HKCCS")).codes
    assert "0030" in talk.send(approval, make_order("HKCCS", account, pain), make_tan(order="HKCCS")).codes


def test_a_bulk_without_its_sum_is_refused(begin):
    talk, begun = begin(Mode.SUM_REQUIRED)
    account = find_account(begun)
    assert "9010" in order(talk, account, CHECK, code="HKCCM").codes
    assert "3040" in order(talk, account, CHECK, code="HKCCM", total=Decimal("3.00")).codes


def test_a_strict_bank_refuses_what_others_take(begin):
    talk, begun = begin(Mode.STRICT_DOCUMENT)
    account = find_account(begun)
    refused = order(talk, account, CHECK)
    assert "9210" in refused.codes
    assert refused.find("HITAN").read(3) == "noref"
    assert "9076" in order(talk, account).codes


@pytest.mark.parametrize(("profile", "is_refused"), [(1, True), (2, False)])
def test_a_profile_that_is_not_that_of_the_method_is_refused(begin, profile, is_refused):
    _, begun = begin(Mode.PROFILE_CHECKED, profile=profile)
    assert ({"9010", "9800"} <= set(begun.codes)) == is_refused


def test_a_method_that_was_replaced_is_refused_with_those_that_are_left(begin):
    _, begun = begin(Mode.METHOD_REPLACED, login="test_sca_method+modes")
    assert {"9380", "9800"} <= set(begun.codes)
    assert begun.parameter("3920") == "900"


def test_photo_tan_has_the_number_900(begin):
    _, begun = begin(Mode.PHOTO_TAN_900, login="test_phototan+modes", function="900")
    assert "0030" in begun.codes
    methods = [segment.read_group(4)[4:10] for segment in begun.find_all("HITANS")]
    assert [(group[0], group[3]) for group in methods if group[1] == "1"] == [("900", "iTAN")]
    assert begun.find("HITAN").read_binary(5)
