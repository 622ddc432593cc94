"""Python imports this at its start where the folder is on PYTHONPATH."""

import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from address_filter import note_into, refuse_outside

# It connects below Python's sockets, where the filter sees nothing. Programs do without it.
sys.modules["uvloop"] = None  # type: ignore[assignment]
note = note_into(os.environ["KONTOR_TEST_ADDRESS_LOG"])
note(f"filtered {os.getpid()}")
refuse_outside(note)
