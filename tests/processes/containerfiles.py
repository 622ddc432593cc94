"""The container file, read as far as tests need it."""

import re

from fleets import DEPLOY


def read_containerfile():
    """(instruction, rest) of each stage."""
    text = re.sub(r"\\\n", " ", (DEPLOY / "container/Containerfile").read_text())
    stages = []
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            stages.append([])
        if line.strip() and not line.startswith("#"):
            stages[-1].append((word, rest.strip()))
    return stages


def copied_files(stage):
    for word, rest in stage:
        if word == "COPY" and "--from" not in rest:
            *sources, target = rest.split()
            for source in sources:
                yield source, target
