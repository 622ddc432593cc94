"""The interface's shapes and words, exactly, and every href. The only room with German identifiers."""
