"""What `kontor check` tries: settings, files, certificates, addresses, the database and this machine."""

from kontor.cli.checks.certificates import check_certificates
from kontor.cli.checks.databases import check_database, check_master_key
from kontor.cli.checks.enable_banking import check_application
from kontor.cli.checks.findings import Finding, State
from kontor.cli.checks.machines import check_machine
from kontor.cli.checks.networks import check_networks
from kontor.cli.checks.settings import check_settings, refuse_unusable_files

__all__ = [
    "Finding",
    "State",
    "check_application",
    "check_certificates",
    "check_database",
    "check_machine",
    "check_master_key",
    "check_networks",
    "check_settings",
    "refuse_unusable_files",
]
