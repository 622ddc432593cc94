"""A user whose accounts are kept up to date somewhere else."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from banking import BankCustomer

RAISE = (
    "update data_versions set version = version + 1, followed_version = version + 1 where user_id = %s"
    " returning version"
)
BOOKED = "update transactions set is_pending = false, changed_version = %s where user_id = %s and id = %s"


def day(number: int) -> str:
    return str(date(2026, 1, 1) + timedelta(number))


@dataclass
class SyncedUser:
    customer: BankCustomer
    access_id: str
    product: dict[str, Any]
    key: str
    owner: Any

    def push(self, *rows: dict[str, Any], batch: str = "batch") -> None:
        url = f"/customer/v2/bankzugaenge/{self.access_id}/{self.product['id']}/kontoumsaetze"
        body = [{"identifier": {"batchId": batch}, **row} for row in rows]
        assert self.customer.post(url, body).status_code == 201

    def rows(self) -> list[dict[str, Any]]:
        return list(self.customer.read("/customer/v2/kontoumsaetze", params={"order": "asc"}))

    def row(self, purpose: str) -> dict[str, Any]:
        return next(row for row in self.rows() if row.get("verwendungszweck") == purpose)

    def book(self, purpose: str) -> None:
        """What a refresh does to a pending row: it is booked under its id."""
        id = self.row(purpose)["id"]
        with self.owner.transaction():
            version = self.owner.execute(RAISE, [self.customer.reference]).fetchone()[0]
            self.owner.execute(BOOKED, [version, self.customer.reference, id])

    def correct(self, purpose: str, category: str) -> None:
        row = self.row(purpose)
        url = f"/customer/v2/bankzugaenge/{row['zugangId']}/{row['produktId']}/kontoumsaetze/{row['id']}"
        body = {"tags": [{"systemName": category}]}
        answer = self.customer.http.put(url, json=body, headers=self.customer.headers)
        assert answer.status_code == 200, answer.text


def booking(amount: float, number: int, name: str, purpose: str, **facts: Any) -> dict[str, Any]:
    texts = {"gegenkontoInhaber": name, "verwendungszweck": purpose}
    return {"betrag": amount, "buchungsdatum": day(number), **texts, **facts}


ROWS = (
    booking(2500, 0, "Muster GmbH", "Lohn 01/2026"),
    booking(-23.45, 1, "REWE SAGT DANKE", "Einkauf #1"),
    booking(-23.45, 1, "REWE SAGT DANKE", "Einkauf #2"),
    booking(-9.99, 2, "Shop", "offen", vorgemerkt=True),
)
