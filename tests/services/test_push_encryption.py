"""Push messages: the example of RFC 8291, byte for byte, and what changes with every message."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec

from kontor.domain.push import PushKeys
from kontor.services.alerts.push_encryption import authorize, encrypt
from push_browsers import CURVE, PushBrowser, decode, encode, make_private, new_browser, verify_sender

# RFC 8291, section 5 and appendix A
PLAINTEXT = b"When I grow up, I want to be a watermelon"
AUTH = decode("BTBZMqHH6r4Tts7J_aSIgg")
BROWSER = decode("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")
BROWSER_POINT = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
SENDER = decode("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
SALT = decode("DGv6ra1nlYgDCS1FRnbzlw")
BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"
    "yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)
NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)


def keys_of(browser):
    return PushKeys(browser.point, browser.auth)


def test_the_example_of_the_rfc_is_encrypted_byte_for_byte_and_decrypted():
    browser = PushBrowser("https://push.example.net/x", BROWSER, AUTH)
    assert encode(browser.point) == BROWSER_POINT
    assert encode(encrypt(PLAINTEXT, keys_of(browser), sender=make_private(SENDER), salt=SALT)) == BODY
    assert browser.decrypt(decode(BODY)) == PLAINTEXT


def test_equal_texts_differ_in_every_byte_that_matters_and_padding_hides_their_length():
    browser = new_browser()
    short, long, again = (encrypt(text, keys_of(browser), 128) for text in (b"a", b"b" * 100, b"a"))
    assert len(short) == len(long) == len(again)
    assert short[:16] != again[:16]
    assert short[21:86] != again[21:86]
    assert [browser.decrypt(body) for body in (short, long, again)] == [b"a", b"b" * 100, b"a"]
    with pytest.raises(InvalidTag):
        PushBrowser("", auth=browser.auth).decrypt(short)


def test_the_sender_is_proven_for_the_origin_of_the_endpoint_for_at_most_a_day():
    key = ec.generate_private_key(CURVE)
    header = authorize(key, "https://push.example.net:8443/x?y=1", "https://kontor.example", NOW)
    _, claims = verify_sender(header)
    expires = claims.pop("exp")
    assert claims == {"aud": "https://push.example.net:8443", "sub": "https://kontor.example"}
    assert NOW.timestamp() < expires <= (NOW + timedelta(hours=24)).timestamp()
    forged = header.replace(header.split(".")[1], encode(b'{"aud":"https://other.example","exp":9999999999}'))
    with pytest.raises(InvalidSignature):
        verify_sender(forged)
    assert "sub" not in verify_sender(authorize(key, "https://push.example.net/x", None, NOW))[1]
