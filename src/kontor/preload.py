"""Imported by the process that compute processes are forked from: they find everything loaded."""

import os
import signal

from kontor.bootstrap import prepare_compute_process
from kontor.services.compute import NICENESS

signal.signal(signal.SIGTERM, signal.SIG_IGN)  # sent to the whole group; it ends with the process that started it
os.nice(NICENESS)
prepare_compute_process()
