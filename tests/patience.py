"""How long tests wait for what comes at once on an idle machine. The limit only ends a test that would never end."""

PATIENCE_SECONDS = 180
