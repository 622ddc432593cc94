"""A process that ends with its parent."""

import os
import signal
import threading
import time

ORPHAN_SECONDS = 35  # for what an orphaned process still has to finish


def end_with_parent(parent: int | None) -> None:
    """End this process when the one that started it is gone, however it went: nobody would stop it otherwise."""
    if parent is None:
        return

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.25)
        end = time.monotonic() + ORPHAN_SECONDS
        while time.monotonic() < end:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
