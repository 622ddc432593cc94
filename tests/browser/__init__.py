"""The redirect frontend in a real browser. A package, so that its browser is closed when its last test is done."""
