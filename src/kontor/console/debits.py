"""Direct debits of a contract that can be returned, with the addresses of the letters."""

from typing import Any
from urllib.parse import urlencode

from kontor.console.gateway import segment
from kontor.console.visits import BASE, Visit

DEBITS = "/customer/v2/lastschriften"
SHOWN_DEBITS = 3
WORDS = {"OHNE_GRUND": "free", "NICHT_AUTORISIERT": "claim"}


async def list_debits(visit: Visit, contract_id: str) -> list[dict[str, Any]]:
    """The latest that can be returned. Letters are in German or English."""
    found = await visit.api.get(DEBITS, vertrag=contract_id)
    language = "en" if visit.language == "en" else "de"
    return [_read(debit, language) for debit in found if debit["rueckgabe"]][:SHOWN_DEBITS]


def _read(debit: dict[str, Any], language: str) -> dict[str, Any]:
    here = f"{BASE}/debits/{segment(debit['id'])}/letter"
    rights = [
        {
            "word": WORDS[right["grund"]],
            "until": right["bis"],
            "url": f"{here}?{urlencode({'grund': right['grund'], 'language': language})}",
        }
        for right in debit["rueckgabe"]
    ]
    return {"day": debit["buchungsdatum"], "amount": debit["betrag"], "currency": debit["waehrung"], "rights": rights}
