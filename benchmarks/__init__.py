"""Kontor measured against the limit of its machine and against a conventional implementation: `./dev bench`."""
