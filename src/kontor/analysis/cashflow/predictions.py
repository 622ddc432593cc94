"""What the current and the next month will be: what is booked, what contracts will pay, and the rest by experience."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from kontor.analysis.cashflow.bookings import Tag
from kontor.analysis.cashflow.findings import Prediction
from kontor.analysis.cashflow.histories import Histories, History
from kontor.analysis.cashflow.intervals import CONFIDENCE, find_bounds, find_middle
from kontor.analysis.cashflow.spans import name_month
from kontor.analysis.reasons import Reason


def to_amount(cents: int) -> Decimal:
    return Decimal(cents).scaleb(-2)


def _predict(
    month: str, booked: tuple[int, int], due: int, experience: Sequence[int], surprises: Sequence[int], tag: Tag
) -> Prediction | None:
    """The month's prediction, or nothing where nothing is expected. `booked` is regular and irregular so far."""
    regular, irregular = booked[0] + due, booked[1] + find_middle(experience)
    amount = regular + irregular
    varied = [cents + surprise for cents, surprise in zip(experience, surprises, strict=True)]
    lower, upper = find_bounds(varied, is_total=tag.is_aggregate)
    lower, upper = min(amount, sum(booked) + due + lower), max(amount, sum(booked) + due + upper)
    if due <= 0 and max(experience, default=0) <= 0:
        upper = max(amount, min(upper, sum(booked)))  # what only ever costs will not bring money
    if due >= 0 and min(experience, default=0) >= 0:
        lower = min(amount, max(lower, sum(booked)))
    if not any((regular, irregular, lower, upper, *booked)):
        return None
    return Prediction(
        month,
        to_amount(amount),
        to_amount(regular),
        to_amount(irregular),
        to_amount(lower),
        to_amount(upper),
        CONFIDENCE,
    )


def predict_months(tag: Tag, histories: Histories) -> tuple[Prediction, ...]:
    """Of the current and the next month, as far as the tree has them and there is something to expect."""
    history = histories.by_tag.get(tag)
    if history is None:
        return ()
    predictions = []
    month, following = name_month(histories.window.current), name_month(histories.window.current + 1)
    if month is not None:
        booked = history.booked_regular, history.booked_irregular
        predictions.append(_predict(month, booked, history.due, history.rests, history.surprises, tag))
    if following is not None:
        predictions.append(_predict(following, (0, 0), history.due_next, history.wholes, history.surprises_next, tag))
    return tuple(prediction for prediction in predictions if prediction is not None)


def predict_net(
    net: Sequence[Prediction], income: Sequence[Prediction], expenses: Sequence[Prediction]
) -> tuple[Prediction, ...]:
    """What is left of the predicted income after the predicted expenses; the bounds are those of past months."""
    predictions = []
    for prediction in net:
        sides = [side for side in (*income, *expenses) if side.item == prediction.item]
        regular = sum((side.regular for side in sides), Decimal("0.00"))
        irregular = sum((side.irregular for side in sides), Decimal("0.00"))
        amount = regular + irregular
        lower, upper = min(amount, prediction.lower), max(amount, prediction.upper)
        predictions.append(
            replace(prediction, amount=amount, regular=regular, irregular=irregular, lower=lower, upper=upper)
        )
    return tuple(predictions)


def explain_predictions(history: History, months: int) -> list[Reason]:
    wholes = ", ".join(str(to_amount(cents)) for cents in history.wholes)
    reasons = [
        Reason(
            f"What no contract explains is expected as the median of the previous {months} complete months, the latest"
            f" first: {wholes}; the bounds hold 80 % of such months"
        )
    ]
    if history.payments:
        named = ", ".join(f"{to_amount(payment.cents)} on {payment.day}" for payment in sorted(history.payments)[:20])
        ids = dict.fromkeys(payment.latest_id for payment in sorted(history.payments))
        reasons.append(Reason(f"{len(history.payments)} payments of contracts are due: {named}", tuple(ids)))
    return reasons
