"""The tagger one would write in an afternoon: TF-IDF over character n-grams, a linear model for each tree."""

from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier

from benchmarks.understanding.rows import Labelled
from kontor.domain.transactions import Transaction

MAX_FEATURES = 50_000
EPOCHS = 5


class Textbook:
    """Tuned: texts are turned into a matrix once for all four models; only labels are asked for, as probabilities would
    cost extra; and weights lie in memory as they are read, where SciPy would copy them all for every call."""

    def __init__(self, rows: Sequence[Labelled]) -> None:
        self.vectorizer = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(2, 4), min_df=2, max_features=MAX_FEATURES, sublinear_tf=True
        )
        matrix = self.vectorizer.fit_transform([write_text(row.transaction) for row in rows])
        self.models = []
        for labels in zip(*(row.labels for row in rows), strict=True):
            model = SGDClassifier(loss="log_loss", alpha=1e-6, max_iter=EPOCHS, tol=None, random_state=7)
            model.fit(matrix, labels)
            model.coef_ = np.asfortranarray(model.coef_)
            self.models.append(model)

    def tag(self, transactions: Sequence[Transaction]) -> list[tuple[str, ...]]:
        """The labels of all four trees for each."""
        matrix = self.vectorizer.transform([write_text(transaction) for transaction in transactions])
        return list(zip(*(model.predict(matrix) for model in self.models), strict=True))


def write_text(transaction: Transaction) -> str:
    sign = "income" if transaction.amount > 0 else "expense"
    words = (transaction.booking_text, transaction.gv_code, transaction.counterparty_name, transaction.purpose)
    return " ".join((sign, *(word for word in words if word)))
