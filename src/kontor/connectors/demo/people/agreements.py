"""From agreements to bookings: regular payments, and what comes with them (bonus, settlement, returned debit)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache

from kontor.connectors.demo.people.amounts import compute_cents
from kontor.connectors.demo.people.banking_days import MONTH_NAMES, add_banking_days, find_day, move_to_banking_day
from kontor.connectors.demo.people.bookings import Draft
from kontor.connectors.demo.people.descriptions import Agreement, Bonus, Settlement
from kontor.connectors.demo.people.life import Life, Term
from kontor.connectors.demo.people.numbers import DEMO_BANK, DEMO_BIC, make_home_savings_number
from kontor.connectors.demo.people.partners import Partner, find_partner, renew_partner
from kontor.connectors.demo.people.schedules import MONTHS, list_payments, slips
from kontor.connectors.demo.people.streams import derive_number, draw_digits, draw_share, pick_one
from kontor.connectors.demo.people.truth import NO_INSURANCE
from kontor.domain.products import ProductCategory

INCOMING = frozenset(
    {"credit", "salary", "public", "standing_in", "instant_in", "interest", "dividend", "cash_in", "mistake_in"}
)
DEBITS = frozenset({"debit", "direct_debit_b2b"})
OF_THE_BANK = frozenset({"interest", "fee", "charge", "closing", "mistake", "mistake_in"})
MIRRORED = {"standing": "standing_in", "transfer": "credit", "debit": "credit", "settlement": "credit"}
MANDATE_FORMS = ("M-########", "##########", "@@@#######-001", "DE##########", "K########V####", "@#######")
REFERENCE_FORMS = ("NOTPROVIDED", "NOTPROVIDED", "{digits}", "RG{digits}", "{mandate}-{number}", "E2E{digits}")


def fill_form(form: str, *parts: object) -> str:
    """A number after a form: `#` is a digit, `@` a letter."""
    seed = derive_number("form", form, *parts)
    chars = []
    for char in form:
        if char == "#":
            seed, rest = divmod(seed, 10)
            chars.append(str(rest))
        elif char == "@":
            seed, rest = divmod(seed, 24)
            chars.append("ABCDEFGHJKLMNPQRSTUVWXYZ"[rest])
        else:
            chars.append(char)
        seed = seed or derive_number("form", form, len(chars), *parts)
    return "".join(chars)


@dataclass(frozen=True, slots=True)
class FixedAgreement:
    """A term with all that stays the same over its payments."""

    life: Life
    term: Term
    partner: Partner
    purpose: str
    contract_number: str
    customer_number: str
    mandate: str
    reference_form: str
    first_due: tuple[int, date] | None

    @property
    def agreement(self) -> Agreement:
        return self.term.agreement

    @property
    def contract(self) -> str | None:
        return self.term.id if self.agreement.contract else None

    @property
    def shown_numbers(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Contract and customer numbers that can be read in the regular texts."""
        return (
            (self.contract_number,) if "{contract}" in self.purpose else (),
            (self.customer_number,) if "{customer}" in self.purpose else (),
        )


@lru_cache(maxsize=4096)
def draw_mandate(login: str, key: str, cycle: int, edition: int = 0) -> str:
    form = pick_one(MANDATE_FORMS, "mandate form", login, key, cycle)
    return fill_form(form, "mandate", login, key, cycle, *([edition] if edition else []))


def number_contract(life: Life, agreement: Agreement, cycle: int) -> str:
    home = any(plan.key == agreement.to and plan.kind is ProductCategory.HOME_SAVINGS for plan in life.persona.accounts)
    if home:
        return make_home_savings_number(life.login)
    return fill_form(agreement.contract_number, "contract", life.login, agreement.key, cycle)


def fix_agreement(life: Life, term: Term) -> FixedAgreement:
    agreement = term.agreement
    seed = (life.login, agreement.key, term.cycle)
    first_due = None
    if agreement.method in DEBITS and term.start is not None:
        first_due = next(list_payments(life, term, term.start, term.start + 24), None)
    return FixedAgreement(
        life=life,
        term=term,
        partner=find_partner(life, term),
        purpose=pick_one(agreement.purpose, "purpose", *seed),
        contract_number=number_contract(life, agreement, term.cycle),
        customer_number=fill_form(agreement.customer_number, "customer", *seed),
        mandate=draw_mandate(life.login, agreement.mandate_of or agreement.key, term.cycle),
        reference_form=pick_one(REFERENCE_FORMS, "reference form", *seed),
        first_due=first_due,
    )


def find_edition(fixed: FixedAgreement, month: int) -> int:
    """How often the partner has changed its bank, mandate or name by then."""
    renewal = fixed.agreement.renewal
    return (month - fixed.life.cycle_start) // renewal.every if renewal else 0


def find_parties(fixed: FixedAgreement, month: int) -> tuple[Partner, str]:
    """The partner and the mandate as they are in that month."""
    renewal = fixed.agreement.renewal
    if renewal is None:
        return fixed.partner, fixed.mandate
    edition = find_edition(fixed, month)
    mandate = fixed.mandate
    if "mandate" in renewal.what:
        mandate = draw_mandate(fixed.life.login, fixed.agreement.key, fixed.term.cycle, edition)
    return renew_partner(fixed.partner, edition, renewal.what), mandate


def is_first_debit(fixed: FixedAgreement, month: int, day: date) -> bool:
    """Whether this is the first debit under its mandate."""
    if fixed.first_due == (month, day):
        return True
    renewal = fixed.agreement.renewal
    if renewal is None or "mandate" not in renewal.what:
        return False
    return find_edition(fixed, month) != find_edition(fixed, month - MONTHS[fixed.agreement.period])


class PurposeWords(dict[str, object]):
    """The words a purpose may use, each made when it is asked for: `PLACEHOLDERS` has them all."""

    def __init__(self, fixed: FixedAgreement, month: int, day: date) -> None:
        super().__init__()
        self.fixed, self.month, self.day = fixed, month, day

    def __missing__(self, name: str) -> object:
        return PLACEHOLDERS[name](self.fixed, self.month, self.day)


def _find_last_covered_day(fixed: FixedAgreement, month: int) -> date:
    return find_day(month + MONTHS.get(fixed.agreement.period, 1), 1) - timedelta(days=1)


PLACEHOLDERS: dict[str, Callable[[FixedAgreement, int, date], object]] = {
    "contract": lambda fixed, month, day: fixed.contract_number,
    "customer": lambda fixed, month, day: fixed.customer_number,
    "invoice": lambda fixed, month, day: draw_digits(8, "invoice", fixed.life.login, fixed.term.id, day),
    "MM": lambda fixed, month, day: f"{month % 12 + 1:02d}",
    "YYYY": lambda fixed, month, day: month // 12,
    "YY": lambda fixed, month, day: f"{month // 12 % 100:02d}",
    "last_year": lambda fixed, month, day: month // 12 - 1,
    "month": lambda fixed, month, day: MONTH_NAMES[month % 12],
    "last_month": lambda fixed, month, day: MONTH_NAMES[(month - 1) % 12],
    "quarter": lambda fixed, month, day: month % 12 // 3 + 1,
    "last_quarter": lambda fixed, month, day: (month % 12 // 3 - 1) % 4 + 1,
    "begin": lambda fixed, month, day: f"{find_day(month, 1):%d.%m.%Y}",
    "end": lambda fixed, month, day: f"{_find_last_covered_day(fixed, month):%d.%m.%Y}",
    "day": lambda fixed, month, day: f"{day:%d.%m.%Y}",
    "name": lambda fixed, month, day: fixed.life.name,
    "surname": lambda fixed, month, day: fixed.life.surname,
    "spouse": lambda fixed, month, day: fixed.life.given_names[1],
    "child": lambda fixed, month, day: fixed.life.children[fixed.term.cycle % 4],
    "street": lambda fixed, month, day: fixed.life.find_address(month).street,
    "city": lambda fixed, month, day: fixed.life.find_place(month).city,
    "plate": lambda fixed, month, day: fixed.life.plates[0],
    "second_plate": lambda fixed, month, day: fixed.life.plates[1],
    "brand": lambda fixed, month, day: fixed.partner.brand,
}


def fill_purpose(fixed: FixedAgreement, template: str, month: int, day: date) -> str:
    return template.format_map(PurposeWords(fixed, month, day)) if "{" in template else template


def write_reference(fixed: FixedAgreement, mandate: str, day: date, kind: str) -> str:
    form = fixed.reference_form
    if "{" not in form:
        return form
    number = draw_digits(10, "reference", fixed.life.login, fixed.term.id, day, kind)
    return form.format(digits=number, mandate=mandate, number=number[:6])


def draft_payment(fixed: FixedAgreement, month: int, day: date, cents: int, template: str, kind: str = "") -> Draft:
    """A booking of the agreement. `kind` tells extra payments from the regular one, which has none."""
    life, agreement = fixed.life, fixed.agreement
    partner, mandate = find_parties(fixed, month)
    is_debit = agreement.method in DEBITS
    of_bank = agreement.method in OF_THE_BANK
    is_first = is_debit and not kind and is_first_debit(fixed, month, day)
    return Draft(
        key=f"{agreement.key}/{fixed.term.cycle}/{month}/{day}/{kind}",
        account=agreement.account,
        day=day,
        cents=cents,
        method="first_debit" if is_first else agreement.method,
        purpose=fill_purpose(fixed, template, month, day),
        category=agreement.category,
        partner=DEMO_BANK if of_bank else partner.brand,
        name=None if of_bank else partner.legal,
        iban=None if of_bank else partner.iban,
        bic=None if of_bank else partner.bic,
        ultimate=agreement.ultimate.format(spouse=life.given_names[1]) if agreement.ultimate else None,
        creditor_id=partner.creditor_id if is_debit else None,
        mandate=mandate if is_debit else None,
        reference=None if of_bank else write_reference(fixed, mandate, day, kind),
        insurance_type=agreement.insurance,
        contract=fixed.contract,
        is_regular=agreement.contract and not kind,
        freelancer=agreement.freelancer,
    )


def _reverse(payment: Draft, method: str) -> Draft:
    """The same parties with the money going the other way."""
    return replace(payment, method=method, creditor_id=None, mandate=None, is_regular=False)


def draft_bonus(fixed: FixedAgreement, bonus: Bonus, month: int, day: date, cents: int) -> Draft:
    return draft_payment(fixed, month, day, round(cents * bonus.share), bonus.purpose, "bonus")


def refund(payment: Draft) -> Draft:
    """Money given back. A premium paid back stays an insurance booking; all other refunds are other income."""
    back = _reverse(payment, "credit")
    back.category = payment.category if payment.category.startswith("INSURANCE") else "INCOME_OTHER"
    return back


def draft_double(payment: Draft) -> list[Draft]:
    """The same payment once more by mistake, on the same day, and given back some days later."""
    method = "debit" if payment.method == "first_debit" else payment.method
    double = replace(payment, key=f"{payment.key}double", method=method, is_regular=False)
    back = refund(double)
    back.key, back.cents, back.day = f"{payment.key}double back", -payment.cents, add_banking_days(payment.day, 6)
    back.purpose = f"Erstattung Doppelabbuchung vom {payment.day:%d.%m.%Y} {payment.purpose}"
    return [double, back]


def draft_settlement(fixed: FixedAgreement, plan: Settlement, month: int, cents: int) -> Draft:
    """The yearly bill: paid on top, or paid back."""
    share = plan.low + (plan.high - plan.low) * draw_share("settlement", fixed.life.login, fixed.term.id, month)
    day = move_to_banking_day(find_day(month, plan.day), 1)
    amount = round(abs(cents) * share * 100 / 97)
    payment = draft_payment(fixed, month, day, -amount, plan.purpose, "settlement")
    if amount >= 0:
        return payment
    return refund(payment)


def draft_return(fixed: FixedAgreement, payment: Draft, month: int) -> list[Draft]:
    """A debit that bounced: money back, the bank's charge, and the partner's second attempt with its own charge."""
    day = add_banking_days(payment.day, 2)
    returned = _reverse(payment, "returned")
    returned.key += "returned"
    returned.day = day
    returned.cents = -payment.cents
    returned.category = "BANKFINANCE_OTHER"
    returned.insurance_type = NO_INSURANCE
    returned.purpose = f"RETOURE SEPA Lastschrift vom {payment.day:%d.%m.%Y}, Rueckgabegrund: AM04 {payment.purpose}"
    charge = Draft(
        key=f"{payment.key}charge",
        account=payment.account,
        day=day,
        cents=-325,
        method="charge",
        purpose=f"Entgelt für Rücklastschrift vom {payment.day:%d.%m.%Y}",
        category="BANKFINANCE_OTHER",
        partner=DEMO_BANK,
    )
    again = replace(payment, key=f"{payment.key}again", method="debit", day=add_banking_days(day, 8), is_regular=False)
    again.cents = payment.cents - pick_one((250, 350, 500, 750), "second attempt", payment.key)
    again.purpose = f"{payment.purpose} zzgl. Rücklastschriftgebühr"
    return [returned, charge, again]


def draft_counter_booking(life: Life, payment: Draft, target: str) -> Draft:
    """The other side of a transfer between own accounts."""
    return Draft(
        key=f"{payment.key}mirror",
        account=target,
        day=payment.day,
        cents=-payment.cents,
        method=MIRRORED.get(payment.method, "credit"),
        purpose=payment.purpose,
        category="BANKFINANCE_TRANSFER" if payment.method == "settlement" else "TRANSFER_OWN",
        partner=payment.partner,
        name=life.name,
        iban=life.ibans[payment.account],
        bic=DEMO_BIC,
        reference=payment.reference,
        freelancer=payment.freelancer,
    )


def draft_own_transfer(life: Life, payment: Draft, target: str) -> list[Draft]:
    payment.name, payment.partner = life.name, life.name
    payment.iban, payment.bic = life.ibans[target], DEMO_BIC
    return [payment, draft_counter_booking(life, payment, target)]


def draft_month(fixed: FixedAgreement, month: int, day: date) -> Iterator[Draft]:
    """All bookings that a payment due in that month brings."""
    life, agreement, term = fixed.life, fixed.agreement, fixed.term
    cents = compute_cents(life, term, month)
    signed = cents if agreement.method in INCOMING else -cents
    payment = draft_payment(fixed, month, day, signed, fixed.purpose)
    if agreement.to:
        yield from draft_own_transfer(life, payment, agreement.to)
    else:
        yield payment
    if agreement.returned and draw_share("returned", life.login, term.id, month) < agreement.returned:
        yield from draft_return(fixed, payment, month)
    if slips(life, term, month, agreement.doubled_every):
        yield from draft_double(payment)
    if agreement.bonus and month % 12 + 1 == agreement.bonus.month:
        yield draft_bonus(fixed, agreement.bonus, month, day, cents)
    if agreement.settlement and month % 12 + 1 == agreement.settlement.month and term.covers(month - 6):
        yield draft_settlement(fixed, agreement.settlement, month, cents)


def draft_term(fixed: FixedAgreement, first: int, last: int) -> list[Draft]:
    """The term's bookings for payments due in the months from `first` to `last`."""
    due = list_payments(fixed.life, fixed.term, first, last)
    return [draft for number, day in due for draft in draft_month(fixed, number, day)]
