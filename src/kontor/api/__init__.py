"""The edge for programs: paths, headers and statuses. Each operation is declared once, see `operations`."""
