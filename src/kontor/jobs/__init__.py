"""The edge without a request: what runs on a schedule or from the queue."""
