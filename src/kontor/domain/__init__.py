"""What is true, no matter who asks: values, states, invariants. No I/O and no clock in here."""
