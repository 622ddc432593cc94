"""What the category model adds: it decides where the lexicon finds nothing, and is weighed where that leaves doubts."""

from collections.abc import Iterable

from kontor.analysis.tagging.category_models import CategoryModel, list_grams
from kontor.analysis.tagging.lexicons import Rules
from kontor.analysis.tagging.readings import CARD, Reading
from kontor.analysis.tagging.stems import Stems
from kontor.analysis.tagging.taggings import Evidence
from kontor.analysis.tagging.tallies import Tally

# A hint this weak is still better than a guess the model itself does not trust.
WEAK_HINT = 0.3
# The model is trusted from here on, whatever a part of a word says; less where a collector cut the merchant's name.
SURE_GUESS, SURE_MERCHANT = 0.35, 0.5
# Where the model does not know either, a shop sells something, and other money is spent on something.
MODEST, MODEST_SHOP, MODEST_SPENDING = "modest", "SHOPPING_OTHER", "OTHER_SPENDING"
# What is written is in doubt when it is light, or when another category comes near. The probabilities of the model are
# then multiplied by this weight.
LIGHT, NEAR, MODEL_WEIGHT = 3.0, 0.6, 6.0
NEVER_GUESSED = ("INSURANCE_", "TRANSFER_", "SAVINGS_LIFEINSURANCE")


class ModelPrior:
    """Asks the model; without one a default that fits the sign has to do."""

    def __init__(self, model: CategoryModel | None, rules: Rules, categories: Iterable[str]) -> None:
        self._model, self._stems = model, Stems(rules.stems)
        fitting = [
            frozenset(
                category
                for category in categories
                if rules.mirror(category, incoming) == category and not category.startswith(NEVER_GUESSED)
            )
            for incoming in (True, False)
        ]
        self._guessable = (fitting[0], fitting[1])
        known = model.categories if model is not None else []
        numbers = [tuple(number for number, category in enumerate(known) if category in allowed) for allowed in fitting]
        self._numbers = (numbers[0], numbers[1])

    def is_asked(self, reading: Reading, best: str, best_score: float, second: float) -> bool:
        """Whether what is written for the best category leaves doubts the model may settle."""
        is_doubtful = best_score < LIGHT or second >= NEAR * best_score
        return is_doubtful and self._model is not None and best in self._guessable[not reading.is_incoming]

    def _find_probabilities(self, reading: Reading) -> dict[str, float]:
        if self._model is None:
            return {}
        grams = list_grams(reading.name, reading.purpose, reading.is_incoming, reading.channel)
        return self._model.guess(grams, self._numbers[not reading.is_incoming])

    def guess(self, reading: Reading, tally: Tally, weak: str, weak_score: float) -> tuple[str, float, str]:
        """The category where nothing written has decided, the model's probability, and what supports it."""
        default = weak or ("INCOME_OTHER" if reading.is_incoming else "OTHER_SPENDING")
        opinion = self._find_probabilities(reading)
        if not opinion:
            return default, 0.0, "none"
        category = min(opinion, key=lambda category: (-opinion[category], category))
        probability = opinion[category]
        if tally.trace is not None:
            weight = round(probability, 3)
            tally.trace.append(Evidence("model", reading.name or reading.purpose, category, weight))
        stem = "" if reading.is_incoming else self._stems.find(reading.name)
        if weak_score >= WEAK_HINT and probability < 0.3 + weak_score / 4:
            return weak, probability, "weak"
        is_unsure = probability < (SURE_MERCHANT if reading.has_merchant else SURE_GUESS)
        if stem and not (is_unsure and reading.has_collector and stem != category):
            support = "stem" if stem == category else "stems"
            return (stem if is_unsure else category), probability, support
        if is_unsure and not reading.is_incoming:
            is_shop = reading.has_collector or reading.channel == CARD
            return MODEST_SHOP if is_shop else MODEST_SPENDING, probability, MODEST
        return category, probability, "bare"

    def find_weights(self, reading: Reading, tally: Tally) -> dict[str, float]:
        """The weight of each category by the model, beside what is written."""
        probabilities = self._find_probabilities(reading)
        weights = {category: MODEL_WEIGHT * probability for category, probability in probabilities.items()}
        if tally.trace is not None and weights:
            category = min(weights, key=lambda name: (-weights[name], name))
            weight = round(weights[category], 2)
            tally.trace.append(Evidence("model", reading.name or reading.purpose, category, weight))
        return weights
