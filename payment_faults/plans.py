"""Which fault a seed and a number stand for. Pure: the same two numbers are the same fault on every machine."""

import random
from dataclasses import dataclass
from enum import StrEnum


class Connector(StrEnum):
    DEMO = "demo"
    FINTS = "FinTS"
    XS2A = "XS2A"


class Form(StrEnum):
    SINGLE = "single"
    INSTANT = "instant"
    SCHEDULED = "scheduled"
    BULK = "bulk"
    INSTANT_BULK = "instant bulk"
    SCHEDULED_BULK = "scheduled bulk"
    STANDING = "standing order"
    STANDING_CHANGE = "standing order, change"
    STANDING_DELETION = "standing order, deletion"
    DEBIT = "direct debit"
    DEBIT_BULK = "direct debit, bulk"

    @property
    def is_bulk(self) -> bool:
        return "bulk" in self

    @property
    def is_instant(self) -> bool:
        return "instant" in self

    @property
    def is_scheduled(self) -> bool:
        return "scheduled" in self

    @property
    def is_standing(self) -> bool:
        return "standing" in self

    @property
    def is_debit(self) -> bool:
        return "debit" in self

    @property
    def has_order_before(self) -> bool:
        """Is there a standing order at the bank before the fault?"""
        return self in (Form.STANDING_CHANGE, Form.STANDING_DELETION)


class Entrance(StrEnum):
    """`GIVEN`: the newer API with credentials that come with the order and belong to no access."""

    NEWER = "newer API"
    GIVEN = "newer API, own credentials"
    LEGACY = "legacy API"
    WEB_FORM = "web form"


class Sca(StrEnum):
    TAN = "TAN"
    WRONG_TAN = "wrong TAN first"
    METHOD = "method"
    MEDIUM = "method and medium"
    PHOTO = "photoTAN"
    CHIP = "chipTAN"
    APP = "app"
    REDIRECT = "redirect"
    PAYEE = "payee decision"


class Victim(StrEnum):
    """`WORKER`: the process that looks up a payment whose server died before."""

    SERVER = "server"
    WORKER = "worker"


LOGINS = {
    Sca.TAN: "test_bank_message",
    Sca.WRONG_TAN: "test_bank_message",
    Sca.METHOD: "test_sca_method",
    Sca.MEDIUM: "test_sca_method_media",
    Sca.PHOTO: "test_phototan",
    Sca.CHIP: "test_chiptan",
    Sca.APP: "test_decoupled",
    Sca.REDIRECT: "test_redirect",
    Sca.PAYEE: "test_vop_nomatch",
}
TRANSFERS = tuple(form for form in Form if not form.is_standing and not form.is_debit)
# Standing orders and direct debits belong to a stored product. The legacy API has single transfers alone.
FORMS = {
    Entrance.NEWER: tuple(Form),
    Entrance.GIVEN: TRANSFERS,
    Entrance.LEGACY: (Form.SINGLE, Form.SCHEDULED),
    Entrance.WEB_FORM: tuple(Form),
}
# The standard has no change of a standing order and no direct debits.
MISSING_FORMS = {Connector.XS2A: (Form.STANDING_CHANGE, Form.DEBIT, Form.DEBIT_BULK)}
LEGACY_SCA = (Sca.TAN, Sca.WRONG_TAN, Sca.PHOTO, Sca.CHIP)
# FinTS has no redirect. XS2A 1.3 has no verification of payees, and the demo bank's XS2A names media as methods.
MISSING = {Connector.FINTS: (Sca.REDIRECT,), Connector.XS2A: (Sca.PAYEE, Sca.MEDIUM)}
WEIGHTS = (35, 20, 45)  # of the demo connector, FinTS and XS2A
WORKER_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Scenario:
    """`is_sent`: a worker's fault begins with an order that reached the bank, else with one that did not."""

    connector: Connector
    form: Form
    entrance: Entrance
    sca: Sca
    victim: Victim
    has_own_reference: bool = False
    is_sent: bool = True


@dataclass(frozen=True, slots=True)
class Fault:
    """`place` is where between the first (0) and the last (1) point of the scenario the process dies."""

    seed: int
    number: int
    scenario: Scenario
    place: float
    is_customer_first: bool


def draw_fault(seed: int, number: int) -> Fault:
    draw = random.Random(f"{seed} {number}")  # faults, not secrets
    connector = draw.choices(list(Connector), WEIGHTS)[0]
    entrance = draw.choice(list(Entrance))
    form = draw.choice([form for form in FORMS[entrance] if form not in MISSING_FORMS.get(connector, ())])
    kinds = LEGACY_SCA if entrance is Entrance.LEGACY else tuple(Sca)
    missing = MISSING.get(connector, ())
    if form is Form.STANDING_DELETION or form.is_debit:
        missing = (*missing, Sca.PAYEE)  # nobody is paid
    sca = draw.choice([kind for kind in kinds if kind not in missing])
    victim = Victim.WORKER if draw.random() < WORKER_SHARE else Victim.SERVER
    own, sent = draw.random() < 0.3, victim is Victim.SERVER or draw.random() < 0.7
    scenario = Scenario(connector, form, entrance, sca, victim, own, sent)
    return Fault(seed, number, scenario, draw.random(), draw.random() < 0.5)


def has_form(fault: Fault, wanted: list[str]) -> bool:
    """Does the name of its form contain one of these? Without any, every fault fits."""
    return not wanted or any(part in fault.scenario.form for part in wanted)
