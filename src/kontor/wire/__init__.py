"""The interface's shapes and words, exactly, and every href. The only package with German identifiers."""
