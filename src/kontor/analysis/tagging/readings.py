"""A booking as the tagger reads it: who, what for and how, each folded once."""

from dataclasses import dataclass

from kontor.analysis.tagging.card_texts import find_remark, find_shop
from kontor.analysis.tagging.columns import is_cut, join_lines
from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.intermediaries import find_bare_merchant, find_merchants, is_collector, unwrap_star
from kontor.analysis.tagging.knowledge import LEGAL_FORMS
from kontor.analysis.tagging.lexicons import Rules
from kontor.analysis.tagging.sepa_tags import GLUED_KIND, SepaFields, split_glued, split_purpose
from kontor.domain.transactions import Transaction

CARD, DEBIT, TRANSFER, CREDIT, SALARY, OTHER = "card", "debit", "transfer", "credit", "salary", ""


NO_FIELDS = SepaFields("")
MOST_BOOKING_TEXTS = 2000
# How a purpose tells that a card was used, where a bank tells it nowhere else.
CARD_PURPOSE, HIDDEN_NUMBER = "Card transaction of", "NR XXXX"
CARD_PARTICULARS = ("Debitk.", "DEBITK.", " KFN ")
# Money given back to a card comes as a credit.
CARD_NUMBER = "Karte Nr."
# A code of our own for bookings over zero.
NOTHING_MOVED = "000"
# In capitals these cannot be told from words.
CODES_THAT_ARE_WORDS = frozenset({"CHAR", "LOAN", "RENT", "VIEW"})


@dataclass
class Reading:
    """`name` is the merchant where one can be seen behind a collector; `is_unnamed` says that the purpose is all there
    is to tell who it was."""

    is_incoming: bool
    name: str
    ultimate: str
    purpose: str
    text: str
    creditor_id: str
    purpose_code: str
    gv_code: str
    channel: str
    has_collector: bool
    has_merchant: bool
    is_unnamed: bool
    is_name_cut: bool


class Reader:
    """Reads bookings; knows the words that tell the channel."""

    def __init__(self, rules: Rules, brands: frozenset[str] = frozenset()) -> None:
        self._brands = brands
        self._codes = {key[3:]: channel for key, channel in rules.channels.items() if key.startswith("gv:")}
        self._words = {key: channel for key, channel in rules.channels.items() if not key.startswith("gv:")}
        self._booking_texts: dict[str, tuple[str, str]] = {}
        codes = {keyword.code[5:] for keyword in rules.keywords if keyword.code.startswith("purp:")}
        # Some banks write a purpose code bare at the end.
        self._bare_codes = frozenset(f" {code}" for code in codes - CODES_THAT_ARE_WORDS)

    def read_booking_text(self, booking_text: str) -> tuple[str, str]:
        """A booking text folded, and the channel its words tell. Banks have but a few, so each is read once."""
        known = self._booking_texts.get(booking_text)
        if known is None:
            text = fold(booking_text)
            known = text, self._find_channel(text)
            if len(self._booking_texts) < MOST_BOOKING_TEXTS:
                self._booking_texts[booking_text] = known
        return known

    def _find_channel(self, text: str) -> str:
        found = OTHER
        for word in text.split():
            channel = self._words.get(word)
            if channel == CARD:
                return CARD
            if channel is not None:
                found = found or channel
        return found

    def _keep_place(self, shop: str, name: str, purpose: str) -> str:
        """A place that is part of a brand belongs to it: `ZOO BERLIN//BERLIN/DE`."""
        whole = (purpose.removeprefix("SVWZ+") if "//" in purpose else name).partition("//")[0]
        return whole if len(whole) > len(shop) and fold(whole) in self._brands else shop

    def _find_bare(self, collector: str, purpose: str) -> str:
        """A merchant without words that tell it is one must be a brand, or behind a star."""
        merchant, is_starred = find_bare_merchant(collector, purpose)
        bare = fold(merchant.replace(" + ", "&")) if merchant else ""
        brand = " ".join(word for word in bare.split() if word not in LEGAL_FORMS)
        return bare if is_starred or brand in self._brands else ""

    def read(self, transaction: Transaction) -> Reading:
        raw_name, raw_purpose = transaction.counterparty_name or "", transaction.purpose or ""
        booking_text = transaction.booking_text
        if not booking_text and (raw_purpose.startswith(GLUED_KIND) or (not raw_name and GLUED_KIND in raw_purpose)):
            name, booking_text, raw_purpose = split_glued(raw_purpose)
            raw_name = raw_name or name
        text, channel = self.read_booking_text(booking_text) if booking_text else ("", OTHER)
        gv_code = (transaction.gv_code or "")[:3] if transaction.amount else NOTHING_MOVED
        if gv_code:
            channel = self._codes.get(gv_code, channel)
        if channel != CARD and is_card_text(raw_name, raw_purpose, channel):
            channel = CARD
        shop = find_shop(raw_name, raw_purpose, True) if channel == CARD else None
        if shop is not None:
            shop = self._keep_place(shop, raw_name, raw_purpose)
            # Card texts are most of all rows and have no SEPA fields.
            fields, others = NO_FIELDS, ""
            (name, has_collector), purpose = unwrap_star(shop), find_remark(raw_name, raw_purpose)
        else:
            joined, others, mended = join_lines(raw_purpose)
            fields = split_purpose(joined)
            raw_name = raw_name or fields.name
            text_found = fields.text
            if others and text_found is joined:
                # Without fields the lines may be chance: the text stays, with its phrases, and joined words come after.
                text_found, others = raw_purpose, mended
            name, purpose, has_collector = read_shop(raw_name, text_found, channel)
        folded = fold(name.replace("+", "&") if "+" in name else name)
        ultimate = transaction.ultimate_counterparty or fields.ultimate
        has_merchant = has_collector
        if is_collector(folded):
            has_collector = True
            merchants, rest = find_merchants(purpose)
            if merchants:
                # The other reading of lines' ends may hold the name uncut.
                ultimate = " , ".join([*merchants[1:], others]) if others or len(merchants) > 1 else ultimate
                folded, purpose, others, has_merchant = fold(merchants[0]), rest, "", True
            elif ultimate and not is_collector(fold(ultimate)):
                folded, ultimate, has_merchant = fold(ultimate), "", True
            elif bare := self._find_bare(folded, purpose):
                folded, has_merchant = bare, True
        return Reading(
            transaction.amount > 0,
            folded,
            fold(ultimate) if ultimate else "",
            _fold_purpose(purpose, others) if purpose else "",
            text,
            fields.creditor_id,
            fields.purpose_code or (raw_purpose[-4:] if f" {raw_purpose}"[-5:] in self._bare_codes else ""),
            gv_code,
            channel,
            has_collector,
            has_merchant,
            not folded or (has_collector and not has_merchant),
            is_cut(shop or name) or is_cut(raw_name),
        )


def is_card_text(name: str, purpose: str, channel: str) -> bool:
    """Whether a booking tells only by how it is written that a card was used."""
    if purpose.startswith(CARD_PURPOSE) or HIDDEN_NUMBER in purpose[:9]:
        return True
    if channel != OTHER or "SVWZ+" in purpose or "MREF+" in purpose:
        return False
    return "//" in name or any(sign in purpose for sign in CARD_PARTICULARS)


def _fold_purpose(purpose: str, others: str) -> str:
    return f"{fold(purpose)} | {fold(others)}" if others else fold(purpose)


def read_shop(name: str, purpose: str, channel: str) -> tuple[str, str, bool]:
    """Who got the money and what is left of the purpose, card texts and collectors' stars unwrapped."""
    is_card = channel == CARD or (not name and CARD_NUMBER in purpose)
    is_transfer = channel in (TRANSFER, CREDIT, SALARY) and not is_card
    shop = None if is_transfer else find_shop(name, purpose, is_card)
    if shop is None:
        shop = name
    else:
        purpose = find_remark(name, purpose)
    merchant, has_collector = unwrap_star(shop)
    return merchant, purpose, has_collector
