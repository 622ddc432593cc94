"""Mixed reads at a steady rate for half an hour, while accesses are refreshed and webhooks delivered."""
