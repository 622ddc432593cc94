"""How a dialogue begins: HKIDN, HKVVB, HKSYN, and HKTAN for who must authenticate first."""

from dataclasses import dataclass

from kontor.connectors.base import FailureKind, ProblemKind
from kontor.connectors.demo.people.numbers import DEMO_BANK_CODE
from kontor.connectors.demo.scenarios import find_scenario
from kontor.demobank.faults import Fault
from kontor.demobank.fints import challenges
from kontor.demobank.fints.customers import Customer, Customers
from kontor.demobank.fints.dialogues import NO_SYSTEM, TrustedSystems
from kontor.demobank.fints.message_exchanges import MessageExchange
from kontor.demobank.fints.messages import ONE_STEP, Signature
from kontor.demobank.fints.modes import Mode
from kontor.demobank.fints.parameters import (
    UPD_VERSION,
    count_version,
    list_bank_parameters,
    list_user_parameters,
    name_allowed_methods,
)
from kontor.demobank.fints.segments import Segment, make_segment

ANONYMOUS = "9999999999"
NEW_SYSTEM_ID = "0"
BANK_MESSAGE = ("Mitteilung Ihrer Bank", "Bitte lesen Sie die neuen Nutzungsbedingungen in Ihrem Postfach.")


@dataclass(frozen=True, slots=True)
class DialogueInitialisation:
    """What it takes to let somebody in. `address` is the bank's own, without a scheme; of `products` none means any."""

    customers: Customers
    trusted: TrustedSystems
    address: str
    products: frozenset[str] = frozenset()

    def begin(self, exchange: MessageExchange) -> None:
        identification, preparation = exchange.find("HKIDN"), exchange.find("HKVVB")
        if identification is None or preparation is None:
            exchange.abort(None, "9110", "Ein Dialog beginnt mit HKIDN und HKVVB.")
            return
        if identification.version != 2 or preparation.version != 3:
            exchange.abort(identification, "9150")
            return
        if Mode.REGISTRATION_REFUSED in exchange.modes or (self.products and preparation.read(4) not in self.products):
            exchange.abort(preparation, "9952" if Mode.REGISTRATION_REFUSED in exchange.modes else "9078")
            return
        if identification.read(1, 1) != DEMO_BANK_CODE:
            exchange.abort(identification, "9210", "Die Bankleitzahl gehört nicht zu dieser Bank.")
            return
        signature, system_id = exchange.request.signature, identification.read(3)
        if Mode.SYSTEM_FORGOTTEN in exchange.modes and system_id != NO_SYSTEM and not self.trusted.is_issued(system_id):
            exchange.abort(identification, "9391")
            return
        if signature is None:
            self._begin_anonymously(exchange, identification, preparation)
            return
        if Mode.ONE_STEP_ONLY in exchange.modes and exchange.find("HKTAN") is not None:
            exchange.abort(exchange.find("HKTAN"), "9010", "Der Auftrag wird nicht unterstützt.")
            return
        customer = self._log_in(exchange, identification, signature)
        if customer is None:
            return
        exchange.dialogue.system_id = system_id
        self._show_bank_parameters(exchange, preparation)
        self._name_methods(exchange, preparation, signature.login)
        self._synchronise(exchange)
        self._let_in(exchange, preparation, customer)

    def _begin_anonymously(self, exchange: MessageExchange, identification: Segment, preparation: Segment) -> None:
        if identification.read(2) != ANONYMOUS:
            exchange.abort(identification, "9340")
            return
        if Mode.ONE_STEP_ONLY in exchange.modes:
            exchange.abort(None, "9400")
            return
        exchange.reply(identification, "0020", "Information fehlerfrei entgegengenommen.")
        self._show_bank_parameters(exchange, preparation)

    def _log_in(self, exchange: MessageExchange, identification: Segment, signature: Signature) -> Customer | None:
        if exchange.visit.fault is Fault.REFUSED_PIN:
            exchange.abort(identification, "9942")
            return None
        result = self.customers.log_in(signature.login, signature.pin, exchange.today)
        if isinstance(result, FailureKind):
            _explain_failure(exchange, identification, signature.login, result)
            return None
        allowed = [ONE_STEP, *name_allowed_methods(find_scenario(signature.login).methods, exchange.modes)]
        if signature.security_function not in allowed:
            self._name_methods(exchange, identification, signature.login)
            exchange.abort(identification, "9380")
            return None
        if Mode.LOCK_AS_WARNING in exchange.modes:
            exchange.reply(identification, "3938")
        dialogue = exchange.dialogue
        dialogue.login, dialogue.pin = signature.login, signature.pin
        dialogue.security_function = signature.security_function
        exchange.customer = result
        return result

    def _show_bank_parameters(self, exchange: MessageExchange, preparation: Segment) -> None:
        if preparation.read(1) != str(count_version(self.address, exchange.modes)):
            exchange.reply(preparation, "3050", "BPD nicht mehr aktuell, aktuelle Version enthalten.")
            for segment in list_bank_parameters(self.address, exchange.modes):
                exchange.add(segment, preparation, "parameters")
        else:
            exchange.reply(preparation, "0020", "BPD sind aktuell.")

    def _name_methods(self, exchange: MessageExchange, to: Segment, login: str) -> None:
        exchange.reply(to, "3920", None, *name_allowed_methods(find_scenario(login).methods, exchange.modes))

    def _synchronise(self, exchange: MessageExchange) -> None:
        wish = exchange.find("HKSYN")
        if wish is None:
            return
        if wish.version != 3 or wish.read(1) not in ("0", "1", "2"):
            exchange.reply(wish, "9120")
            return
        if wish.read(1) == NEW_SYSTEM_ID:
            exchange.dialogue.system_id = self.trusted.issue()
            exchange.dialogue.is_synchronised = True
            self.tell_system_id(exchange, wish)
        else:
            exchange.add(make_segment("HISYN", 4, None, None, 1), wish, "synchronisation")
        exchange.reply(wish, "0020")

    def tell_system_id(self, exchange: MessageExchange, to: Segment) -> None:
        exchange.add(make_segment("HISYN", 4, exchange.dialogue.system_id), to, "synchronisation")

    def _let_in(self, exchange: MessageExchange, preparation: Segment, customer: Customer) -> None:
        """At once, or after an authentication. Whoever signs with no method can only look at what the bank offers."""
        dialogue, login = exchange.dialogue, customer.login
        tan_request = challenges.find_first_step(exchange)
        demands = self.customers.demands_sca(login)
        is_trusted = self.trusted.is_trusted(login, dialogue.system_id, exchange.today)
        if exchange.visit.fault is Fault.UNEXPECTED_TAN and tan_request is not None:
            demands, is_trusted = True, False
        if dialogue.security_function == ONE_STEP or (demands and is_trusted) or not demands:
            dialogue.is_open = not demands or (is_trusted and dialogue.security_function != ONE_STEP)
            challenges.waive(exchange, tan_request)
            if dialogue.is_open:
                self.welcome(exchange, preparation, customer)
        elif tan_request is None:
            exchange.abort(preparation, "9075")
        elif tan_request.read(2) == "HKTAB":
            challenges.waive(exchange, tan_request)
        else:
            challenges.challenge(exchange, self.customers, tan_request, self.customers.begin_authentication(login))

    def welcome(self, exchange: MessageExchange, to: Segment, customer: Customer) -> None:
        """The customer is in: tell the accounts, unless the client knows them, and what the bank has to say."""
        if to.code != "HKVVB" or to.read(2) != str(UPD_VERSION):
            name = customer.products[0].holder if customer.products else customer.login
            for segment in list_user_parameters(customer.login, name, customer.products, exchange.modes):
                exchange.add(segment, to, "user")
            exchange.reply(to, "3050", "UPD nicht mehr aktuell, aktuelle Version enthalten.")
        if ProblemKind.BANK_MESSAGE in find_scenario(customer.login).problems:
            exchange.add(make_segment("HIKIM", 2, *BANK_MESSAGE), None, "synchronisation")


def _explain_failure(exchange: MessageExchange, identification: Segment, login: str, kind: FailureKind) -> None:
    match kind:
        case FailureKind.WRONG_CREDENTIALS:
            exchange.abort(identification, "9942")
        case FailureKind.LOCKED if find_scenario(login).failure is FailureKind.LOCKED:
            exchange.abort(identification, "9930")
        case FailureKind.LOCKED:
            exchange.reply(identification, "3938")
            exchange.abort(identification, "9931")
        case FailureKind.UNREACHABLE:
            exchange.abort(None, "9030")
        case _:
            exchange.abort(None, "9010")
