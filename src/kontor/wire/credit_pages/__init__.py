"""How a credit file is told to people: its words, its page, its PDF."""
