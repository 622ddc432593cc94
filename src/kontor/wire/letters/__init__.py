"""Letters that customers print, sign and send themselves."""

from kontor.wire.letters.cancellations import Language, write_cancellation

__all__ = ["Language", "write_cancellation"]
