"""From evidence to a tagging: category, insurance type, partner and freelancer category, decided together."""

from bisect import bisect_right
from typing import NamedTuple

from kontor.analysis.tagging.calibrating import MARGINS, SCORES, Cell, Confidences
from kontor.analysis.tagging.category_models import CategoryModel
from kontor.analysis.tagging.choices import AT_CREDITOR, AT_START, INVESTED, Choice, PartnerChooser
from kontor.analysis.tagging.knowledge import GENERIC, Knowledge
from kontor.analysis.tagging.lexicons import MAINS, Rules, find_main, name_insurance_category
from kontor.analysis.tagging.misnaming import is_misnamed
from kontor.analysis.tagging.model_priors import MODEL_WEIGHT, MODEST, ModelPrior
from kontor.analysis.tagging.partners import Partner
from kontor.analysis.tagging.persons import FAMILY, OWN, OWN_SAVINGS, PERSON
from kontor.analysis.tagging.readings import Reading
from kontor.analysis.tagging.taggings import NO_BUSINESS, NO_INSURANCE, NO_PARTNER, Evidence, Tagging
from kontor.analysis.tagging.tallies import BY_KEYWORD, BY_MODEL, BY_RELATION, Collector, Tally

# How much hints for one subcategory count for its siblings.
SIBLING_SHARE = 0.5
PERSON_WEIGHT, FAMILY_WEIGHT = 2.0, 2.6
# To a person one pays rent, support or lessons; a meal's name there is a split bill.
PERSONAL_MAINS = frozenset(
    {"HOUSING", "FAMILY", "EDUCATION", "HEALTH", "OTHER", "INCOME", "SAVINGS", "TRANSFER", "TAXES"}
)
IMPERSONAL_SHARE, IMPERSONAL_FAMILY_SHARE = 0.7, 0.4
# What a person sends for a sofa or a cinema ticket is no refund, unless the words for one are strong.
REFUND_BY_PERSON, CERTAIN_REFUND = 0.4, 4.0
# What an insurer pays out stays insurance, whatever it was for; what one pays there for teeth is no treatment, and for
# a bicycle no purchase where the insurer insures such things only.
BESIDE_INSURER: tuple[dict[str, float], dict[str, float]] = ({"INCOME_OTHER": 0.3}, {"HEALTH": 0.3})
BESIDE_SPECIAL_INSURER = {"MOBILITY": 0.3, "SHOPPING": 0.3, "RECREATION": 0.3}
# A word that tells what an insurer insures.
INSURED_WEIGHT = 1.6
DIGITS = "0123456789"
# Between own accounts only these mean something more special than the transfer.
SPECIAL_OUT = frozenset(
    {
        "BANKFINANCE_TRANSFER",
        "BANKFINANCE_CREDITPAYMENT",
        "HOUSING_FINANCING",
        "SAVINGS_LIFEBUILDING",
        "SAVINGS_ACCOUNT",
        "SAVINGS_SECURITIES",
        "SAVINGS_OTHER",
    }
)
SPECIAL_IN = frozenset({"BANKFINANCE_TRANSFER"})
SPECIAL_WEIGHT = 4.0
# Words for a division without its product count less than those for a product.
GENERAL_SHARE = 0.35
# A special insurance or contract needs this much to be meant where others only say that it is one.
SPECIAL_ENOUGH = 1.0
# Below this nothing written has decided, and the model decides alone.
DECIDED = 1.0
KIND_NAMES = [f"k{number}" for number in range(64)]
SCORE_NAMES = [f"s{number}" for number in range(len(SCORES) + 1)]
MARGIN_NAMES = [f"m{number}" for number in range(len(MARGINS) + 1)]
# How many hints agreed; more than this are as good.
MAX_HINTS = 3
HINT_NAMES = [f"h{number}" for number in range(MAX_HINTS + 1)]


class Decision(NamedTuple):
    """A tagging's names with the cells their confidences are looked up by."""

    category: str
    insurance_type: str
    partner: str
    freelancer_category: str
    category_cell: Cell
    insurance_cell: Cell
    partner_cell: Cell
    freelancer_cell: Cell


class Decider:
    def __init__(
        self,
        knowledge: Knowledge,
        rules: Rules,
        confidences: tuple[Confidences, Confidences, Confidences, Confidences],
        model: CategoryModel | None,
        categories: list[str],
    ) -> None:
        self._collector, self._chooser = Collector(knowledge, rules.surnames), PartnerChooser(knowledge, rules)
        self._rules, self._confidences = rules, confidences
        self._prior = ModelPrior(model, rules, categories)
        self._unlikely, self._refinements, self._insured = rules.unlikely, rules.refinements, rules.insured

    def tag(self, reading: Reading, relation: str, trace: list[Evidence] | None = None) -> Tagging:
        decision = self.decide(reading, relation, trace)
        category, insurance, partner, freelancer = self._confidences
        return Tagging(
            decision[0],
            decision[1],
            decision[2],
            decision[3],
            category[decision[4]],
            insurance[decision[5]],
            partner[decision[6]],
            freelancer[decision[7]],
        )

    def decide(self, reading: Reading, relation: str, trace: list[Evidence] | None = None) -> Decision:
        tally = Tally(trace)
        is_person = relation in (PERSON, FAMILY)
        self._collector.collect(reading, is_person, tally)
        unlikely = self._unlikely.get(reading.channel)
        if unlikely is not None and tally.scores:
            tally.doubt(unlikely)
        choice = self._chooser.choose(reading, relation, tally)
        if choice is not None:
            self._chooser.weigh(choice, reading, tally)
            if is_payout(choice.partner):
                tally.doubt(BESIDE_INSURER[not reading.is_incoming])
                if choice.partner.category == "INSURANCE_SPECIAL" and choice.place in (AT_START, AT_CREDITOR):
                    tally.doubt(BESIDE_SPECIAL_INSURER)
                self._add_insured(reading, tally)
        if len(tally.scores) > 1:
            tally.refine(self._refinements)
        if relation in (OWN, OWN_SAVINGS):
            category, cell = self._decide_own(reading, relation, tally)
        else:
            if is_person and not (choice is not None and choice.partner.category in INVESTED):
                self._add_person(reading, relation, tally)
            category, cell = self._decide_category(reading, relation, tally)
        if choice is not None and is_misnamed(choice, category, reading):
            choice = None
        insurance_type = choose_type(category, tally)
        freelancer = self._choose_freelancer(category, insurance_type, reading, tally)
        partner = NO_PARTNER if choice is None else choice.partner.system_name
        is_insured = insurance_type != NO_INSURANCE
        return Decision(
            category,
            insurance_type,
            partner,
            freelancer,
            cell,
            (
                *cell,
                "none" if not is_insured else "other" if insurance_type.endswith("_OTHER") else "product",
            ),
            describe_partner(choice, reading, relation, category, cell[0]),
            (cell[0], cell[2], freelancer),
        )

    def _add_insured(self, reading: Reading, tally: Tally) -> None:
        """What an insurer's purpose names is what was insured, though the word alone says nothing: `Kfz`, `Hund`."""
        for word in reading.purpose.split():
            # `TK150` is what `TK` is.
            insurance_type = self._insured.get(word.rstrip(DIGITS))
            if insurance_type is not None:
                tally.add(name_insurance_category(insurance_type), INSURED_WEIGHT, BY_KEYWORD)
                tally.add_type(insurance_type, INSURED_WEIGHT)
                if tally.trace is not None:
                    tally.trace.append(Evidence("keyword", word, f"insured: {insurance_type}", INSURED_WEIGHT))

    def _add_person(self, reading: Reading, relation: str, tally: Tally) -> None:
        """What a person as counterparty speaks for; shops' words count less then."""
        share = IMPERSONAL_FAMILY_SHARE if relation == FAMILY else IMPERSONAL_SHARE
        for category in tally.scores:
            if find_main(category) not in PERSONAL_MAINS:
                tally.scores[category] *= share
        if reading.is_incoming and tally.scores.get("INCOME_OTHER", CERTAIN_REFUND) < CERTAIN_REFUND:
            tally.scores["INCOME_OTHER"] *= REFUND_BY_PERSON
        if relation == FAMILY and "OTHER_SUPPORT" in tally.scores:
            tally.add("FAMILY_SUPPORT", tally.scores.pop("OTHER_SUPPORT"), BY_RELATION)
        if reading.is_incoming:
            category, weight = "OTHER_INCOME", PERSON_WEIGHT
        elif relation == FAMILY:
            category, weight = "FAMILY_SUPPORT", FAMILY_WEIGHT
        else:
            category, weight = "OTHER_SPENDING", PERSON_WEIGHT
        tally.add(category, weight, BY_RELATION)
        if tally.trace is not None:
            tally.trace.append(Evidence("person", reading.name, category, weight))

    def _decide_own(self, reading: Reading, relation: str, tally: Tally) -> tuple[str, Cell]:
        special = SPECIAL_IN if reading.is_incoming else SPECIAL_OUT
        category = "SAVINGS_ACCOUNT" if relation == OWN_SAVINGS and not reading.is_incoming else "TRANSFER_OWN"
        weight = SPECIAL_WEIGHT
        for candidate, score in tally.scores.items():
            if candidate in special and score > weight:
                category, weight = candidate, score
        if tally.trace is not None:
            tally.trace.append(Evidence("own-account", reading.name, category, 9.0))
        return category, ("own", SCORE_NAMES[bisect_right(SCORES, weight)], "m0")

    def _decide_category(self, reading: Reading, relation: str, tally: Tally) -> tuple[str, Cell]:
        """The heaviest category; below a threshold what the model says, and where what is written is in doubt, both
        together."""
        scores = tally.scores
        best, best_score, second, rival = "", 0.0, 0.0, ""
        if len(scores) == 1:
            ((best, best_score),) = scores.items()
            best_score += tally.bonuses.get(find_main(best), 0.0)
        elif scores:
            best, best_score, second, rival = self._compare(tally)
        if best_score < DECIDED:
            return self._guess(reading, tally, best, best_score)
        # The model knows nothing of relatives.
        if relation != FAMILY and self._prior.is_asked(reading, best, best_score, second):
            return self._decide_with_model(reading, tally, best)
        cell = (
            KIND_NAMES[tally.kinds[best]],
            SCORE_NAMES[bisect_right(SCORES, best_score)],
            MARGIN_NAMES[bisect_right(MARGINS, second / best_score)],
            HINT_NAMES[min(tally.hints.get(best, 0), MAX_HINTS)],
            "alone" if not rival else "sibling" if MAINS[rival] == MAINS[best] else "rival",
        )
        return best, cell

    def _compare(self, tally: Tally) -> tuple[str, float, float, str]:
        """The heaviest category, its weight, that of the runner-up, and which that was."""
        mains = tally.bonuses
        for category, own in tally.scores.items():
            main = MAINS[category]
            mains[main] = mains.get(main, 0.0) + SIBLING_SHARE * own
        best, best_score, second, rival = "", -1.0, 0.0, ""
        for category, own in tally.scores.items():
            score = (1 - SIBLING_SHARE) * own + mains[MAINS[category]]
            # Of equal ones the alphabet decides, never chance.
            if score > best_score or (score == best_score and category < best):
                if best_score > second:
                    second, rival = best_score, best
                best, best_score = category, score
            elif score > second:
                second, rival = score, category
        if best in GENERIC:
            best = self._specify(best, tally)
        return best, best_score, second, rival

    def _specify(self, generic: str, tally: Tally) -> str:
        """The special one of the same main category that is named at all: `Versicherung` beside `Haftpflicht`."""
        main, scores = MAINS[generic], tally.scores
        siblings = [
            category
            for category in scores
            if MAINS[category] == main and category != generic and scores[category] >= SPECIAL_ENOUGH
        ]
        return max(siblings, key=lambda category: (scores[category], category)) if siblings else generic

    def guess(self, reading: Reading) -> tuple[str, Cell]:
        """What the model alone would say, as it must where nothing written is found."""
        return self._guess(reading, Tally(None), "", 0.0)

    def _guess(self, reading: Reading, tally: Tally, weak: str, weak_score: float) -> tuple[str, Cell]:
        category, probability, support = self._prior.guess(reading, tally, weak, weak_score)
        if support == MODEST:
            # How unsure the model is does not matter: it was not followed.
            return category, (
                KIND_NAMES[BY_MODEL],
                MODEST,
                "m0",
                "merchant" if reading.has_merchant else reading.channel,
            )
        return category, (KIND_NAMES[BY_MODEL], name_probability(probability), "m0", support)

    def _decide_with_model(self, reading: Reading, tally: Tally, best: str) -> tuple[str, Cell]:
        """What is written and the model together, which also knows where a general category is meant; `best` is the
        heaviest without it."""
        scores, mains = tally.scores, tally.bonuses
        if len(scores) == 1:
            mains[MAINS[best]] = mains.get(MAINS[best], 0.0) + SIBLING_SHARE * scores[best]
        weights = self._prior.find_weights(reading, tally)
        for category, weight in weights.items():
            mains[MAINS[category]] = mains.get(MAINS[category], 0.0) + SIBLING_SHARE * weight
        totals = {
            category: (1 - SIBLING_SHARE) * (scores.get(category, 0.0) + weights.get(category, 0.0))
            + mains[MAINS[category]]
            for category in scores.keys() | weights.keys()
        }
        # Of equal ones the alphabet decides, never chance.
        chosen = min(totals, key=lambda category: (-totals[category], category))
        cell = (
            "asked" if chosen == best else "sibling" if MAINS[chosen] == MAINS[best] else "overruled",
            f"a:{name_probability(weights.get(chosen, 0.0) / MODEL_WEIGHT)}",
            f"a:{SCORE_NAMES[bisect_right(SCORES, scores.get(chosen, 0.0))]}",
            HINT_NAMES[min(tally.hints.get(chosen, 0), MAX_HINTS)],
        )
        return chosen, cell

    def _choose_freelancer(self, category: str, insurance_type: str, reading: Reading, tally: Tally) -> str:
        freelancer_category = tally.choose_freelancer(category)
        if freelancer_category is not None:
            return freelancer_category
        pair = self._rules.freelancer.get(insurance_type) or self._rules.freelancer.get(category)
        return NO_BUSINESS if pair is None else pair[reading.is_incoming]


def name_probability(probability: float) -> str:
    return f"p{min(9, int(probability * 10))}"


def choose_type(category: str, tally: Tally) -> str:
    """The insurance type within the category's division: the heaviest product, or else the division's rest."""
    if not category.startswith("INSURANCE_"):
        return NO_INSURANCE
    division = category[10:]
    other = f"{division}_OTHER"
    best, best_weight = other, tally.types.get(other, 0.0) * GENERAL_SHARE
    for insurance_type, weight in tally.types.items():
        if insurance_type.startswith(division) and insurance_type != other and weight > best_weight:
            best, best_weight = insurance_type, weight
    return best


def is_payout(partner: Partner) -> bool:
    """Statutory health funds pay benefits, all other insurers pay out what was insured."""
    return find_main(partner.category) == "INSURANCE" and partner.insurance_type != "HEALTH_STATUTORY"


def describe_partner(choice: Choice | None, reading: Reading, relation: str, category: str, kind: str) -> Cell:
    """The cell of a partner's confidence: how exact the find is, where it stands, and whether the booking fits it."""
    sign = "in" if reading.is_incoming else "out"
    if choice is None:
        # A name that no word explains may well be a brand nobody wrote down.
        known = "unexplained" if kind == KIND_NAMES[BY_MODEL] else f"n:{find_main(category)}"
        owner = "creditor" if reading.creditor_id else ""
        return ("nobody", f"n:{relation or reading.channel}", known, f"n:{sign}", owner)
    length = "short" if choice.letters < 5 else "middle" if choice.letters < 9 else "long"
    own, main = find_main(choice.partner.category), find_main(category)
    fit = "fits" if choice.partner.category == category else "akin" if own == main else f"strange:{sign}"
    return (
        f"at:{choice.place}",
        length,
        "built" if choice.partner.is_built else "",
        "rivals" if choice.rivals else "",
        "exact" if choice.text == reading.name else "words" if " " in choice.text else "word",
        fit,
        f"p:{own}",
    )
