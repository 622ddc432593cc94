"""Removing what has run out, in small batches."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import structlog

from kontor.domain.permissions import PermissionStatus
from kontor.services.accesses import Refreshing, delete_access_data
from kontor.services.redirects import delete_unconfirmed, end_abandoned
from kontor.services.runtime import Clock
from kontor.services.security import KeyRotation
from kontor.storage import (
    accesses,
    alerts,
    analyses,
    assistant_grants,
    audit,
    bank_channels,
    credit_files,
    deliveries,
    demo_bank,
    dialogues,
    egress,
    erased_payments,
    fetches,
    imports,
    leases,
    login_addresses,
    login_failures,
    merchants,
    payments,
    permissions,
    proofs,
    queue,
    redirects,
    removals,
    tokens,
    transaction_edits,
    verifications,
    workers,
)
from kontor.storage.database import Connection, Database
from kontor.storage.retries import retry_conflicts

log = structlog.get_logger(__name__)
BATCH = 1000


class Housekeeping:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        refreshing: Refreshing,
        key_rotation: KeyRotation,
        credit_file_days: int,
    ) -> None:
        self._database = database
        self._clock = clock
        self._refreshing = refreshing
        self._key_rotation = key_rotation
        self._credit_file_days = credit_file_days

    async def clean(self) -> None:
        """Everything that has reached its end: tokens, data that is not stored permanently, traces of old work."""
        today = datetime.now(UTC).date()
        removed = {
            "expired_logins": await self._in_batches(
                lambda connection: tokens.delete_expired_tokens(connection, BATCH)
            ),
            "expired_grants": await self._in_batches(
                lambda connection: assistant_grants.delete_expired_grants(connection, BATCH)
            ),
            "expired_accesses": await self.delete_expired_accesses(),
            "old_dialogues": await self._in_batches(
                lambda connection: dialogues.delete_old_dialogues(connection, BATCH)
            ),
            "abandoned_sessions": await self._in_batches(lambda connection: end_abandoned(connection, BATCH)),
            "old_sessions": await self._in_batches(lambda connection: redirects.delete_old_sessions(connection, BATCH)),
            "unconfirmed_accesses": await self._one_by_one(delete_unconfirmed),
            "old_pages": await self._once(demo_bank.delete_old_pages),
            "old_payments": await self._in_batches(lambda connection: payments.delete_old_payments(connection, BATCH)),
            "users_with_kept_payments": await self._one_by_one(erased_payments.anonymise_orphaned),
            "old_payment_keys": await self._in_batches(lambda connection: payments.forget_old_keys(connection, BATCH)),
            "old_orders": await self._once(payments.delete_old_fingerprints),
            "old_verifications": await self._in_batches(
                lambda connection: verifications.delete_old_verifications(connection, BATCH)
            ),
            "old_fetches": await self._in_batches(lambda connection: fetches.delete_old_fetches(connection, BATCH)),
            "old_imports": await self._in_batches(lambda connection: imports.delete_old_results(connection, BATCH)),
            "old_deliveries": await self._in_batches(
                lambda connection: deliveries.delete_old_deliveries(connection, BATCH)
            ),
            "old_calls": await self._in_batches(
                lambda connection: self._refreshing.forget_old_calls(connection, BATCH)
            ),
            "old_permissions": await self._in_batches(
                lambda connection: permissions.delete_old_permissions(connection, BATCH)
            ),
            "old_outcomes": await self._once(fetches.delete_old_outcomes),
            "old_way_outcomes": await self._once(bank_channels.delete_old_outcomes),
            "users_with_old_removals": await self._one_by_one(removals.forget_old_removals),
            "users_with_old_alerts": await self._one_by_one(alerts.delete_old_alerts),
            "old_edits": await self._one_by_one(transaction_edits.forget_old_rows),
            "old_credit_files": await self._delete_old_credit_files(),
            "old_answers": await self._once(analyses.delete_old_answers),
            "old_leases": await self._once(leases.delete_old_leases),
            "old_failures": await self._once(login_failures.delete_old_failures),
            "old_login_addresses": await self._in_batches(
                lambda connection: login_addresses.delete_old_addresses(connection, BATCH)
            ),
            "old_proofs": await self._in_batches(lambda connection: proofs.delete_old_proofs(connection, BATCH)),
            "stalled_jobs": await self._in_batches(lambda connection: queue.release_stalled_jobs(connection, BATCH)),
            "old_jobs": await self._in_batches(lambda connection: queue.delete_old_failures(connection, BATCH)),
            "old_job_log": await self._in_batches(lambda connection: queue.delete_old_log(connection, BATCH)),
            "old_model_days": await self._once(lambda connection: merchants.delete_old_days(connection, today)),
            "old_egress": await self._once(lambda connection: egress.delete_old_days(connection, today)),
            "values_under_keys_before": (await self._key_rotation.finish()).values,
            "dead_workers": await self._once(workers.delete_dead_workers),
        }
        log.info("housekeeping", **removed)

    async def _delete_old_credit_files(self) -> int:
        return await self._in_batches(
            lambda connection: credit_files.delete_old_files(connection, self._credit_file_days, BATCH)
        )

    async def delete_expired_accesses(self) -> int:
        """Data that is not stored permanently. Every few seconds, since it is to be gone at its end."""
        return await self._one_by_one(_delete_expired_access)

    async def end_permissions(self) -> int:
        """Those whose last day of use is over. Their accesses are deleted with all their data."""
        today = self._clock.today()

        async def end_one(connection: Connection) -> bool:
            found = await permissions.lock_expired_permission(connection, today)
            return found is not None and await delete_access_data(connection, *found, PermissionStatus.EXPIRED)

        return await self._one_by_one(end_one)

    async def anchor_audit_trail(self) -> None:
        """Log the head of each chain: who keeps the logs elsewhere can prove later that nothing was rewritten."""
        async with self._database.connect() as connection:
            for chain, serial, head in await audit.list_chains(connection):
                log.info("audit.anchor", chain=str(chain), serial=serial, hash=head.hex())

    async def _in_batches(self, delete: Callable[[Connection], Awaitable[int]]) -> int:
        """Short transactions: nobody waits for a large one, and dead rows do not pile up."""
        total = 0
        while True:
            count = await self._once(delete)
            total += count
            if count < BATCH:
                return total

    async def _one_by_one(self, delete: Callable[[Connection], Awaitable[bool]]) -> int:
        """For what locks rows of several tables: two in one transaction would be locked out of order."""
        total = 0
        while await self._once(delete):
            total += 1
        return total

    @retry_conflicts
    async def _once(self, delete: Callable[[Connection], Awaitable[int]]) -> int:
        async with self._database.transaction() as connection:
            return await delete(connection)


async def _delete_expired_access(connection: Connection) -> bool:
    expired = await accesses.lock_expired(connection)
    return expired is not None and await delete_access_data(connection, *expired, PermissionStatus.EXPIRED)
