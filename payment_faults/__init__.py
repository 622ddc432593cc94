"""Payments under faults: a process dies at a drawn point of a payment, at a bank that pays twice if asked twice."""
