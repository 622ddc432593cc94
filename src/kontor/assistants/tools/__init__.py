"""The tools, each declared once: name, input, output, scope."""

from kontor.assistants.tools import accounts, changes, plans, spending  # noqa: F401 (declares the tools)
