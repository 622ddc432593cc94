"""What led to a finding, told in the reader's language.

With amounts, days and names as people write them. A sentence nobody knows is shown as it came.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from kontor.console.rendering import write_day
from kontor.console.sentences import Sentences, read_system_name
from kontor.pages.formatting import format_amount
from kontor.pages.texts import Texts

# By the key of the text. What a placeholder stands for, the beginning of its name says.
SENTENCES = {
    # Work
    "pay_raised": "Pay of {partner} went from {amount_before} to {amount_after}",
    "pay_first": "First pay of {partner} on {day}",
    "pay_only": "No other pay was seen before",
    "pay_last": "Last pay of {partner} on {day}",
    "pay_missing": "The next one did not come although newer data of the account is there, and no other job began",
    "missing": "The next one did not come although newer data of the account is there",
    "semesters": "Semester fees from {day_first} to {day_last}",
    # Home and family
    "rent_first": "First rent to {partner} on {day}",
    "rent_last": "Last rent to {partner} on {day}",
    "unpaid": "The next one was not paid although newer data of the account is there",
    "rent_replaced": "Rent to {partner} took the place of rent to {partner_before}",
    "rent_ended": "The rent ended on {day}, near the purchase of a property",
    "mover": "Bill of a mover on {day}",
    "property_price": "The price of a property was paid on {day}",
    "property_tax": "The tax on buying property was paid on {day}",
    "property_loan": "A large loan was paid out, and its mortgage payments began",
    "childcare_first": "First fee for childcare on {day}",
    "parental_began": "Parental allowance began on {day}",
    "maternity": "Maternity pay on {day}, six weeks before a birth",
    "child_benefit": "Child benefit began on {day}, with purchases for a child",
    # Money
    "vehicle_paid": "A vehicle was paid for on {day}",
    "vehicle_rate": "First rate for a vehicle on {day}",
    "loan_paid_out": "A loan was paid out on {day}",
    "installment_first": "First installment to {partner} on {day}",
    "no_payout": "No payout was seen",
    "loan_paid_off": "A loan was paid off on {day}",
    "installment_last": "Last installment to {partner} on {day}",
    "windfall": "{amount} came in on {day}, in no relation to any regular income",
    "collector_rates": "Rates to the collector {partner} began on {day}",
    "collector_paid": "A collector was paid on {day}, after a year without any",
    # How somebody lives
    "stage_parental": "Parental allowance is being paid",
    "stage_pension": "A pension is being paid",
    "stage_unemployment": "Unemployment benefit is being paid",
    "stage_salary": "{partner} pays a salary",
    "stage_small_salary": "{partner} pays a small salary",
    "stage_fees": "Fees came in over several months",
    "stage_aid": "Student aid is being paid",
    "stage_semester": "A semester fee was paid",
    "stage_survivor": "A survivor's pension is the only regular income",
    "stage_no_income": "No regular income tells of a place at the labour market",
    "stage_ongoing": "Ongoing: {sign}",
    "stage_child_benefit": "Child benefit is being paid",
    "stage_child_support": "Child support is being paid",
    "stage_child_purchases": "Purchases for children were made",
    "stage_little_data": "There is too little data to tell",
    "stage_no_children": "Nothing is paid or received for children",
    "stage_mortgage": "A mortgage is being paid",
    "stage_rent": "Rent is being paid",
    "stage_loan_account": "There is the loan account {name}",
    "stage_no_home": "Neither rent nor a mortgage is being paid",
    "stage_agreements": "{count} agreements put money aside",
    "stage_saved_months": "Money was put aside in {count} of the last months",
    "stage_saved_times": "Money was put aside {count} times in twelve months",
    "stage_nothing_saved": "No money was put aside in twelve months",
    # Occasions
    "no_premium": "No payment for {insurance} in {count} months",
    "income_high": "Income of {amount} a month is at least {amount_least}",
    "money_left": "In {count} of {count_all} months money was left, in the middle one {amount}",
    "saved_so_far": "Savings so far: {amount} a month",
    "came_in": "{amount} came in on {day}",
    "average": "Without it {amount} a month is earned on average",
    # Last, for they take nearly anything
    "first_of": "First {sign} from {partner} on {day}",
    "last_of": "Last {sign} from {partner} on {day}",
}
_KNOWN = Sentences("finding_reasons", SENTENCES)
_FOLDS = str.maketrans({"Ä": "AE", "Ö": "OE", "Ü": "UE", "ß": "SS", "É": "E", "È": "E"})
_KEY_CHARACTERS = 20


def squeeze_name(name: str) -> str:
    """As the API writes a partner whom it knows by a name in bookings alone."""
    return re.sub(r"[^A-Z0-9]", "", name.upper().translate(_FOLDS))


@dataclass(frozen=True, slots=True)
class Partners:
    """Names of partners by what the API's sentences call them: their system name, or the beginning of their name."""

    known: Mapping[str, str]

    @classmethod
    def of_contracts(cls, contracts: Sequence[Mapping[str, Any]]) -> "Partners":
        known = {}
        for contract in contracts:
            name = contract["details"]["counterpartyName"]
            if name:
                known[squeeze_name(name)[:_KEY_CHARACTERS]] = name
            partner = contract["tagTreeItemBusinessPartner"]
            known[partner["systemName"]] = partner["displayName"]
        return cls(known)

    def name(self, key: str) -> str:
        known_name = self.known.get(key)
        if known_name is None:  # without its legal form the name may be shorter than the key of it
            known_name = next(
                (name for start, name in self.known.items() if len(key) > 5 and start.startswith(key)), None
            )
        if known_name is not None:
            return known_name
        return read_system_name(key) + ("…" if len(key) == _KEY_CHARACTERS else "")


@dataclass(frozen=True, slots=True)
class Reasons:
    """Tells the evidence of findings."""

    texts: Texts
    partners: Partners = Partners({})

    def tell_all(self, details: Mapping[str, Any]) -> list[str]:
        return [self.tell(evidence["text"]) for evidence in details.get("evidence", [])]

    def tell(self, text: str) -> str:
        told = _KNOWN.tell(text, self.texts, self._show)
        return text if told is None else told

    def _show(self, name: str, value: str) -> str:
        match name.partition("_")[0]:
            case "amount":
                return format_amount(Decimal(value), "EUR", self.texts.language)
            case "day":
                return write_day(date.fromisoformat(value), self.texts.language)
            case "partner":
                return self.partners.name(value)
            case "sign" | "insurance":
                return self.texts(f"finding_reasons.{name}_{value.replace(' ', '_')}")
            case "count":
                return str(int(value))
        return value
