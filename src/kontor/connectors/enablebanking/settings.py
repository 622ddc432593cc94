"""How this installation calls Enable Banking."""

from dataclasses import dataclass
from pathlib import Path

BASE_URL = "https://api.enablebanking.com"


@dataclass(frozen=True, slots=True)
class EnableBankingSettings:
    """Time limits: to connect, between two pieces of an answer, and for one answer as a whole.

    Enable Banking asks the bank while we wait. `most_answer_bytes` is for all answers of one step of a dialogue.
    """

    base_url: str = BASE_URL
    ca_file: Path | None = None
    connect_seconds: float = 5.0
    read_seconds: float = 60.0
    answer_seconds: float = 120.0
    largest_answer_bytes: int = 32_000_000
    most_answer_bytes: int = 128_000_000
    most_pages: int = 1_000
    most_rows: int = 250_000
