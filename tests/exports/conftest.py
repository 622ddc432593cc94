"""An account that many tests look at."""

import pytest
from known_accounts import KnownAccount, day, open_account


@pytest.fixture(scope="module")
def known(bank_server, shared) -> KnownAccount:
    """Six bookings with words to look for, on six days."""
    account = open_account(shared)
    account.push(
        [
            {"betrag": 2500, "buchungsdatum": day(0), "gegenkontoInhaber": "Muster GmbH",
             "verwendungszweck": "Lohn / Gehalt 01/2026", "gegenkontoIban": "DE02500105170137075030"},
            {"betrag": -900, "buchungsdatum": day(1), "gegenkontoInhaber": "Hausverwaltung MÜLLER",
             "verwendungszweck": "Miete Wohnung 12", "gegenkontoIban": "DE02120300000000202051"},
            {"betrag": -23.45, "buchungsdatum": day(2), "gegenkontoInhaber": "REWE Markt GmbH",
             "verwendungszweck": "REWE SAGT DANKE 100% (frisch)"},
            {"betrag": -12.5, "buchungsdatum": day(3), "gegenkontoInhaber": "Baeckerei Grossmann",
             "verwendungszweck": "Broetchen", "buchungstext": "Kartenzahlung"},
            {"betrag": -48.1, "buchungsdatum": day(4), "gegenkontoInhaber": "HUK-COBURG Allgemeine Versicherung AG",
             "verwendungszweck": "Kfz-Haftpflicht Beitrag Vertrag 4711"},
            {"betrag": -30, "buchungsdatum": day(5), "gegenkontoInhaber": "REWE Markt GmbH",
             "verwendungszweck": "REWE SAGT DANKE 50_Cent"},
        ]
    )  # fmt: skip
    return account
