"""The tagger as others call it."""

import gc
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

from kontor.analysis.tagging.calibrating import Cell, load_confidences
from kontor.analysis.tagging.category_models import CategoryModel, load_model
from kontor.analysis.tagging.corrections import Corrections, Kind, Learnt, describe_kind
from kontor.analysis.tagging.deciding import Decider, Decision
from kontor.analysis.tagging.knowledge import Knowledge
from kontor.analysis.tagging.lexicons import find_main, load_rules
from kontor.analysis.tagging.merchants import MerchantNames
from kontor.analysis.tagging.partners import list_lines
from kontor.analysis.tagging.persons import Customer, PersonClassifier
from kontor.analysis.tagging.prepared_knowledge import load_knowledge
from kontor.analysis.tagging.readings import Reader, Reading
from kontor.analysis.tagging.taggings import Evidence, OwnAccounts, Tagging
from kontor.analysis.tagging.versions import derive_version
from kontor.domain.transactions import Transaction


class Tagger:
    """Knows the packaged knowledge and decides by it alone; see `tag` and `explain`."""

    def __init__(
        self,
        decider: Decider,
        reader: Reader,
        person_classifier: PersonClassifier,
        merchant_names: MerchantNames,
        common_words: frozenset[str],
        version: str,
    ) -> None:
        self._decider, self._reader, self._person_classifier = decider, reader, person_classifier
        self._merchant_names = merchant_names
        self._common_words = common_words
        self.version = version

    def tag(self, transactions: Sequence[Transaction], own: OwnAccounts) -> list[Tagging]:
        """A tagging for each of the bookings, in their order. Those that read the same are decided once."""
        customer = Customer(own)
        decided: dict[tuple[Reading, str], Tagging] = {}
        taggings = []
        for transaction in transactions:
            reading = self._reader.read(transaction)
            relation = self._person_classifier.relate(reading, transaction.counterparty_iban, customer)
            tagging = decided.get((reading, relation))
            if tagging is None:
                tagging = decided[reading, relation] = self._decider.tag(reading, relation)
            taggings.append(tagging)
        return taggings

    def learn(self, corrected: Sequence[tuple[Transaction, str]], own: OwnAccounts) -> Corrections:
        """From bookings that a user has corrected, the latest first, with the categories that the user gave them."""
        return Corrections([(self._describe(transaction, own), category) for transaction, category in corrected])

    def apply(
        self,
        corrections: Corrections,
        transactions: Sequence[Transaction],
        own: OwnAccounts,
        said: Sequence[str] | None = None,
    ) -> list[Learnt | None]:
        """For each of the bookings what corrections say about it, where that is something else than is said already:
        by the tagger, or the categories `said`."""
        kinds = [self._describe(transaction, own) for transaction in transactions]
        known = [kind.category for kind in kinds] if said is None else said
        return [corrections.apply(kind, category) for kind, category in zip(kinds, known, strict=True)]

    def _describe(self, transaction: Transaction, own: OwnAccounts) -> Kind:
        reading = self._reader.read(transaction)
        relation = self._person_classifier.relate(reading, transaction.counterparty_iban, Customer(own))
        tagging = self._decider.tag(reading, relation)
        return describe_kind(reading, tagging, self._common_words, transaction.booked_at)

    def explain(self, transaction: Transaction, own: OwnAccounts) -> tuple[Tagging, tuple[Evidence, ...]]:
        """The same tagging as `tag` gives, with its reasons: those that decided first, then by weight."""
        reading = self._reader.read(transaction)
        relation = self._person_classifier.relate(reading, transaction.counterparty_iban, Customer(own))
        trace: list[Evidence] = []
        tagging = self._decider.tag(reading, relation, trace)
        evidence = [mark_decisive(entry, tagging) for entry in trace]
        return tagging, tuple(sorted(evidence, key=lambda entry: (not entry.is_decisive, -entry.weight, entry.text)))

    def name_merchants(self, transactions: Sequence[Transaction], own: OwnAccounts) -> list[str]:
        """By which words each merchant may be named to others; "" where there is none that may."""
        names, reader = self._merchant_names, self._reader
        return [names.name(transaction, reader.read(transaction), own) for transaction in transactions]

    def decide(self, transaction: Transaction, own: OwnAccounts) -> Decision:
        """The decision behind a tagging, with the cells its confidences are fitted by."""
        reading = self._reader.read(transaction)
        relation = self._person_classifier.relate(reading, transaction.counterparty_iban, Customer(own))
        return self._decider.decide(reading, relation)

    def guess(self, transaction: Transaction) -> tuple[str, Cell]:
        """The model's word alone, with the cell its confidence is fitted by."""
        return self._decider.guess(self._reader.read(transaction))


def mark_decisive(evidence: Evidence, tagging: Tagging) -> Evidence:
    """Evidence speaks for the result if it names the category, or one of the same kind."""
    main = find_main(tagging.category)
    names = evidence.detail.replace(":", " ").split()
    is_decisive = any(name == main or name.startswith(f"{main}_") for name in names)
    return Evidence(evidence.kind, evidence.text.strip(), evidence.detail, round(evidence.weight, 2), is_decisive)


@lru_cache(maxsize=1)
def load_tagger() -> Tagger:
    """The tagger of this process; the first call takes half a second, or two where nothing is prepared."""
    # Nothing that is made here is garbage: looking for some would take much of the time.
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        tagger = make_tagger(load_model())
    finally:
        if was_collecting:
            gc.enable()
    # The knowledge stays as long as the process does: the collector need not look through it again and again.
    gc.freeze()
    return tagger


def make_tagger(model: CategoryModel | None, knowledge: Knowledge | None = None) -> Tagger:
    """A tagger with the packaged knowledge, or with another."""
    rules, knowledge = load_rules(), knowledge or load_knowledge()
    lines = list_lines(files("kontor.analysis") / "data" / "trees" / "categories.txt")
    categories = [line.split("|")[1].strip() for line in lines if not line.startswith("@")]
    leaves = [category for category in categories if "_" in category or category == "TAXES"]
    decider = Decider(knowledge, rules, load_confidences(), model, leaves)
    reader, person_classifier = Reader(rules, knowledge.names), PersonClassifier(rules, knowledge.names)
    common_words = knowledge.words | rules.places | rules.given_names | rules.companies
    names = MerchantNames(rules, person_classifier)
    return Tagger(decider, reader, person_classifier, names, common_words, derive_version())
