"""Days of background refresh in minutes: real workers, a real database, a bank and a receiver that misbehave."""
