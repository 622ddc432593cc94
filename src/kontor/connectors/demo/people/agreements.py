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


def find_edition(deal: FixedAgreement, month: int) -> int:
    """How often the partner has changed its bank, mandate or name by then."""
    renewal = deal.agreement.renewal
    return (month - deal.life.cycle_start) // renewal.every if renewal else 0


def find_parties(deal: FixedAgreement, month: int) -> tuple[Partner, str]:
    """The partner and the mandate as they are in that month."""
    renewal = deal.agreement.renewal
    if renewal is None:
        return deal.partner, deal.mandate
    edition = find_edition(deal, month)
    mandate = deal.mandate
    if "mandate" in renewal.what:
        mandate = draw_mandate(deal.life.login, deal.agreement.key, deal.term.cycle, edition)
    return renew_partner(deal.partner, edition, renewal.what), mandate


def is_first_debit(deal: FixedAgreement, month: int, day: date) -> bool:
    """Whether this is the first debit under its mandate."""
    if deal.first_due == (month, day):
        return True
    renewal = deal.agreement.renewal
    if renewal is None or "mandate" not in renewal.what:
        return False
    return find_edition(deal, month) != find_edition(deal, month - MONTHS[deal.agreement.period])


class PurposeWords(dict[str, object]):
    """The words a purpose may use, each made when it is asked for: `PLACEHOLDERS` has them all."""

    def __init__(self, deal: FixedAgreement, month: int, day: date) -> None:
        super().__init__()
        self.deal, self.month, self.day = deal, month, day

    def __missing__(self, name: str) -> object:
        return PLACEHOLDERS[name](self.deal, self.month, self.day)


def _find_last_covered_day(deal: FixedAgreement, month: int) -> date:
    return find_day(month + MONTHS.get(deal.agreement.period, 1), 1) - timedelta(days=1)


PLACEHOLDERS: dict[str, Callable[[FixedAgreement, int, date], object]] = {
    "contract": lambda deal, month, day: deal.contract_number,
    "customer": lambda deal, month, day: deal.customer_number,
    "invoice": lambda deal, month, day: draw_digits(8, "invoice", deal.life.login, deal.term.id, day),
    "MM": lambda deal, month, day: f"{month % 12 + 1:02d}",
    "YYYY": lambda deal, month, day: month // 12,
    "YY": lambda deal, month, day: f"{month // 12 % 100:02d}",
    "last_year": lambda deal, month, day: month // 12 - 1,
    "month": lambda deal, month, day: MONTH_NAMES[month % 12],
    "last_month": lambda deal, month, day: MONTH_NAMES[(month - 1) % 12],
    "quarter": lambda deal, month, day: month % 12 // 3 + 1,
    "last_quarter": lambda deal, month, day: (month % 12 // 3 - 1) % 4 + 1,
    "begin": lambda deal, month, day: f"{find_day(month, 1):%d.%m.%Y}",
    "end": lambda deal, month, day: f"{_find_last_covered_day(deal, month):%d.%m.%Y}",
    "day": lambda deal, month, day: f"{day:%d.%m.%Y}",
    "name": lambda deal, month, day: deal.life.name,
    "surname": lambda deal, month, day: deal.life.surname,
    "spouse": lambda deal, month, day: deal.life.given_names[1],
    "child": lambda deal, month, day: deal.life.children[deal.term.cycle % 4],
    "street": lambda deal, month, day: deal.life.find_address(month).street,
    "city": lambda deal, month, day: deal.life.find_place(month).city,
    "plate": lambda deal, month, day: deal.life.plates[0],
    "second_plate": lambda deal, month, day: deal.life.plates[1],
    "brand": lambda deal, month, day: deal.partner.brand,
}


def fill_purpose(deal: FixedAgreement, template: str, month: int, day: date) -> str:
    return template.format_map(PurposeWords(deal, month, day)) if "{" in template else template


def write_reference(deal: FixedAgreement, mandate: str, day: date, kind: str) -> str:
    form = deal.reference_form
    if "{" not in form:
        return form
    number = draw_digits(10, "reference", deal.life.login, deal.term.id, day, kind)
    return form.format(digits=number, mandate=mandate, number=number[:6])


def draft_payment(deal: FixedAgreement, month: int, day: date, cents: int, template: str, kind: str = "") -> Draft:
    """A booking of the deal. `kind` tells extra payments from the regular one, which has none."""
    life, agreement = deal.life, deal.agreement
    partner, mandate = find_parties(deal, month)
    is_debit = agreement.method in DEBITS
    of_bank = agreement.method in OF_THE_BANK
    is_first = is_debit and not kind and is_first_debit(deal, month, day)
    return Draft(
        key=f"{agreement.key}/{deal.term.cycle}/{month}/{day}/{kind}",
        account=agreement.account,
        day=day,
        cents=cents,
        method="first_debit" if is_first else agreement.method,
        purpose=fill_purpose(deal, template, month, day),
        category=agreement.category,
        partner=DEMO_BANK if of_bank else partner.brand,
        name=None if of_bank else partner.legal,
        iban=None if of_bank else partner.iban,
        bic=None if of_bank else partner.bic,
        ultimate=agreement.ultimate.format(spouse=life.given_names[1]) if agreement.ultimate else None,
        creditor_id=partner.creditor_id if is_debit else None,
        mandate=mandate if is_debit else None,
        reference=None if of_bank else write_reference(deal, mandate, day, kind),
        insurance_type=agreement.insurance,
        contract=deal.contract,
        is_regular=agreement.contract and not kind,
        freelancer=agreement.freelancer,
    )


def _reverse(payment: Draft, method: str) -> Draft:
    """The same parties with the money going the other way."""
    return replace(payment, method=method, creditor_id=None, mandate=None, is_regular=False)


def draft_bonus(deal: FixedAgreement, bonus: Bonus, month: int, day: date, cents: int) -> Draft:
    return draft_payment(deal, month, day, round(cents * bonus.share), bonus.purpose, "bonus")


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


def draft_settlement(deal: FixedAgreement, plan: Settlement, month: int, cents: int) -> Draft:
    """The yearly bill: paid on top, or paid back."""
    share = plan.low + (plan.high - plan.low) * draw_share("settlement", deal.life.login, deal.term.id, month)
    day = move_to_banking_day(find_day(month, plan.day), 1)
    amount = round(abs(cents) * share * 100 / 97)
    payment = draft_payment(deal, month, day, -amount, plan.purpose, "settlement")
    if amount >= 0:
        return payment
    return refund(payment)


def draft_return(deal: FixedAgreement, payment: Draft, month: int) -> list[Draft]:
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


def draft_month(deal: FixedAgreement, month: int, day: date) -> Iterator[Draft]:
    """All bookings that a payment due in that month brings."""
    life, agreement, term = deal.life, deal.agreement, deal.term
    cents = compute_cents(life, term, month)
    signed = cents if agreement.method in INCOMING else -cents
    payment = draft_payment(deal, month, day, signed, deal.purpose)
    if agreement.to:
        yield from draft_own_transfer(life, payment, agreement.to)
    else:
        yield payment
    if agreement.returned and draw_share("returned", life.login, term.id, month) < agreement.returned:
        yield from draft_return(deal, payment, month)
    if slips(life, term, month, agreement.doubled_every):
        yield from draft_double(payment)
    if agreement.bonus and month % 12 + 1 == agreement.bonus.month:
        yield draft_bonus(deal, agreement.bonus, month, day, cents)
    if agreement.settlement and month % 12 + 1 == agreement.settlement.month and term.covers(month - 6):
        yield draft_settlement(deal, agreement.settlement, month, cents)


def draft_term(deal: FixedAgreement, first: int, last: int) -> list[Draft]:
    """The term's bookings for payments due in the months from `first` to `last`."""
    due = list_payments(deal.life, deal.term, first, last)
    return [draft for number, day in due for draft in draft_month(deal, number, day)]
