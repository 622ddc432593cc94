"""The interface's tables as data, and a check of answers against them: names, types, presence, decimals on the wire."""

import json
import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}")
MONEY = re.compile(r"-?(0|[1-9]\d*)\.\d{2}")
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")

STATUS = {"GESTARTET", "KOPFDATEN", "VOLLSTAENDIG"}
CATEGORY = {
    "GIROKONTO", "SPARKONTO", "FESTGELDKONTO", "KREDITKONTO", "TAGESGELDKONTO", "BAUSPARKONTO", "SONSTIGESKONTO",
    "KREDITKARTE", "SONSTIGEKARTE", "DEPOT", "SONSTIGESPRODUKT",
}  # fmt: skip


class Number(str):
    """A JSON number as it was written."""

    __slots__ = ()


def parse_raw(text: str) -> Any:
    """JSON with its numbers left as they were sent."""
    return json.loads(text, parse_float=Number, parse_int=Number)


def is_text(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, Number)


def is_uuid(value: Any) -> bool:
    return is_text(value) and str(UUID(value)) == value


def is_timestamp(value: Any) -> bool:
    return is_text(value) and TIMESTAMP.fullmatch(value) is not None


def is_money(value: Any) -> bool:
    """Exactly two decimals, as a number."""
    return isinstance(value, Number) and MONEY.fullmatch(value) is not None


def is_number(value: Any) -> bool:
    return isinstance(value, Number) and NUMBER.fullmatch(value) is not None


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def one_of(words: set[str]) -> Callable[[Any], bool]:
    return lambda value: is_text(value) and value in words


def list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


def nullable(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


Table = dict[str, tuple[str, Callable[[Any], bool]]]


def fits(table: Table) -> Callable[[Any], bool]:
    """A check that an object follows a table; it fails with the name of the field."""

    def check(value: Any) -> bool:
        assert isinstance(value, dict), value
        unknown = set(value) - set(table)
        assert not unknown, f"not in the interface: {unknown}"
        missing = {name for name, (presence, _) in table.items() if presence == "always"} - set(value)
        assert not missing, f"missing: {missing}"
        for name, inner in value.items():
            assert table[name][1](inner), f"{name}: {inner!r}"
        return True

    return check


RELATION: Table = {
    "rel": ("always", is_text),
    "href": ("always", lambda text: is_text(text) and text.startswith(("http://", "https://"))),
}
MESSAGE: Table = {
    "level": ("always", one_of({"INFO", "ERROR"})),
    "code": ("always", lambda text: is_text(text) and re.fullmatch(r"BA\d{3,4}", text) is not None),
    "message": ("always", is_text),
    "details": ("optional", is_text),
}
RELATIONS = list_of(fits(RELATION))
MESSAGES = list_of(fits(MESSAGE))

FIELD: Table = {
    "fieldkey": ("always", is_text),
    "label": ("always", is_text),
    "secret": ("always", is_flag),
    "format": ("always", is_text),
    "hint": ("optional", is_text),
}
AUTHENTICATION: Table = {"fields": ("always", list_of(fits(FIELD))), "loginHint": ("optional", is_text)}
PROVIDER: Table = {
    "id": ("always", is_uuid),
    "name": ("always", is_text),
    "consumerRelevant": ("always", is_flag),
    "group": ("optional", is_text),
    "blz": ("optional", lambda text: is_text(text) and re.fullmatch(r"\d{8}", text) is not None),
    "bic": ("optional", lambda text: is_text(text) and re.fullmatch(r"[A-Z0-9]{8}([A-Z0-9]{3})?", text) is not None),
    "relations": ("always", RELATIONS),
    "capabilities": ("always", list_of(one_of({"KONTEN", "KARTEN", "DEPOTS"}))),
    "channels": ("always", list_of(list_of(one_of(CATEGORY)))),
    "authenticationInfo": ("always", fits(AUTHENTICATION)),
}

METHOD: Table = {"kodierung": ("always", is_text), "name": ("always", is_text), "hinweis": ("optional", is_text)}
MEDIUM: Table = {
    "name": ("always", is_text),
    "medienklasse": ("always", one_of({"LISTE", "GENERATOR", "MOBIL", "SECODER", "PUSHTAN"})),
    "gueltigVon": ("optional", is_timestamp),
    "gueltigBis": ("optional", is_timestamp),
}
PRODUCT: Table = {
    "id": ("always", is_uuid),
    "status": ("always", one_of(STATUS)),
    "bezeichnung": ("always", is_text),
    "kategorie": ("always", one_of(CATEGORY)),
    "saldo": ("optional", is_money),
    "aktualisierungszeitpunkt": ("always", is_timestamp),
    "saldoDatum": ("optional", is_timestamp),
    "waehrung": ("optional", lambda text: is_text(text) and re.fullmatch("[A-Z]{3}", text) is not None),
    "kontonummer": ("optional", is_text),
    "iban": ("optional", is_text),
    "bic": ("optional", is_text),
    "blz": ("optional", is_text),
    "kreditinstitut": ("optional", is_text),
    "inhaber": ("always", is_text),
    "relations": ("optional", RELATIONS),
    "messages": ("optional", MESSAGES),
    "transferSupport": ("always", is_flag),
    "saldoDatenquelle": ("optional", one_of({"SWIFTMSG", "SONSTIGES"})),
    "ueberziehungslimit": ("optional", is_money),
    "verfuegungsrahmen": ("optional", is_money),
    "verfuegterBetrag": ("optional", is_money),
    "vertragsnummer": ("optional", is_text),
    "vertragstyp": ("optional", is_text),
    "vertragsstatus": ("optional", is_text),
    "rating": ("optional", is_number),
    "vertragssumme": ("optional", is_money),
    "sparzinssatz": ("optional", is_number),
    "schuldzinssatz": ("optional", is_number),
    "sparfortschritt": ("optional", is_number),
    "sparzustand": ("optional", is_flag),
    "vertragsDatum": ("optional", is_timestamp),
}
DEPOT_ONLY = {"saldoDatenquelle"}
ACCOUNT_ONLY = {"ueberziehungslimit", "verfuegungsrahmen", "verfuegterBetrag"}
HOME_SAVINGS_ONLY = {
    "vertragsnummer", "vertragstyp", "vertragsstatus", "rating", "vertragssumme", "sparzinssatz", "schuldzinssatz",
    "sparfortschritt", "sparzustand", "vertragsDatum",
}  # fmt: skip

ACCESS: Table = {
    "id": ("always", is_text),
    "providerId": ("always", is_uuid),
    "status": ("always", one_of(STATUS)),
    "tanMedien": ("optional", list_of(fits(MEDIUM))),
    "sicherheitsverfahren": ("optional", list_of(fits(METHOD))),
    "aktivesSicherheitsverfahren": ("optional", fits(METHOD)),
    "aktualisierungszeitpunkt": ("always", is_timestamp),
    "timeout": ("optional", is_timestamp),
    "messages": ("optional", MESSAGES),
    "bankprodukte": ("optional", list_of(fits(PRODUCT))),
    "relations": ("optional", RELATIONS),
    "sync": ("always", is_flag),
}
ISSUES: Table = {
    name: ("always" if name in ("id", "providerId", "aktualisierungszeitpunkt", "messages") else "optional", check)
    for name, (_, check) in ACCESS.items()
    if name
    in ("id", "tanMedien", "providerId", "sicherheitsverfahren", "aktualisierungszeitpunkt", "messages", "relations")
}
CUSTOMER: Table = {
    "messages": ("optional", MESSAGES),
    "bankzugaenge": ("optional", lambda accesses: all(fits(ACCESS)(access) for access in accesses.values())),
    "relations": ("optional", RELATIONS),
}
TRANSACTION: Table = {
    "id": ("always", is_uuid),
    "betrag": ("optional", is_money),
    "verwendungszweck": ("optional", is_text),
    "buchungstext": ("optional", is_text),
    "gvCode": ("optional", is_text),
    "primanotaNummer": ("optional", is_text),
    "buchungsdatum": ("optional", is_timestamp),
    "wertstellungsdatum": ("optional", is_timestamp),
    "gegenkontoInhaber": ("optional", is_text),
    "gegenkontoIban": ("optional", is_text),
    "gegenkontoBic": ("optional", is_text),
    "hash": ("always", is_text),
    "identifier": ("optional", fits({"batchId": ("always", is_text)})),
    "vorgemerkt": ("optional", lambda value: value is True),
    "waehrung": ("optional", lambda text: is_text(text) and re.fullmatch("[A-Z]{3}", text) is not None),
}
POSITION: Table = {
    "name": ("optional", is_text),
    "menge": ("optional", is_number),
    "handelseinheit": ("optional", one_of({"STUECK", "NOMINAL"})),
    "isin": ("optional", is_text),
    "wkn": ("optional", is_text),
    "kurs": ("optional", is_number),
    "kursDatum": ("optional", is_timestamp),
    "waehrung": ("optional", is_text),
    "waehrungskurs": ("optional", is_number),
    "handelsplatz": ("optional", is_text),
    "gesamtwert": ("optional", is_money),
}
BALANCE: Table = {
    "balance": ("always", nullable(is_money)),
    "balanceDate": ("always", nullable(is_timestamp)),
    "currency": ("always", nullable(is_text)),
}
ENGLISH_PRODUCT: Table = {
    "accountNumber": ("always", nullable(is_text)),
    "balance": ("always", nullable(is_money)),
    "balanceDataSource": ("always", nullable(is_text)),
    "balanceDate": ("always", nullable(is_timestamp)),
    "balances": ("always", nullable(lambda balances: all(fits(BALANCE)(balance) for balance in balances.values()))),
    "bankCode": ("always", nullable(is_text)),
    "bic": ("always", nullable(is_text)),
    "bulkTransferSupport": ("always", nullable(is_flag)),
    "contractAmount": ("always", nullable(is_money)),
    "contractDate": ("always", nullable(is_timestamp)),
    "contractNumber": ("always", nullable(is_text)),
    "contractStatus": ("always", nullable(is_text)),
    "contractType": ("always", nullable(is_text)),
    "creditDrawn": ("always", nullable(is_money)),
    "creditLimit": ("always", nullable(is_money)),
    "currency": ("always", nullable(is_text)),
    "debitInterestRate": ("always", nullable(is_number)),
    "holder": ("always", nullable(is_text)),
    "iban": ("always", nullable(is_text)),
    "id": ("always", nullable(is_uuid)),
    "institution": ("always", nullable(is_text)),
    "name": ("always", nullable(is_text)),
    "overdraftLimit": ("always", nullable(is_money)),
    "category": ("always", nullable(one_of(CATEGORY))),
    "rating": ("always", nullable(is_number)),
    "relations": ("always", nullable(RELATIONS)),
    "messages": ("always", nullable(MESSAGES)),
    "savingPhase": ("always", nullable(is_flag)),
    "savingsInterestRate": ("always", nullable(is_number)),
    "savingsProgress": ("always", nullable(is_number)),
    "status": ("always", nullable(one_of(STATUS))),
    "transferSupport": ("always", nullable(is_flag)),
    "updatedAt": ("always", nullable(is_timestamp)),
}
