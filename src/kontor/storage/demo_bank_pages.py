"""The demo bank's pages for a server of its own: found and decided by blocking calls, as the bank itself works."""

from uuid import UUID

from kontor.storage.demo_bank import DemoBankMemory, Page


class DemoBankPages(DemoBankMemory):
    def find_page(self, page_id: UUID) -> Page | None:
        """A page that is still open."""
        with self._connect() as connection:
            row = connection.execute(
                "select return_url, orders from demo_bank_pages where id = %s and is_confirmed is null"
                " and created_at > now() - interval '15 minutes'",
                [page_id],
            ).fetchone()
        return None if row is None else Page(row[0], row[1])

    def decide_page(self, page_id: UUID, *, is_confirmed: bool) -> bool:
        """Once: the first decision stands. False where it was made already."""
        with self._connect() as connection:
            cursor = connection.execute(
                "update demo_bank_pages set is_confirmed = %s where id = %s and is_confirmed is null",
                [is_confirmed, page_id],
            )
        return cursor.rowcount == 1
