"""Keeping programs for personal finance up to date: `kontor sync`. Talks to the API alone, as any client does."""
