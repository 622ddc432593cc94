"""What the service answers, typed. Start with `shapes.py`."""
