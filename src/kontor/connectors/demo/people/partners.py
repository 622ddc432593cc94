"""Who is on the other side of an agreement."""

from dataclasses import dataclass, replace
from functools import lru_cache

from kontor.connectors.demo.people.life import Life, Term
from kontor.connectors.demo.people.numbers import (
    DEMO_BANK,
    DIRECT_BANKS,
    make_creditor_id,
    make_iban,
    make_partner_iban,
)
from kontor.connectors.demo.people.streams import derive_number, draw_digits, pick_one
from kontor.connectors.demo.people.words import load_names, load_partners

# Pools that exist many times over: two customers do not share a landlord's account.
PRIVATE_POOLS = frozenset({"landlord", "client", "doctor"})
SHORT_FORMS = (
    ("Versicherungsverein", "Vers.-Verein"),
    ("Lebensversicherung", "Lebensvers."),
    ("Krankenversicherung", "Krankenvers."),
    ("Versicherung", "Vers."),
    ("Deutschland", "Dtl."),
    ("Gesellschaft", "Ges."),
    ("Energie", "Energ."),
    (" GmbH & Co. KG", ""),
    (" GmbH", ""),
)


@dataclass(frozen=True, slots=True)
class Partner:
    brand: str
    legal: str
    creditor_id: str
    iban: str
    bic: str


@lru_cache(maxsize=4096)
def make_partner(brand: str, legal: str, creditor_id: str | None = None, owner: str = "") -> Partner:
    iban, bic = make_partner_iban(owner or legal)
    return Partner(brand, legal, creditor_id or make_creditor_id(legal), iban, bic)


def respell(legal: str, edition: int) -> str:
    """The same name as the partner's next system writes it: shortened, in capitals, and back again."""
    if edition % 3 == 0:
        return legal
    short = legal
    for long, brief in SHORT_FORMS:
        short = short.replace(long, brief)
    return short.upper() if edition % 3 == 1 else f"{short} SEPA-Einzug"


@lru_cache(maxsize=1024)
def renew_partner(partner: Partner, edition: int, what: tuple[str, ...]) -> Partner:
    """The partner after it has changed its bank or the spelling of its name so many times."""
    iban, bic = make_partner_iban(f"{partner.iban} {edition}") if "iban" in what else (partner.iban, partner.bic)
    legal = respell(partner.legal, edition) if "name" in what else partner.legal
    return replace(partner, legal=legal, iban=iban, bic=bic)


def make_private_person(life: Life, role: str) -> Partner:
    """Somebody in the customer's life. Parents and children share the surname, others need not."""
    names = load_names()
    generation = {"parent": "old", "child": "young"}.get(role, life.persona.generation)
    group = pick_one(("women", "men"), "role gender", life.login, role)
    given = pick_one(names[f"{group} {generation}"], "role", life.login, role)
    if role == "spouse":
        given, surname = life.given_names[1], life.surname
    elif role in ("parent", "child", "sibling"):
        surname = life.surname
    else:
        surname = pick_one(names["surnames"], "role surname", life.login, role)
    name = f"{given} {surname}"
    return make_partner(name, name, owner=f"{life.login} {role} {name}")


def make_own_account_elsewhere(life: Life) -> Partner:
    bank_code, bic = pick_one(DIRECT_BANKS, "own bank", life.login)
    iban = make_iban(bank_code, draw_digits(9, "own account elsewhere", life.login))
    return Partner(life.name, life.name, "", iban, bic)


def find_partner(life: Life, term: Term) -> Partner:
    """The partner of this run of the agreement: named by the persona, a person (`@role`), or one of the pool."""
    agreement = term.agreement
    place = life.find_place(term.start if term.start is not None else life.cycle_start)
    if agreement.partner:
        brand, legal, creditor_id = (*agreement.partner.split(";"), "", "")[:3]
        return make_partner(
            brand.strip().format(city=place.city), (legal.strip() or brand).format(city=place.city), creditor_id.strip()
        )
    if agreement.pool == "@self":
        return make_own_account_elsewhere(life)
    if agreement.pool.startswith("@"):
        return make_private_person(life, agreement.pool[1:])
    if not agreement.pool:
        return make_partner(DEMO_BANK, DEMO_BANK)
    pool = load_partners()[agreement.pool]
    # Terms that follow each other (job after job) must not meet the same partner again, unless they say so.
    offset = derive_number("pool", life.login, agreement.pool)
    others = life.persona.agreements
    keys = [other.key for other in others if other.pool == agreement.pool and not other.same_as]
    place_in_pool = offset + keys.index(agreement.same_as or agreement.key) + term.cycle * len(keys)
    words = pool[place_in_pool % len(pool)]
    owner = f"{life.login} {words.legal}" if agreement.pool in PRIVATE_POOLS else ""
    return make_partner(
        words.brand.format(city=place.city), words.legal.format(city=place.city), words.creditor_id, owner
    )
