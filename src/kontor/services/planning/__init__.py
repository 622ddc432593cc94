"""What users plan: budgets and savings goals."""

from kontor.services.planning.budgets import Budgets
from kontor.services.planning.savings_goals import SavingsGoals

__all__ = ["Budgets", "SavingsGoals"]
