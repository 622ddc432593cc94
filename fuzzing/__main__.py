"""`./dev fuzz`: damages sample files of every parser; with `--requests`, sends generated requests to a service."""

import sys

from fuzzing.files.command import main as damage_files
from fuzzing.requests.command import main as send_requests

if __name__ == "__main__":
    arguments = sys.argv[1:]
    if "--requests" in arguments:
        sys.exit(send_requests([argument for argument in arguments if argument != "--requests"]))
    sys.exit(damage_files(arguments))
