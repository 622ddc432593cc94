"""The body that docs/guides/payments.md shows is one that the API takes, and its table names every field."""

import re
from pathlib import Path

import msgspec

from kontor.wire.payments import NewTransfer, NewTransferDetails

PAGE = (Path(__file__).parents[2] / "docs/guides/payments.md").read_text(encoding="utf-8")


def test_the_body_of_a_transfer_is_one_that_the_api_takes():
    body = re.search(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]
    transfer = msgspec.json.decode(body, type=NewTransfer)
    assert [str(order.amount) for order in transfer.list_orders()] == ["12.30"]
    written = PAGE.partition("The body of a single transfer:")[2].partition("In the body, `product`")[0]
    for field in (*NewTransfer.__struct_fields__, *NewTransferDetails.__struct_fields__):
        assert f"`{field}`" in written, field
