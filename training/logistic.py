"""The logistic model behind the confidences, fitted by L-BFGS to its optimum: same counts, same coefficients."""

from collections.abc import Iterable, Mapping

from kontor.analysis.tagging.calibrating import Cell

# What a coefficient costs, so that a feature of a few rows stays small. The constant is free.
PENALTY = 0.6
DECIMALS = 4


def count_cells(samples: Iterable[tuple[Cell, bool]]) -> dict[Cell, tuple[int, int]]:
    """Of each cell how many were right, and how many there are."""
    counts: dict[Cell, tuple[int, int]] = {}
    for cell, is_right in samples:
        right, total = counts.get(cell, (0, 0))
        counts[cell] = (right + is_right, total + 1)
    return counts


def fit(counts: Mapping[Cell, tuple[int, int]]) -> dict[str, float]:
    """Coefficients of all features, and of none: the constant, which an empty feature of a cell adds again."""
    import numpy as np
    from scipy.optimize import minimize

    names = ["", *sorted({feature for cell in counts for feature in cell if feature})]
    places = {name: place for place, name in enumerate(names)}
    cells = sorted(counts)
    matrix = np.zeros((len(cells), len(names)))
    matrix[:, 0] = 1
    for row, cell in enumerate(cells):
        for feature in cell:
            matrix[row, places[feature]] += 1
    right, total = np.array([counts[cell] for cell in cells], float).reshape(-1, 2).T
    penalties = np.full(len(names), PENALTY)
    penalties[0] = 0

    def lose(values: "np.ndarray") -> "tuple[float, np.ndarray]":
        logits = matrix @ values
        loss = (total * np.logaddexp(0, logits) - right * logits).sum() + (penalties * values**2).sum() / 2
        return float(loss), matrix.T @ (total / (1 + np.exp(-logits)) - right) + penalties * values

    found = minimize(lose, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-14})
    return {name: round(float(value), DECIMALS) for name, value in zip(names, found.x, strict=True)}
