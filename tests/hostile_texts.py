"""A bank that puts markup and scripts into every text that it sends, over XS2A."""

import json
from datetime import date, timedelta
from typing import Any

HOSTILE = """"'></title></textarea></script><script>window.hacked=1;alert(1)</script>\
<img src=x onerror="window.hacked=1;alert(1)" data-hacked><svg onload=alert(1) data-hacked>{{7*7}}${7*7}"""
MARKUP = "data-hacked"  # an element with this attribute was made of a text
IBAN = "DE89370400440532013000"
METHODS = [
    {
        "authenticationType": "SMS_OTP",
        "authenticationMethodId": number,
        "name": f"{number} {HOSTILE}",
        "explanation": HOSTILE,
    }
    for number in ("1", "2")
]
START, CHOOSE, TAN = "/v1/consents/1/authorisations", "/v1/choose", "/v1/tan"


def _link(**links: str) -> dict[str, dict[str, str]]:
    return {name: {"href": address} for name, address in links.items()}


def _make_row(number: int, today: date) -> dict[str, Any]:
    """A monthly payment to one of three partners, so that contracts are found as well."""
    amount = {"currency": "EUR", "amount": f"-{10 + number % 3}.00"}
    return {
        "transactionId": f"{number} {HOSTILE}",
        "entryReference": HOSTILE,
        "endToEndId": HOSTILE,
        "mandateId": HOSTILE,
        "creditorId": HOSTILE,
        "transactionAmount": amount,
        "bookingDate": str(today - timedelta(days=30 * (number // 3) + 3)),
        "creditorName": f"Stadtwerke {number % 3} {HOSTILE}",
        "creditorAccount": {"iban": IBAN},
        "ultimateCreditor": HOSTILE,
        "remittanceInformationUnstructured": f"Abschlag {number % 3} {HOSTILE}",
        "additionalInformation": HOSTILE,
        "proprietaryBankTransactionCode": HOSTILE,
    }


class TextBank:
    """The customer logs in with any PIN, chooses a method and enters any TAN; `wrong-tan` is answered with a text."""

    def __init__(self, today: date) -> None:
        account = {
            "resourceId": "1",
            "iban": IBAN,
            "currency": "EUR",
            "name": HOSTILE,
            "displayName": f"Giro {HOSTILE}",
            "product": HOSTILE,
            "ownerName": HOSTILE,
            "cashAccountType": "CACC",
            "balances": [{"balanceType": "interimBooked", "balanceAmount": {"currency": "EUR", "amount": "7.00"}}],
            "_links": _link(transactions="/v1/accounts/1/transactions"),
        }
        rows = [_make_row(number, today) for number in range(36)]
        asked = {"scaStatus": "scaMethodSelected", "psuMessage": HOSTILE, "chosenScaMethod": METHODS[0]}
        self._answers: dict[str, Any] = {
            "POST /v1/consents": {
                "consentStatus": "received",
                "consentId": "1",
                "_links": _link(self="/v1/consents/1", startAuthorisationWithPsuAuthentication=START),
            },
            f"POST {START}": {
                "scaStatus": "psuAuthenticated",
                "scaMethods": METHODS,
                "psuMessage": HOSTILE,
                "_links": _link(selectAuthenticationMethod=CHOOSE),
            },
            f"PUT {CHOOSE}": asked
            | {"challengeData": {"additionalInformation": HOSTILE}, "_links": _link(authoriseTransaction=TAN)},
            f"PUT {TAN}": {"scaStatus": "finalised", "psuMessage": HOSTILE, "_links": {}},
            "GET /v1/consents/1": {"consentStatus": "valid", "validUntil": str(today + timedelta(days=100))},
            "GET /v1/accounts": {"accounts": [account]},
            "GET /v1/accounts/1/transactions": {"transactions": {"booked": rows, "_links": {}}},
        }

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        answer, status = self._answers.get(f"{scope['method']} {scope['path']}"), 200
        if answer is None or b"wrong-" in body:
            message = {"category": "ERROR", "code": "FORMAT_ERROR", "text": HOSTILE}
            answer, status = {"tppMessages": [message]}, 400
        content = json.dumps(answer).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})
