"""The letter that cancels a contract: who writes to whom, and about which contract."""

from collections.abc import Mapping
from datetime import date

from kontor.analysis.contracts import Contract
from kontor.analysis.contracts.mandates import MandateNames, read_mandate
from kontor.analysis.records import NO_PARTNER, Account
from kontor.analysis.trees import BUSINESS_PARTNERS, TREES, find_item
from kontor.domain.contracts import ContractSettings
from kontor.domain.notice_periods import read_period, subtract_period
from kontor.services.analyses import Facts
from kontor.wire.letters.pages import Letter, draw_letter
from kontor.wire.letters.texts import Language, group_iban, read_texts, show_day

MAX_NUMBERS = 3


def write_cancellation(facts: Facts, contract_id: str, day: date | None, language: Language) -> bytes:
    """The letter as PDF; nothing where there is no such contract. `day` is when the contract is to end."""
    contract = next((contract for contract in facts.all_contracts if contract.id == contract_id), None)
    return b"" if contract is None else draw_letter(make_cancellation(contract, facts, day, language))


def make_cancellation(contract: Contract, facts: Facts, day: date | None, language: Language) -> Letter:
    texts, settings = read_texts(language), facts.find_settings(contract.id)
    latest = next(record for record in facts.records if record.id == contract.transaction_ids_regular[-1])
    account = next((account for account in facts.accounts if account.id == latest.account), None)
    mandate = read_mandate(latest.purpose)
    end = day or _find_end(settings, facts.today)
    paragraphs = [
        texts["salutation"],
        texts["cancel_soon"] if end is None else texts["cancel_at"].format(day=show_day(end, language)),
        texts["confirm"],
    ]
    return Letter(
        language=language,
        sender="" if account is None else " ".join(account.holder.split()),
        sender_hint=texts["missing_name"],
        recipient=_list_recipient(contract),
        recipient_hint=texts["missing_name"],
        address_hint=texts["missing_address"],
        day=facts.today,
        day_text=show_day(facts.today, language),
        subject=texts["subject"],
        facts=_list_facts(contract, settings, account, mandate, texts),
        paragraphs=[*paragraphs, texts["revoke"]] if mandate.reference else paragraphs,
        closing=texts["closing"],
        signature_hint=texts["signature"],
    )


def _find_end(settings: ContractSettings, today: date) -> date | None:
    """The end of the minimum term, where it can still be reached."""
    end, period = settings.minimum_term_end, settings.notice_period
    if end is None or end < today:
        return None
    is_late = period is not None and subtract_period(end, read_period(period, "noticePeriod")) < today
    return None if is_late else end


def _list_recipient(contract: Contract) -> list[str]:
    """Whoever is paid in the end, and the address where it is known."""
    name = contract.counterparty_name_ultimate or contract.counterparty_name
    item = None if contract.partner == NO_PARTNER else find_item(TREES[BUSINESS_PARTNERS], contract.partner)
    partner = None if item is None else item.partner
    lines = [" ".join(name.split()) or ("" if partner is None else partner.name)]
    if partner is not None and partner.street and partner.city:
        lines += [partner.street, f"{partner.zip_code or ''} {partner.city}".strip()]
    return [line for line in lines if line]


def _list_facts(
    contract: Contract,
    settings: ContractSettings,
    account: Account | None,
    mandate: MandateNames,
    texts: Mapping[str, str],
) -> list[tuple[str, str]]:
    known = [
        ("contract", settings.name or ""),
        ("customer_number", ", ".join(contract.customer_numbers[:MAX_NUMBERS])),
        ("contract_number", ", ".join(contract.contract_numbers[:MAX_NUMBERS])),
        ("mandate", mandate.reference),
        ("creditor", mandate.creditor_id),
        ("account", "" if account is None or not account.iban else group_iban(account.iban)),
    ]
    shown = [(texts[name], value) for name, value in known if value]
    has_number = bool(contract.customer_numbers or contract.contract_numbers)
    return shown if has_number else [*shown, (texts["any_number"], "")]
