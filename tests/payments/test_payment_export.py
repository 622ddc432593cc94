"""Payments as pain.001."""

from sepaxml.validation import try_valid_xml

from kontor.connectors.pain001 import SCHEMA


async def test_a_payment_is_exported_as_a_valid_document(payer):
    transfer = await payer.pay()
    answer = await payer.get(f"/customer/v2/payment/{transfer.id}/pain001")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/xml")
    try_valid_xml(answer.content, SCHEMA)


async def test_nobody_elses_payment_is_exported(payer, environment):
    transfer = await payer.pay()
    stranger = await environment.new_payer()
    assert (await stranger.get(f"/customer/v2/payment/{transfer.id}/pain001")).status_code == 404
