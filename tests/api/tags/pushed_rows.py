"""Transactions that anybody would tag the same way."""

RENT = {"betrag": -900, "verwendungszweck": "Miete November Wohnung 12", "gegenkontoInhaber": "Hausverwaltung Meier",
        "gegenkontoIban": "DE02120300000000202051"}  # fmt: skip
SALARY = {"betrag": 2500, "verwendungszweck": "Lohn / Gehalt 11/2026", "gegenkontoInhaber": "Muster GmbH",
          "gegenkontoIban": "DE02500105170137075030"}  # fmt: skip
GROCERIES = {"betrag": -23.45, "verwendungszweck": "REWE SAGT DANKE//BERLIN/DE 2026-11-02T18:21:33 KFN 1",
             "gegenkontoInhaber": "REWE Markt GmbH"}  # fmt: skip
CAR_INSURANCE = {"betrag": -48.1, "verwendungszweck": "Kfz-Haftpflicht Beitrag Vertrag 4711",
                 "gegenkontoInhaber": "HUK-COBURG Allgemeine Versicherung AG",
                 "gegenkontoIban": "DE12500105170648489890"}  # fmt: skip
