"""What we do: use cases, permission, order of steps, transactions. Nothing here knows HTTP or SQL."""
