"""Letters that customers print, sign and send themselves."""

from kontor.wire.letters.cancellations import write_cancellation
from kontor.wire.letters.debit_returns import write_debit_return
from kontor.wire.letters.texts import Language

__all__ = ["Language", "write_cancellation", "write_debit_return"]
