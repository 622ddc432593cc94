"""PostgreSQL: the only room with SQL, and with keys for data at rest."""
