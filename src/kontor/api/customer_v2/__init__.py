"""The customer interface: accesses, products, transactions and positions of the token's user."""
