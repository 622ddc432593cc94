"""The category model: trained on rows, written as bytes with a digest of these rows."""

import json
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from kontor.analysis.tagging.category_models import BITS, OFFSET, hash_gram
from training.generated_rows import SEED, Row

ROUNDS, BATCH, STEP, PENALTY = 8, 1024, 0.02, 2e-6


class Trained(NamedTuple):
    categories: list[str]
    scale: float
    biases: list[float]
    weights: bytes

    def save(self, folder: Path, rows_digest: str) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "category_model.bin").write_bytes(self.weights)
        about = {
            "rows_digest": rows_digest,
            "categories": self.categories,
            "scale": self.scale,
            "biases": self.biases,
        }
        (folder / "category_model.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def train(rows: list[Row]) -> Trained:
    """Multinomial logistic regression by Adam, then weights as bytes."""
    import numpy as np
    from scipy import sparse

    categories = sorted({row.category for row in rows})
    numbers = {category: number for number, category in enumerate(categories)}
    width = len(categories)
    labels = np.array([numbers[row.category] for row in rows])
    columns = np.array([hash_gram(gram) for row in rows for gram in row.grams])
    lengths = np.array([len(row.grams) for row in rows])
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    values = np.repeat(1 / np.sqrt(lengths), lengths).astype(np.float32)
    matrix = sparse.csr_matrix((values, columns, pointers), shape=(len(rows), 1 << BITS))
    matrix.sum_duplicates()
    generator = np.random.default_rng(SEED)
    weights, biases = np.zeros((1 << BITS, width), np.float32), np.zeros(width, np.float32)
    moments = [np.zeros_like(weights), np.zeros_like(weights), np.zeros_like(biases), np.zeros_like(biases)]
    step = 0
    for _ in range(ROUNDS):
        order = generator.permutation(len(rows))
        for start in range(0, len(rows), BATCH):
            chosen = order[start : start + BATCH]
            part = matrix[chosen]
            scores = part @ weights + biases
            scores -= scores.max(axis=1, keepdims=True)
            errors = np.exp(scores)
            errors /= errors.sum(axis=1, keepdims=True)
            errors[np.arange(len(chosen)), labels[chosen]] -= 1
            step += 1
            slopes = (part.T @ errors / len(chosen) + PENALTY * weights, errors.mean(axis=0))
            for place, (target, slope) in enumerate(zip((weights, biases), slopes, strict=True)):
                first, second = moments[2 * place], moments[2 * place + 1]
                first *= 0.9
                first += 0.1 * slope
                second *= 0.999
                second += 0.001 * slope**2
                rate = STEP * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step)
                target -= rate * first / (np.sqrt(second) + 1e-8)
    scale = float(np.quantile(np.abs(weights), 0.9995)) / 127
    small = np.clip(np.rint(weights / scale), -127, 127).astype(int) + OFFSET
    right = (np.asarray(matrix @ weights + biases).argmax(axis=1) == labels).mean()
    print(f"{len(rows)} rows, {width} categories, {right:.3f} of the training rows right")
    return Trained(
        categories, round(scale, 8), [round(float(bias), 4) for bias in biases], small.astype(np.uint8).tobytes()
    )


def digest_rows(rows: Iterable[Row]) -> str:
    """Two lists of rows with the same digest give the same model."""
    digest = blake2b(digest_size=16)
    for row in rows:
        digest.update(b"\0".join([row.category.encode(), *row.grams, b"\n"]))
    return digest.hexdigest()
