"""Imported by the process that compute processes are forked from: they find everything loaded."""

import os

from kontor.bootstrap import prepare_compute_process
from kontor.services.compute import NICENESS

os.nice(NICENESS)
prepare_compute_process()
