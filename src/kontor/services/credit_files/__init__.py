"""Credit files: computed, signed and kept."""

from kontor.services.credit_files.corrections import WantedCorrection
from kontor.services.credit_files.credit_files import CreditFiles, ReviewWriters, WriteDocument

__all__ = ["CreditFiles", "ReviewWriters", "WantedCorrection", "WriteDocument"]
