"""A booking as the tagger reads it: who, what for and how, each folded once."""

import re
from typing import NamedTuple

from kontor.analysis.tagging.card_texts import CARD_PREFIXES, cut_place, find_remark, find_shop
from kontor.analysis.tagging.columns import is_cut, join_lines
from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.intermediaries import find_bare_merchant, find_merchants, is_collector, unwrap_star
from kontor.analysis.tagging.knowledge import LEGAL_FORMS
from kontor.analysis.tagging.layouts import Found, load_layouts
from kontor.analysis.tagging.lexicons import Rules
from kontor.analysis.tagging.sepa_tags import GLUED_KIND, SepaFields, split_glued, split_purpose
from kontor.domain.transactions import Transaction

CARD, DEBIT, TRANSFER, CREDIT, SALARY, OTHER = "card", "debit", "transfer", "credit", "salary", ""
# How money moves at a till.
TILLS = frozenset({CARD, DEBIT})

NO_FIELDS = SepaFields("")
MAX_BOOKING_TEXTS = 2000
# How a purpose tells that a card was used, where a bank tells it nowhere else.
CARD_PURPOSE = "Card transaction of"
# `NR XXXX 4711 CELLE`, `NR7123456789 CELLE`: the number of a card in front.
_NUMBER_FIRST = re.compile(r"NR ?(?:XXXX|\d{10} )")
# `…//CELLE/DE 2026-02-03T09:14:55 Folgenr.002`, broken anywhere by lines' ends: a till, whatever the booking text says.
_TILL = re.compile(r"//[^/]{2,30}/ ?[A-Z] ?[A-Z](?:/\d)? ?\d[\d -]{8,12}T[\d: .]{4}")
CARD_PARTICULARS = ("Debitk.", "DEBITK.", " KFN ")
# Money given back to a card comes as a credit.
CARD_NUMBER = "Karte Nr."
# Blanks that were lost when a statement was read: `RechnungSPARKASSE AGEntgelt`.
_LOST_BLANK = re.compile(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ]{2})|(?<=[A-ZÄÖÜ]{2})(?=[A-ZÄÖÜ][a-zäöüß]{2})")
# Who thanks is the brand, whoever collects: `Danke fuer die Aufladung. FONIC SAGT DANKE`.
THANKS = (" sagt danke", " dankt fuer", " sagt vielen dank")
MAX_THANKING_WORDS = 3
# What stands before a star and is no brand is a collector's code: `ZLR*ATELIER NORDWIND`.
_STAR_CODE = re.compile(r"([A-Za-z]{2,4}) ?\*\s*(?=[^\W\d])")
# Who acts for another: `JDC PLUS GMBH INKASSO F. INTER LEBEN`, `ELEMENT INSURANCE AG I.A. ASSONA GMBH`.
_AGENT = re.compile(r" (?:inkasso (?:f|fuer)|i a|im auftrag(?: der| von)?|gmbh f|ag f) ")
# Who collects for a shop that is named first: `SCHUHHAUS NORD - RATEPAY GMBH`.
_COLLECTOR_BEHIND = re.compile(r"(?<=\w{3}) (?:c o |by |ueber |via )?(?:ratepay|klarna|riverty|afterpay|billpay)\b.*$")
# A brand whose blanks were lost: `EDEKAMUELLERSAGTDANKE`, `KAUFLANDWUERZBURG`, `RYANAIR224000HX`.
MIN_GLUED_LENGTH, MIN_GLUED_BRAND_LENGTH, MAX_GLUED_BRAND_LENGTH = 10, 4, 20
GLUED_STARTS, GLUED_END = ("station", "tankstelle", "filiale", "sagt", "dankt", "gmbh"), "sagtdanke"
# PayPal writes merchants without blanks and cuts them to this many letters: `FLACONIGMBH`. What then stands behind a
# brand is how firms go on.
SQUASHED, MIN_SQUASHED_LENGTH = 11, 6
FIRM_ENDS = (
    *("gmbhcokg", "gmbhundco", "agdeutschland", "sedeutschland", "ugdeutschland", "kgdeutschland", "ohg", "ltd"),
    *("limited", "bvdeutschland", "sarl", "srl", "sro", "incorporated", "llc", "aps", "spa", "deutschland", "germany"),
    *("europe", "international", "onlineshop", "shop", "store", "versand", "detail", "com", "eu", "ab", "sa", "nv"),
)
# Who is named in card bookings and only moves the money.
MOVERS = frozenset(
    [
        "bank",
        "landesbank",
        "payment",
        "payments",
        "paysquare",
        "cardprocess",
        "acquiring",
        "clearing",
        "kst",
        "transact",
    ]
)
# The number of a branch in front of a shop: `7719 SCHUHHAUS`.
_BRANCH_FIRST = re.compile(r"\d{3,8} (?=[a-z]{3})")
# A number that has lost the blank in front: `GOOGLE*ADS5520183746`.
_GLUED_NUMBER = re.compile(r"(?<=[a-z]{3})(?=\d{6,}(?: |$))")
# `DANKE, IHR TEGUT`, `DANKE SAGT IHR FAMILA TEAM`
_THANKING_FIRST = re.compile(r"(?:vielen )?dank(?:e)? (?:sagt )?(?:ihr|euer) (?P<shop>.+?)(?: team)?$")
# A merchant behind PayPal's star is cut so that both have this many letters.
CUT_STARRED = frozenset((18, 19))
# A code of our own for bookings over zero.
NOTHING_MOVED = "000"
# In capitals these cannot be told from words.
CODES_THAT_ARE_WORDS = frozenset({"CHAR", "LOAN", "RENT", "VIEW"})


class Reading(NamedTuple):
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
        self._layouts, self._abbreviations = load_layouts(), rules.abbreviations
        self._abbreviated, self._places = frozenset(rules.abbreviations), rules.places
        self._squashed: dict[str, str] | None = None

    def read_booking_text(self, booking_text: str) -> tuple[str, str]:
        """A booking text folded, and the channel its words tell. Banks have but a few, so each is read once."""
        known = self._booking_texts.get(booking_text)
        if known is None:
            text = fold(booking_text)
            known = text, self._find_channel(text)
            if len(self._booking_texts) < MAX_BOOKING_TEXTS:
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

    def _find_beside(self, name: str, shop: str) -> str:
        """The counterparty beside what a till writes, where that is another name: `HEIDE APOTHEKE` and its owner. Who
        only moves the money is left out."""
        if not name or "//" in name or name[:5].lower() == shop[:5].lower() or name.lower().startswith(CARD_PREFIXES):
            return ""
        folded = fold(name)
        is_mover = is_collector(folded) or not MOVERS.isdisjoint(folded.split()) or folded[:1].isdigit()
        return "" if is_mover else name

    def _unwrap(self, shop: str) -> tuple[str, bool]:
        """The merchant behind a star, and whether there was a collector before it."""
        merchant, has_collector = unwrap_star(shop)
        if not has_collector and "*" in shop[:6]:
            code = _STAR_CODE.match(shop)
            merchant = shop[code.end() :] if code else ""
            brand = f"{code[1]} {merchant.partition(' ')[0]}" if code else ""
            # `LIM*RIDE COST` is a brand, star and all.
            if code and self._brands.isdisjoint((code[1].lower(), fold(brand))):
                return merchant, True
            return shop, False
        return merchant, has_collector

    def _read_shop(self, name: str, purpose: str, channel: str) -> tuple[str, str, bool]:
        """As `read_shop`, with collectors that no list holds."""
        shop, purpose, has_collector = read_shop(name, purpose, channel)
        if channel == CARD and not has_collector:
            shop, has_collector = self._unwrap(shop)
        return shop, purpose, has_collector

    def _fold_name(self, name: str, ultimate: str, channel: str) -> tuple[str, str]:
        """The folded name, and who else is named. Where somebody acts for another, that one is meant."""
        folded = self._tidy_name(fold(name.replace("+", "&") if "+" in name else name), channel)
        if channel == CARD:
            return self._part_glued(_GLUED_NUMBER.sub(" ", folded)), ultimate
        if behind := _COLLECTOR_BEHIND.search(folded):
            folded = folded[: behind.start()]
        agent = _AGENT.search(folded)
        return (folded[agent.end() :], folded[: agent.start()]) if agent else (folded, ultimate)

    def _tidy_name(self, folded: str, channel: str) -> str:
        """A folded name without what tills add in front: the number of a branch, and thanks."""
        if folded.startswith(("danke ", "vielen dank")) and (thanking := _THANKING_FIRST.match(folded)):
            return thanking["shop"]
        if channel in TILLS and folded[:1].isdigit() and (branch := _BRANCH_FIRST.match(folded)):
            return folded[branch.end() :]
        return folded

    def _part_glued(self, name: str) -> str:
        """The folded name of a card text with a blank behind a brand that has lost it."""
        word = name.partition(" ")[0]
        if len(word) < MIN_GLUED_LENGTH or word in self._brands:
            return name
        for size in range(min(len(word) - 2, MAX_GLUED_BRAND_LENGTH), MIN_GLUED_BRAND_LENGTH - 1, -1):
            if word[:size] in self._brands:
                rest = word[size:]
                if rest[0].isdigit() or rest.startswith(GLUED_STARTS) or rest.endswith(GLUED_END):
                    return f"{word[:size]} {name[size:]}"
                if rest in self._places:
                    return f"{word[:size]} {name[size:]}"
        return name

    def _find_squashed(self) -> dict[str, str]:
        """Brands as PayPal cuts them; those that would be the same are left out. Made when it is first needed."""
        if self._squashed is not None:
            return self._squashed
        found: dict[str, str] = {}
        for brand in sorted(self._brands):
            squashed = brand.replace(" ", "")
            if len(squashed) >= SQUASHED:
                start = squashed[:SQUASHED]
                known = found.get(start)
                # `Tegut` may go on as `Tegut Teo`: the shorter one is meant by both.
                is_same = known is None or (known and squashed.startswith(known.replace(" ", "")))
                found[start] = (known or brand) if is_same else ""
        self._squashed = found
        return found

    def _part_squashed(self, name: str) -> str:
        """A merchant's folded name with the blanks that its collector left out."""
        word, _, rest = name.partition(" ")
        if len(word) < MIN_SQUASHED_LENGTH or word in self._brands:
            return name
        brand = self._find_squashed().get(word, "") if len(word) == SQUASHED else ""
        for size in range(len(word) - 1, MIN_GLUED_BRAND_LENGTH, -1):
            if brand:
                break
            ending = word[size:]
            is_firm = (len(ending) > 1 or len(word) == SQUASHED) and any(end.startswith(ending) for end in FIRM_ENDS)
            brand = word[:size] if is_firm and word[:size] in self._brands else ""
        return f"{brand} {rest}".rstrip() if brand else name

    def _find_bare(self, collector: str, purpose: str) -> str:
        """A merchant without words that tell it is one must be a brand, or behind a star."""
        merchant, is_starred = find_bare_merchant(collector, purpose)
        bare = fold(merchant.replace(" + ", "&")) if merchant else ""
        brand = " ".join(word for word in bare.split() if word not in LEGAL_FORMS)
        return bare if is_starred or brand in self._brands else ""

    def _read_layout(self, found: Found) -> str:
        """The shop that a layout names, without its place unless that is part of the brand."""
        name = found.name
        if found.place and fold(name) not in self._brands:
            name = cut_place(name, found.place)
        return name.rstrip(" ,.-")

    def _find_thanking(self, purpose: str) -> str:
        """The brand that thanks in a folded purpose; empty if there is none."""
        for thanks in THANKS:
            words = purpose.partition(thanks)[0].split() if thanks in purpose else []
            while words and words[-1] in LEGAL_FORMS:
                words.pop()
            for count in range(MAX_THANKING_WORDS, 0, -1):
                brand = " ".join(words[-count:])
                if brand in self._brands:
                    return brand
        return ""

    def _spell_out(self, name: str, ultimate: str) -> str:
        """Who else is named: the ultimate counterparty, and a name with its abbreviations spelled out."""
        folded = fold(ultimate) if ultimate else ""
        words = name.split()
        if self._abbreviated.isdisjoint(words):
            return folded
        spelled = " ".join([self._abbreviations.get(word, word) for word in words])
        return f"{folded} | {spelled}" if folded else spelled

    def _look_behind(self, collector: str, ultimate: str, purpose: str, others: str) -> tuple[str, str, str, str, bool]:
        """The merchant behind a collector, with what is left of the other texts, and whether there is one."""
        merchants, rest = find_merchants(purpose)
        if merchants:
            # The other reading of lines' ends may hold the name uncut.
            ultimate = " , ".join([*merchants[1:], others]) if others or len(merchants) > 1 else ultimate
            return fold(merchants[0]), ultimate, rest, "", True
        if ultimate and not is_collector(fold(ultimate)):
            return fold(ultimate), "", purpose, others, True
        bare = self._find_bare(collector, purpose)
        return bare or collector, ultimate, purpose, others, bool(bare)

    def read(self, transaction: Transaction) -> Reading:
        raw_name, raw_purpose = transaction.counterparty_name or "", transaction.purpose or ""
        booking_text = transaction.booking_text
        layout = self._layouts.read(raw_name, raw_purpose, booking_text or "", transaction.amount)
        if layout is not None:
            raw_name, raw_purpose = self._read_layout(layout), layout.purpose
        raw_purpose = self._layouts.cut_noise(raw_purpose)
        if not booking_text and (raw_purpose.startswith(GLUED_KIND) or (not raw_name and GLUED_KIND in raw_purpose)):
            name, booking_text, raw_purpose = split_glued(raw_purpose)
            raw_name = raw_name or name
        text, channel = self.read_booking_text(booking_text) if booking_text else ("", OTHER)
        gv_code = (transaction.gv_code or "")[:3] if transaction.amount else NOTHING_MOVED
        if gv_code:
            channel = self._codes.get(gv_code, channel)
        if layout is not None and layout.channel:
            channel = layout.channel
        elif channel != CARD and is_card_text(raw_name, raw_purpose, channel):
            channel = CARD
        shop = find_shop(raw_name, raw_purpose, True) if channel == CARD else None
        if shop is not None:
            shop = self._keep_place(shop, raw_name, raw_purpose)
            # Card texts are most of all rows and have no SEPA fields.
            fields, others = NO_FIELDS, ""
            (name, has_collector), purpose = self._unwrap(shop), find_remark(raw_name, raw_purpose)
        else:
            joined, others, mended = join_lines(raw_purpose)
            fields = split_purpose(joined)
            raw_name = raw_name or fields.name
            text_found = fields.text
            if others and text_found is joined:
                # Without fields the lines may be chance: the text stays, with its phrases, and joined words come after.
                text_found, others = raw_purpose, mended
            name, purpose, has_collector = self._read_shop(raw_name, text_found, channel)
        beside = fields.ultimate if shop is None else self._find_beside(raw_name, shop)
        folded, ultimate = self._fold_name(name, transaction.ultimate_counterparty or beside, channel)
        has_merchant = has_collector
        if is_collector(folded):
            has_collector = True
            folded, ultimate, purpose, others, has_merchant = self._look_behind(folded, ultimate, purpose, others)
        if has_merchant:
            folded = self._part_squashed(folded)
        folded_purpose = _fold_purpose(purpose, others, not folded) if purpose else ""
        if "dank" in folded_purpose and (thanking := self._find_thanking(folded_purpose)):
            folded, ultimate = thanking, f"{ultimate} , {folded}"
        return Reading(
            transaction.amount > 0,
            folded,
            self._spell_out(folded, ultimate),
            folded_purpose,
            text,
            fields.creditor_id,
            fields.purpose_code or (raw_purpose[-4:] if f" {raw_purpose}"[-5:] in self._bare_codes else ""),
            gv_code,
            channel,
            has_collector,
            has_merchant,
            not folded or (has_collector and not has_merchant),
            is_cut(shop or name) or is_cut(raw_name) or (has_collector and len(shop or raw_name) in CUT_STARRED),
        )


def is_card_text(name: str, purpose: str, channel: str) -> bool:
    """Whether a booking tells only by how it is written that a card was used."""
    if purpose.startswith(CARD_PURPOSE) or (purpose.startswith("NR") and _NUMBER_FIRST.match(purpose)):
        return True
    if "//" in purpose and _TILL.search(purpose):
        return True
    if channel != OTHER or "SVWZ+" in purpose or "MREF+" in purpose:
        return False
    return "//" in name or any(sign in purpose for sign in CARD_PARTICULARS)


def _fold_purpose(purpose: str, others: str, is_unnamed: bool) -> str:
    """The purpose and other readings of it: words that lines' ends tore apart, and blanks that were lost."""
    folded = f"{fold(purpose)} | {fold(others)}" if others else fold(purpose)
    if is_unnamed and _LOST_BLANK.search(purpose):
        folded = f"{folded} | {fold(_LOST_BLANK.sub(' ', purpose))}"
    return folded


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
