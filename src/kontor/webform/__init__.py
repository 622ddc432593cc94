"""The edge for people: the redirect frontend."""
