"""How long tests wait for what comes at once on an idle machine. The limit only ends a test that would never end."""

WAIT_TIMEOUT_SECONDS = 180
