"""What is kept about a verification of payees, as a payment goes on."""

from dataclasses import replace
from datetime import datetime

from kontor.domain.payments import PayeeChoice, PayeeEvidence, PayeeResult, PayeeWarning


def note_results(
    known: PayeeEvidence | None, results: tuple[PayeeResult, ...], at: datetime, *, is_asked: bool
) -> PayeeEvidence | None:
    """With what the bank has said. Another verdict about which the user is asked is a new verification."""
    if not results or (known is not None and known.results == results):
        return known
    if known is None or is_asked:
        return PayeeEvidence(results, at, warnings=() if known is None else known.warnings)
    return known if known.results else replace(known, results=results, verified_at=at)


def note_warnings(
    known: PayeeEvidence | None, warnings: tuple[PayeeWarning, ...], at: datetime
) -> PayeeEvidence | None:
    """With what differs from earlier orders."""
    if known is None:
        return PayeeEvidence((), at, warnings=warnings) if warnings else None
    return known if known.warnings == warnings else PayeeEvidence(known.results, known.verified_at, warnings=warnings)


def needs_noting(known: PayeeEvidence, text: str, language: str) -> bool:
    """Is it news that the user is shown this text? What is shown after the choice does not count."""
    return known.choice is PayeeChoice.NONE and (known.shown_text, known.language) != (text, language)


def note_choice(known: PayeeEvidence | None, choice: PayeeChoice, at: datetime) -> PayeeEvidence | None:
    """Where there was something to choose, and nothing was chosen before."""
    if known is None or known.is_matching or known.choice is not PayeeChoice.NONE:
        return known
    return replace(known, choice=choice, chosen_at=at)
