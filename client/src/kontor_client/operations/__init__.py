"""The operations, each written once as a plan (plans.py). Both clients offer them under the same names."""
