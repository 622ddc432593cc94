"""Dialogues: who gets in, how far, and for how long."""

import pytest
from fints_talk import BANK, Talk, find_account, frame, make_tan, open_talk, read_answer, synchronise

from fints_banks import FintsBankUnderTest
from kontor.demobank.fints.bank import FintsBank, FintsOptions
from kontor.demobank.fints.dialogues import IDLE_SECONDS, MAX_DIALOGUES, Dialogues, TooManyDialoguesError
from kontor.demobank.fints.segments import make_segment, number_segments, write_segments

pytestmark = pytest.mark.usefixtures("fints_bank")


def say_anonymously(bank: FintsBank, dialogue: str, number: int, *segments):
    body = write_segments(number_segments(segments, 2))
    return read_answer(bank.answer(frame(dialogue, number, body, len(segments) + 2)))


def test_anybody_may_ask_what_the_bank_offers(fints_bank: FintsBankUnderTest):
    heard = say_anonymously(
        fints_bank.bank,
        "0",
        1,
        make_segment("HKIDN", 2, BANK, "9999999999", 0, 0),
        make_segment("HKVVB", 3, 0, 0, 1, "KONTORTEST", "1.0"),
    )
    assert heard.codes == ["3060", "0020", "3050"]
    assert heard.find("HIKOM").read(3, 1) == fints_bank.address
    offered = {
        (segment.code, segment.version)
        for segment in heard.segments
        if segment.code.endswith("S") and len(segment.code) == 6
    }
    assert {("HITANS", 6), ("HITANS", 7), ("HISALS", 5), ("HIKAZS", 7), ("HICAZS", 1), ("HIVPPS", 1)} <= offered
    assert not heard.find_all("HIUPD")
    refused = say_anonymously(fints_bank.bank, heard.dialogue_id, 2, make_segment("HKSPA", 1))
    assert "9130" in refused.codes
    ended = say_anonymously(fints_bank.bank, heard.dialogue_id, 3, make_segment("HKEND", 1, heard.dialogue_id))
    assert "0100" in ended.codes


def test_parameters_come_in_the_order_clients_insist_on_and_only_when_they_are_new(fints_bank: FintsBankUnderTest):
    talk = Talk(fints_bank.bank, "test_student+order")
    heard = talk.begin(make_segment("HKSYN", 3, 0))
    codes = [segment.code for segment in heard.segments]
    assert codes.index("HIBPA") < codes.index("HIUPA") < codes.index("HISYN")
    again = Talk(fints_bank.bank, "test_student+order", system=heard.find("HISYN").read(1))
    known = again.send(
        make_segment("HKIDN", 2, BANK, "test_student+order", again.system, 1),
        make_segment("HKVVB", 3, heard.find("HIBPA").read(1), heard.find("HIUPA").read(2), 1, "KONTORTEST", "1.0"),
    )
    assert not known.find_all("HIBPA")
    assert not known.find_all("HIUPA")


def test_the_third_wrong_pin_locks_the_customer(fints_bank: FintsBankUnderTest):
    def knock(pin: str) -> list[str]:
        return Talk(fints_bank.bank, "test_student+lock", pin).begin().codes

    assert ["9942" in knock("wrong") for _ in range(2)] == [True, True]
    third = knock("wrong")
    assert {"3938", "9931", "9800"} <= set(third)
    assert "9931" in knock("demo"), "the right PIN does not help any more"
    assert "9800" not in Talk(fints_bank.bank, "test_student+free").begin().codes


@pytest.mark.parametrize(
    ("login", "code"),
    [
        ("test_locked", "9930"),
        ("test_unreachable", "9030"),
        ("test_internal", "9010"),
        ("nobody", "9942"),
    ],
)
def test_logins_that_do_not_get_in_hear_why(fints_bank: FintsBankUnderTest, login: str, code: str):
    heard = Talk(fints_bank.bank, login).begin()
    assert {code, "9800"} <= set(heard.codes)
    assert not heard.find_all("HIUPD")


def test_a_bank_under_maintenance_says_so_to_everybody(fints_bank: FintsBankUnderTest):
    closed = FintsBank(fints_bank.memory, FintsOptions("x", is_under_maintenance=True), fints_bank.bank._read_time)
    assert {"9030", "9800"} <= set(Talk(closed, "test_student").begin().codes)


def test_who_must_authenticate_sees_nothing_before(fints_bank: FintsBankUnderTest):
    login = "test_sca_method+before"
    system = synchronise(fints_bank.bank, login)
    without = Talk(fints_bank.bank, login, function="901", system=system)
    assert "9075" in without.begin().codes
    talk = Talk(fints_bank.bank, login, function="901", system=system)
    challenge = talk.begin(make_tan())
    assert "0030" in challenge.codes
    assert not challenge.find_all("HIUPD")
    refused = talk.send(make_segment("HKSPA", 1))
    assert {"9075", "9800"} <= set(refused.codes)


def test_after_the_tan_the_accounts_are_told_and_the_system_is_trusted(fints_bank: FintsBankUnderTest):
    login = "test_sca_method+trust"
    system = synchronise(fints_bank.bank, login)
    talk = Talk(fints_bank.bank, login, function="901", system=system)
    challenge = talk.begin(make_tan())
    opened = talk.confirm(challenge, "2")
    assert "0020" in opened.codes
    assert len(opened.find_all("HIUPD")) == 2
    assert talk.send(make_segment("HKSPA", 1)).find("HISPA").read(1) == "J"
    assert "3076" in Talk(fints_bank.bank, login, function="901", system=system).begin(make_tan()).codes
    elsewhere = synchronise(fints_bank.bank, login)
    assert "0030" in Talk(fints_bank.bank, login, function="901", system=elsewhere).begin(make_tan()).codes


def test_the_third_wrong_tan_ends_the_dialogue(fints_bank: FintsBankUnderTest):
    talk = Talk(fints_bank.bank, "test_sca_method+tan", function="900", system="abc")
    challenge = talk.begin(make_tan())
    for _ in range(2):
        wrong = talk.confirm(challenge, "13")
        assert "9941" in wrong.codes
        assert "9800" not in wrong.codes
    assert {"9941", "9800"} <= set(talk.confirm(challenge, "13").codes)
    assert "9010" in talk.confirm(challenge, "12").codes, "the dialogue is gone"


def test_who_has_several_media_names_one(fints_bank: FintsBankUnderTest):
    login = "test_sca_method_media+names"
    talk = Talk(fints_bank.bank, login, function="901", system="abc")
    assert "9955" in talk.begin(make_tan()).codes
    media = talk.send(make_segment("HKTAB", 5, 0, "A")).find("HITAB")
    names = [media.read(place, 13) for place in (2, 3)]
    assert names == ["Mein Handy", "Mein Tablet"]
    other = Talk(fints_bank.bank, login, function="901", system="abc")
    assert "0030" in other.begin(make_tan(medium="Mein Tablet")).codes
    unknown = Talk(fints_bank.bank, login, function="901", system="abc")
    assert "9955" in unknown.begin(make_tan(medium="Mein Radio")).codes


def test_a_confirmation_in_the_app_takes_a_moment(fints_bank: FintsBankUnderTest):
    talk = Talk(fints_bank.bank, "test_decoupled+moment", function="923", system="abc")
    challenge = talk.begin(make_tan())
    assert "3955" in challenge.codes
    waiting = talk.confirm(challenge, "", process="S")
    assert "3956" in waiting.codes
    assert "0020" in talk.confirm(challenge, "", process="S").codes


def test_pictures_and_flicker_codes_come_with_the_challenge(fints_bank: FintsBankUnderTest):
    photo = Talk(fints_bank.bank, "test_phototan+p", function="902", system="abc").begin(make_tan())
    picture = photo.find("HITAN").read_binary(5)
    assert picture[:11] == b"\x00\x09image/png"
    assert picture[13:17] == b"\x89PNG"
    assert int.from_bytes(picture[11:13], "big") == len(picture) - 13
    chip = Talk(fints_bank.bank, "test_chiptan+c", function="913", system="abc").begin(make_tan())
    assert chip.find("HITAN").read(5) == "2908881344731012345678900515,00"


def test_a_method_that_is_not_the_customers_is_refused(fints_bank: FintsBankUnderTest):
    heard = Talk(fints_bank.bank, "test_student", function="913").begin(make_tan())
    assert {"9380", "9800"} <= set(heard.codes)
    assert heard.parameter("3920") == "901"


def test_two_dialogues_at_once_do_not_see_each_other(fints_bank: FintsBankUnderTest):
    talk, other = open_talk(fints_bank.bank, "test_student+one"), open_talk(fints_bank.bank, "rente+two")
    first = talk.send(make_segment("HKSPA", 1)).find("HISPA").read(1, 1)
    second = other.send(make_segment("HKSPA", 1)).find("HISPA").read(1, 1)
    assert first != second
    foreign = make_segment("HKSAL", 7, (second, "KONTDEFFXXX"), "N")
    assert "9210" in talk.send(foreign).codes
    stolen = Talk(fints_bank.bank, "test_student+one", function="901")
    stolen.dialogue_id, stolen.number = other.dialogue_id, other.number
    assert {"9340", "9800"} <= set(stolen.send(make_segment("HKSPA", 1)).codes)


def test_a_message_out_of_turn_ends_the_dialogue(fints_bank: FintsBankUnderTest):
    talk = open_talk(fints_bank.bank, "test_student+turn")
    talk.number += 3
    assert {"9010", "9800"} <= set(talk.send(make_segment("HKSPA", 1)).codes)
    talk.number = 1
    assert "9010" in talk.send(make_segment("HKSPA", 1)).codes


def test_a_dialogue_ends_with_hkend(fints_bank: FintsBankUnderTest):
    talk = open_talk(fints_bank.bank, "test_student+end")
    assert "0100" in talk.send(make_segment("HKEND", 1, talk.dialogue_id)).codes
    assert "9010" in talk.send(make_segment("HKSPA", 1)).codes


def test_idle_dialogues_are_forgotten_and_there_are_not_too_many():
    now = [0.0]
    dialogues = Dialogues(lambda: now[0])
    first = dialogues.open()
    now[0] = IDLE_SECONDS - 1
    assert dialogues.find(first.id) is first
    now[0] += IDLE_SECONDS + 1
    assert dialogues.find(first.id) is None
    for _ in range(MAX_DIALOGUES):
        dialogues.open()
    with pytest.raises(TooManyDialoguesError):
        dialogues.open()
    now[0] += IDLE_SECONDS + 1
    dialogues.open()
    assert len(dialogues) == 1


def test_balances_come_in_every_version(fints_bank: FintsBankUnderTest):
    talk = Talk(fints_bank.bank, "test_student+versions", function="901", system="abc")
    account = find_account(talk.begin(make_tan()))
    shown = []
    for version in (5, 6, 7):
        heard = talk.send(make_segment("HKSAL", version, account if version == 7 else account[2:], "N"))
        shown.append(heard.find("HISAL").read_group(4)[:3])
    assert shown[0] == shown[1] == shown[2]
    assert "9150" in talk.send(make_segment("HKSAL", 4, account, "N")).codes
    assert "9140" in talk.send(make_segment("HKXYZ", 1)).codes
