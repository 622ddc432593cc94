"""Merchants behind those who collect for them: PayPal, Klarna, SumUp, Zettle, Adyen, Stripe and others.

Three forms are known: `SumUp  *CAFE BOHNE`, `PP.1234.PP . Spotify AB, Ihr Einkauf bei Spotify AB`, and a collector's
name with the merchant somewhere in the purpose.
"""

import re

# What stands before a star in card texts, folded: only passes money on.
STAR_COLLECTORS = frozenset(
    [
        "sumup",
        "paypal",
        "pp",
        "izettle",
        "zettle",
        "sq",
        "square",
        "klarna",
        "stripe",
        "adyen",
        "mollie",
        "mol",
        "payone",
        "sp",
        "fs",
        "paddle",
        "net",
        "cko",
        "dri",
        "2co",
        "ccv",
        "tst",
        "nyx",
        "flatpay",
        "viva",
        "wl",
        "nexi",
        "ls",
        "bkg",
        "eb",
        "lsp",
        "ppro",
        "ezi",
        "wix",
        "wpy",
        "wp",
        "dojo",
        "revolut",
        "payu",
        "uzr",
        "unzer",
        "ppl",
        "pay",
        "mbe",
    ]
) | {"paddle net", "zettle by paypal", "sum up", "iz", "z", "shopify payments"}
STARS = ("*", " .", "_.", "..")
# These stand before merchants without a star too; with such words behind them they are meant themselves.
BARE_COLLECTORS = frozenset(["sumup", "zettle", "izettle"])
BARE_INITIALS = frozenset("SsZzIi")
OWN_WORDS = ("limited", "ltd", "payments", "by paypal", "ab ", "gmbh", "eu ", "pid", "s.a", "uk ", "auszahlung", "nfc")
# How the names of collectors begin, folded.
COLLECTORS = (
    "paypal",
    "klarna",
    "sumup",
    "zettle",
    "izettle",
    "adyen",
    "stripe",
    "mollie",
    "ratepay",
    "riverty",
    "afterpay",
    "arvato payment",
    "payone",
    "bs payone",
    "concardis",
    "nexi germany",
    "unzer",
    "heidelpay",
    "computop",
    "billpay",
    "billie gmbh",
    "sofort gmbh",
    "vr payment",
    "telecash",
    "first data",
    "fiserv",
    "worldline",
    "wirecard",
    "payu",
    "ppro",
    "micropayment",
    "digital river",
    "paddle",
    "amazon payments",
    "easycash",
    "ingenico",
    "intercard",
    "six payment",
    "secupay",
    "novalnet",
    "gocardless",
    "trustly",
    "checkout com",
)
_COLLECTORS_BEGIN = frozenset(collector[:4] for collector in COLLECTORS)
BUYING = ("kauf bei ", "zahlung an ", "bestellung bei ", "payment to ")
# A line's end may stand within these words: `Ihr Einkau f bei`.
_BUYING = re.compile("|".join(" ?".join(words.replace(" ", "")) + " " for words in BUYING))
# `1012345678901/. Garnrolle AB, IBAN: …`: PayPal without its words.
_NUMBERED = re.compile(r"^\d{10,}/\. ?(?=\w)")
# A reference behind a merchant.
_REFERENCE = re.compile(r" \d{6,}.*")
_ENDS = (
    ",",
    " ueber Klarna",
    " über Klarna",
    " via Klarna",
    " Klarna",
    " KLARNA",
    " Artikel",
    " AWV",
    " Kd-Nr",
    " Bestell",
    " Order",
    " Referenz",
    " Transaktion",
)
# These name a merchant without further words.
LACONIC = ("klarna bank", "klarna ab", "ratepay")
# What collectors write beside a merchant that stands alone, and how long such a name may be.
_ASIDE = frozenset(
    [
        "klarna",
        "riverty",
        "ratepay",
        "rechnung",
        "rechnungsnr",
        "bestellung",
        "order",
        "zahlung",
        "rate",
        "raten",
        "ratenkauf",
        "ratenzahlung",
        "kauf",
        "auftrag",
        "ihr",
        "ihre",
        "nr",
        "re",
        "rg",
        "pay",
        "later",
        "ueber",
        "über",
        "via",
        "vom",
        "kd-nr",
        "kdnr",
        "monatsrechnung",
    ]
)
MAX_BARE_WORDS = 3
# What collectors write of their own business, and no shop is called so.
MIN_NAME_WORD_LENGTH = 4
_OWN_BUSINESS = frozenset(
    [
        *("abbuchung", "abrechnung", "aktenzeichen", "april", "august", "auszahlung", "bank", "betrag", "bezahlung"),
        *("dank", "danke", "dezember", "ehem", "einkauf", "europe", "faellig", "februar", "forderung", "gebuehr"),
        *("gmbh", "group", "guthaben", "inkasso", "januar", "juli", "juni", "kaufpreis", "konto", "kontoauszug"),
        *("kunde", "kundennummer", "lastschrift", "maerz", "mahnung", "mandat", "mindestbetrag", "monat"),
        *("monatlich", "monatsabrechnung", "nach", "november", "oktober", "payout", "rechnungsnummer", "referenz"),
        *("rueckzahlung", "sagt", "sammelrechnung", "sarl", "september", "tagen", "teilbetrag", "teilzahlung"),
        *("ueberweisung", "vielen", "zahlungseingang", "zahlungsplan", "zeichen"),
    ]
)
# How PayPal calls a purchase that is paid later.
LATER = ("bezahlung nach", "ratenzahlung", "pay later")


def is_collector(folded_name: str) -> bool:
    return folded_name[:4] in _COLLECTORS_BEGIN and folded_name.startswith(COLLECTORS)


def unwrap_star(shop: str) -> tuple[str, bool]:
    """The merchant after a collector's star, and whether there was one. Some banks write the star as a full stop, or
    leave it out: `SUMUP  .CAFE BOHNE`, `ZETTLE CAFE BOHNE`."""
    merchant = _find_starred(shop)
    if not merchant and shop[:1] in BARE_INITIALS:
        before, _, after = shop.partition(" ")
        after = after.strip()
        if before.lower() in BARE_COLLECTORS and not _is_own(after):
            merchant = after
    return (merchant, True) if merchant else (shop, False)


def _is_own(text: str) -> bool:
    """Whether a collector speaks of itself: `SumUp Limited`, but not `SumUp Abendrot`."""
    return f"{text.lower()} ".startswith(OWN_WORDS)


def _find_starred(shop: str) -> str:
    for star in STARS:
        if star in shop:
            before, _, after = shop.partition(star)
            after = after.strip(" *.")
            collector = before.strip(" _-.").lower().replace(".", " ").replace("_", " ")
            return after if collector in STAR_COLLECTORS and not after[:1].isdigit() else ""
    return ""


def find_bare_merchant(folded_name: str, text: str) -> tuple[str, bool]:
    """The merchant behind a star, or what may be one where a collector writes hardly more: `Klarna H&M 88471204`. And
    whether there was a star."""
    starred = _find_starred(text)
    is_starred = bool(starred) and not _is_own(starred)
    if is_starred:
        text = starred.partition("/")[0]
    elif not folded_name.startswith(LACONIC):
        return "", False
    words = [
        word for word in text.replace("*", " ").replace(",", " ").split() if word.lower().strip(".:-") not in _ASIDE
    ]
    # A line's end may have joined them: `YOUBESTELLUNG`.
    words = [word[:-10] if word.upper().endswith("BESTELLUNG") else word for word in words]
    words = [word for word in words if not any(letter.isdigit() for letter in word)]
    return " ".join(words) if len(words) <= MAX_BARE_WORDS else "", is_starred


def find_merchants(text: str) -> tuple[list[str], str]:
    """The merchant that a collector names in its purpose, and what stands before. PayPal names it twice, and a line's
    end may have cut one."""
    lower = text.lower()
    merchants, rest = [], len(text)
    bought = _BUYING.search(lower)
    if bought:
        rest = bought.start()
        merchants.append(_cut_end(text[bought.end() :]))
    elif numbered := _NUMBERED.match(text):
        rest = 0
        merchants.append(_cut_end(text[numbered.end() :]))
    start = lower.find(".pp")
    if start >= 0:
        rest = min(rest, start)
        merchant = _cut_end(text[start + 3 :].lstrip(" /.-"))
        if not merchant.lower().startswith(("paypal", "ihr einkauf")):
            merchants.append(merchant)
    merchants = [merchant for merchant in merchants if _is_name(merchant)]
    if len(merchants) > 1:
        merchants[0] = mend_twice(merchants[0], merchants[1])
    return merchants, text[:rest]


def tells_merchant(purpose: str) -> bool:
    """Whether the folded purpose of a collector holds words that may be a shop's name."""
    return any(
        len(word) >= MIN_NAME_WORD_LENGTH
        and word.isalpha()
        and word not in _ASIDE
        and word not in _OWN_BUSINESS
        and not word.startswith(COLLECTORS)
        and not word.endswith(COLLECTORS)
        for word in purpose.split()
    )


def mend_twice(first: str, second: str) -> str:
    """A name that is written twice, each time broken elsewhere by a line's end: a blank that only one of them has is
    none. `GARTEN HAUS Lind ner` and `GART EN HAUS Lindner` give `GARTEN HAUS Lindner`."""
    letters, others = first.replace(" ", ""), second.replace(" ", "")
    if first == second or letters.lower() != others.lower():
        return first
    blanks = _find_blanks(first) & _find_blanks(second)
    return "".join([f" {letter}" if place in blanks else letter for place, letter in enumerate(letters)])


def _find_blanks(text: str) -> set[int]:
    """Before which letters a blank stands; blanks are not counted."""
    places, count = set(), 0
    for letter in text:
        if letter == " ":
            places.add(count)
        else:
            count += 1
    return places


def _is_name(merchant: str) -> bool:
    """Not a number, nor what a collector says of itself: `PP.7714.PP ABBUCHUNG VOM PAYPAL-KONTO`."""
    lower = merchant.lower()
    return any(letter.isalpha() for letter in merchant) and "paypal" not in lower and not lower.startswith(LATER)


def _cut_end(text: str) -> str:
    for end in _ENDS:
        place = text.find(end)
        if place > 0:
            text = text[:place]
    return _REFERENCE.sub("", text).strip(" .,/")
