"""PostgreSQL: the only package with SQL, and with keys for data at rest."""
