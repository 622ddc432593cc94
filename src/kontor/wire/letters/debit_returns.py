"""The letter that demands the amount of a direct debit back from the customer's own bank."""

from decimal import Decimal

from schwifty import IBAN
from schwifty.exceptions import SchwiftyException

from kontor.analysis.debit_returns import list_debits
from kontor.analysis.records import Account
from kontor.domain.debit_returns import ReturnableDebit, ReturnGround
from kontor.services.analyses import Facts
from kontor.wire.letters.pages import Letter, draw_letter
from kontor.wire.letters.texts import Language, group_iban, read_texts, show_day

PARAGRAPHS = {ReturnGround.WITHOUT_REASON: "refund", ReturnGround.UNAUTHORISED: "unauthorised"}


def write_debit_return(facts: Facts, debit_id: str, ground: ReturnGround | None, language: Language) -> bytes:
    """The letter as PDF; nothing where the debit cannot be returned on this ground, or without one on any."""
    debits = list_debits(facts.records, facts.today)
    debit = next((debit for debit in debits if debit.id == debit_id), None)
    if debit is None or not debit.rights:
        return b""
    chosen = ground or debit.rights[0].ground
    if debit.find_right(chosen) is None:
        return b""
    return draw_letter(make_debit_return(debit, facts, chosen, language))


def make_debit_return(debit: ReturnableDebit, facts: Facts, ground: ReturnGround, language: Language) -> Letter:
    texts = read_texts(language)
    account = next((account for account in facts.accounts if account.id == debit.account), None)
    day = show_day(debit.day, language)
    return Letter(
        language=language,
        sender="" if account is None else " ".join(account.holder.split()),
        sender_hint=texts["missing_name"],
        recipient=_find_bank(account),
        recipient_hint=texts["missing_bank"],
        address_hint=texts["missing_address"],
        day=facts.today,
        day_text=show_day(facts.today, language),
        subject=texts["return_subject"],
        facts=[
            (texts[name], value)
            for name, value in [
                ("account", "" if account is None else group_iban(account.iban)),
                ("debit_day", day),
                ("debit_amount", _show_amount(debit.amount, debit.currency, language)),
                ("debit_creditor", debit.creditor),
                ("mandate", debit.mandate),
                ("creditor", debit.creditor_id),
            ]
            if value
        ],
        paragraphs=[texts["salutation"], texts[PARAGRAPHS[ground]].format(day=day), texts["return_confirm"]],
        closing=texts["closing"],
        signature_hint=texts["signature"],
    )


def _find_bank(account: Account | None) -> list[str]:
    """The name of the bank that belongs to the IBAN, where it is known."""
    if account is None or not account.iban:
        return []
    try:
        name = IBAN(account.iban).bank_name
    except (SchwiftyException, ValueError):
        return []
    return [name] if name else []


def _show_amount(amount: Decimal, currency: str, language: Language) -> str:
    text = f"{amount:,.2f}"
    if language == "de":
        text = text.replace(",", " ").replace(".", ",").replace(" ", ".")
    return f"{text} {currency}"
