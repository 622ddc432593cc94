"""Budgets of users."""

from uuid import UUID

from kontor.domain.budgets import Budget
from kontor.storage.database import Connection

COLUMNS = "id, name, categories, amount, starts_on, carries_over"
LIST = f"select {COLUMNS} from budgets where user_id = %s order by created_at, id"
INSERT = f"insert into budgets (user_id, {COLUMNS}) values (%s, %s, %s, %s, %s, %s, %s)"
UPDATE = (
    "update budgets set name = %s, categories = %s, amount = %s, starts_on = %s, carries_over = %s"
    " where user_id = %s and id = %s"
)
DELETE = "delete from budgets where user_id = %s and id = %s"


async def list_budgets(connection: Connection, user_id: UUID) -> list[Budget]:
    """In order of age, the oldest first."""
    cursor = await connection.execute(LIST, [user_id])
    return [
        Budget(budget_id, name, tuple(categories), amount, starts_on, carries_over)
        for budget_id, name, categories, amount, starts_on, carries_over in await cursor.fetchall()
    ]


async def insert_budget(connection: Connection, user_id: UUID, budget: Budget) -> None:
    """The user's data is locked (`lock_data`)."""
    await connection.execute(INSERT, [user_id, budget.id, *_list_values(budget)])


async def update_budget(connection: Connection, user_id: UUID, budget: Budget) -> None:
    await connection.execute(UPDATE, [*_list_values(budget), user_id, budget.id])


async def delete_budget(connection: Connection, user_id: UUID, budget_id: UUID) -> None:
    await connection.execute(DELETE, [user_id, budget_id])


def _list_values(budget: Budget) -> tuple[object, ...]:
    return budget.name, list(budget.categories), budget.amount, budget.starts_on, budget.carries_over
