"""The tagger as `./dev wheel` compiles it: a process of its own that is asked round by round, in turn with others."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from types import TracebackType

from benchmarks.understanding.rows import WARM_ROWS, WARM_SUFFIXES, list_history, pick_rows

ROOT = Path(__file__).parents[2]


def can_compile() -> bool:
    return shutil.which("cc") is not None or shutil.which("gcc") is not None


def build_site(folder: Path, **settings: str) -> Path:
    """The files of a wheel with a compiled tagger, below that folder; `settings` go to the compiler's environment."""
    environment = os.environ | {"KONTOR_COMPILE": "yes"} | settings
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the wheel was not built:\n{done.stderr}")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


class CompiledTagger:
    """Builds the wheel, then measures `bulk` of every `stride` rows, as many rounds as are asked for."""

    def __init__(self, suffixes: tuple[str, ...], rounds: int, bulk: int, stride: int) -> None:
        self._arguments = [",".join(suffixes), str(rounds), str(bulk), str(stride)]

    def __enter__(self) -> "CompiledTagger":
        self._folder = tempfile.TemporaryDirectory(prefix="kontor-compiled-")
        site = build_site(Path(self._folder.name))
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, *self._arguments],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(site)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._ask("load")
        return self

    def measure(self, number: int) -> float:
        """Rows per second of processor time in that round."""
        return float(self._ask(str(number)))

    def measure_history(self, number: int) -> float:
        return float(self._ask(f"history {number}"))

    def _ask(self, word: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process with the compiled tagger has ended")
        return line

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()


def answer(suffixes: str, rounds: str, bulk: str, stride: str) -> None:
    """What the process does: tags the rows of the round that a line names, and says how fast."""
    from kontor.analysis.tagging import NOBODY, load_tagger, taggers

    if not taggers.__file__.endswith(".so"):
        raise RuntimeError("this is not the compiled tagger")
    tagger = load_tagger()
    rows = [row.transaction for row in pick_rows(tuple(suffixes.split(",")), int(rounds) * int(stride))]
    warm = [row.transaction for row in pick_rows(WARM_SUFFIXES, WARM_ROWS)]
    for line in sys.stdin:
        word, _, number = line.strip().partition(" ")
        start = int(word) * int(stride) if word.isdigit() else 0
        part = rows[start : start + int(bulk)] if word.isdigit() else warm
        if word == "history":
            part = [row.transaction for row in list_history(int(number))]
        began = time.process_time()
        tagger.tag(part, NOBODY)
        sys.stdout.write(f"{len(part) / (time.process_time() - began)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    answer(*sys.argv[1:])
