"""Savings goals of users."""

from uuid import UUID

from kontor.domain.savings_goals import SavingsGoal
from kontor.storage.database import Connection

COLUMNS = "id, name, target, target_date, products, saved"
LIST = f"select {COLUMNS} from savings_goals where user_id = %s order by created_at, id"
INSERT = f"insert into savings_goals (user_id, {COLUMNS}) values (%s, %s, %s, %s, %s, %s, %s)"
UPDATE = (
    "update savings_goals set name = %s, target = %s, target_date = %s, products = %s, saved = %s"
    " where user_id = %s and id = %s"
)
DELETE = "delete from savings_goals where user_id = %s and id = %s"


async def list_goals(connection: Connection, user_id: UUID) -> list[SavingsGoal]:
    """In order of age, the oldest first."""
    cursor = await connection.execute(LIST, [user_id])
    return [
        SavingsGoal(goal_id, name, target, target_date, tuple(products), saved)
        for goal_id, name, target, target_date, products, saved in await cursor.fetchall()
    ]


async def insert_goal(connection: Connection, user_id: UUID, goal: SavingsGoal) -> None:
    """The user's data is locked (`lock_data`)."""
    await connection.execute(INSERT, [user_id, goal.id, *_list_values(goal)])


async def update_goal(connection: Connection, user_id: UUID, goal: SavingsGoal) -> None:
    await connection.execute(UPDATE, [*_list_values(goal), user_id, goal.id])


async def delete_goal(connection: Connection, user_id: UUID, goal_id: UUID) -> None:
    await connection.execute(DELETE, [user_id, goal_id])


def _list_values(goal: SavingsGoal) -> tuple[object, ...]:
    return goal.name, goal.target, goal.target_date, list(goal.products), goal.saved
