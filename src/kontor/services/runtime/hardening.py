"""What each process does before it has keys, PINs or customer data in memory."""

from kontor.egress import close_egress
from kontor.services.runtime.core_files import forbid_core_files


def harden_process() -> None:
    """For good: no core files, and no connections but those that `kontor.egress` opens."""
    forbid_core_files()
    close_egress()
