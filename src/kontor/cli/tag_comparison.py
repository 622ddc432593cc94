"""Comparing the tagger of the working tree with that of a git revision, on the same labelled transactions."""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import kontor
from kontor.analysis.scoring.partner_names import ShortNames
from kontor.analysis.scoring.tag_changes import Effect, TagChange, find_changes, judge_tags
from kontor.analysis.scoring.tag_scores import Judged, Labelled
from kontor.analysis.tagging import Tagging, load_tagger
from kontor.cli.data_sets import MANIFEST_NAME, load_manifest, read_manifest
from kontor.cli.tag_evaluation import judge, judge_tagging, load_short_names, read_files
from kontor.domain.errors import InvalidError, NotFoundError

PACKAGE = "src/kontor"
LABELLED = "evaluation/transactions"
HELD_OUT, SHOWN = "held out", "shown"
# Runs with the source tree of the other revision on PYTHONPATH. Names are read by attribute, so that older revisions
# whose results have other fields can be compared as well.
TAG_ROWS = """
import json, sys
import kontor
from kontor.analysis.tagging import NOBODY, find_partner, load_tagger
from kontor.wire.labelled_rows import read_labelled
rows = [row.transaction for row in read_labelled(sys.stdin.buffer.read().splitlines())]
answers = []
for tagging in load_tagger().tag(rows, NOBODY):
    partner = find_partner(tagging.partner)
    names = [tagging.partner] if partner is None else list(getattr(partner, "names", [partner.name]))
    tags = [tagging.category, tagging.insurance_type, tagging.partner, tagging.freelancer_category]
    answers.append([tags, names])
json.dump({"package": kontor.__file__, "answers": answers}, sys.stdout)
"""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A labelled file. Rows of held-out files are counted, never shown: nobody shall improve the tagger on them."""

    path: Path
    is_held_out: bool
    labelled: list[Labelled]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`judged` counts the rows that have a label, `effects` what changed; both by tag and by whether rows are shown."""

    revision: str
    judged: Counter[tuple[str, str]]
    effects: Counter[tuple[str, str, Effect]]
    changes: list[tuple[str, TagChange]]  # (file name, change) of rows that may be shown


def compare_tags(revision: str, paths: Sequence[Path]) -> Comparison:
    """Compare on these files, or on all of the manifest."""
    root = find_checkout()
    commit = find_commit(root, revision)
    files = read_data_files(list(paths) or list_manifest_files(root / LABELLED))
    if not any(file.labelled for file in files):
        raise NotFoundError("There are no labelled transactions in it.")
    with TemporaryDirectory(prefix="kontor-compare-") as folder:
        extract_package(root, commit, Path(folder))
        before = tag_with(Path(folder), revision, files)
    tagger = load_tagger()
    comparison = Comparison(commit, Counter(), Counter(), [])
    for file, old in zip(files, before, strict=True):
        group = HELD_OUT if file.is_held_out else SHOWN
        new = judge(file.labelled, tagger)
        comparison.judged.update((tag, group) for judged in new for tag in judge_tags(judged))
        for change in find_changes(old, new):
            comparison.effects[change.tag, group, change.effect] += 1
            if not file.is_held_out:
                comparison.changes.append((file.path.name, change))
    order = list(Effect)
    comparison.changes.sort(key=lambda pair: (order.index(pair[1].effect), pair[0]))
    return comparison


# Labelled files


def list_manifest_files(folder: Path) -> list[Path]:
    return [folder / data_set.path for data_set in load_manifest(folder).sets]


def read_data_files(paths: Sequence[Path]) -> list[DataFile]:
    return [DataFile(path, is_held_out(path), read_files([path])) for path in paths]


def is_held_out(path: Path) -> bool:
    if not (path.parent / MANIFEST_NAME).is_file():
        return False
    data_set = read_manifest(path.parent).find(path.name)
    return data_set is not None and data_set.use == "evaluation"


# The other revision


def run_git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    git = shutil.which("git")
    if git is None:
        raise InvalidError("needs git, which is not installed", "--compare")
    # No shell reads the arguments, and a revision follows --end-of-options.
    return subprocess.run([git, "-C", str(folder), *arguments], capture_output=True, check=False)  # noqa: S603


def find_checkout() -> Path:
    """The root of the git checkout that the running code belongs to."""
    package = Path(kontor.__file__).resolve().parent
    done = run_git(package, "rev-parse", "--show-toplevel")
    root = Path(os.fsdecode(done.stdout.rstrip(b"\n")))
    if done.returncode or (root / PACKAGE).resolve() != package:
        raise InvalidError("needs a git checkout of Kontor; the running code is not in one", "--compare")
    return root


def find_commit(root: Path, revision: str) -> str:
    done = run_git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if done.returncode:
        raise InvalidError(f"{revision} is no revision of this repository", "--compare")
    return done.stdout.decode().split()[-1]


def extract_package(root: Path, commit: str, target: Path) -> None:
    """Unlike a worktree, an archive leaves nothing behind in the repository if this process is killed."""
    done = run_git(root, "archive", "--format=tar", commit, PACKAGE)
    if done.returncode:
        raise InvalidError(f"the revision has no {PACKAGE}", "--compare")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(target, filter="data")


def tag_with(tree: Path, revision: str, files: Sequence[DataFile]) -> list[list[Judged]]:
    """What the tagger of a source tree says of the rows, judged by the labels and rules of the working tree."""
    lines = [line for file in files for line in file.path.read_bytes().splitlines() if line.strip()]
    done = subprocess.run(  # noqa: S603 (our own interpreter and script)
        [sys.executable, "-c", TAG_ROWS],
        input=b"\n".join(lines),
        env=os.environ | {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tree,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        reason = (done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
        raise InvalidError(f"the tagger of {revision} cannot be run ({reason})", "--compare")
    said = json.loads(done.stdout)
    if not Path(said["package"]).resolve().is_relative_to(tree.resolve()):
        raise InvalidError(f"the code of {revision} was not used, but {said['package']}", "--compare")
    answers, short_names = iter(said["answers"]), load_short_names()
    return [[_judge(row, short_names, *next(answers)) for row in file.labelled] for file in files]


def _judge(row: Labelled, short_names: ShortNames, tags: list[str], partner_names: list[str]) -> Judged:
    """Confidences are not compared."""
    category, insurance_type, partner, freelancer_category = tags
    tagging = Tagging(category, insurance_type, partner, freelancer_category, 0.0, 0.0, 0.0, 0.0)
    return judge_tagging(row, tagging, short_names, names=partner_names)


# Output

COUNT_HEADINGS = ("tag", "rows", "judged", *(effect.value for effect in Effect))
CHANGE_HEADINGS = ("effect", "file", "id", "transaction", "tag", "accepted", "before", "now")


def list_counts(comparison: Comparison) -> list[tuple[str | int, ...]]:
    """A line for each tag and group of rows; see `COUNT_HEADINGS`."""
    return [
        (tag, group, count, *(comparison.effects[tag, group, effect] for effect in Effect))
        for (tag, group), count in comparison.judged.items()
    ]


def list_changes(comparison: Comparison) -> list[tuple[str, ...]]:
    """A line for each change of a tag; see `CHANGE_HEADINGS`."""
    return [
        (
            change.effect.value,
            file,
            change.labelled.id,
            _describe(change.labelled),
            change.tag,
            ", ".join(change.accepted),
            change.before,
            change.after,
        )
        for file, change in comparison.changes
    ]


def _describe(labelled: Labelled) -> str:
    transaction = labelled.transaction
    texts = (transaction.counterparty_name, transaction.purpose, transaction.booking_text)
    return f"{transaction.amount} {' '.join(text for text in texts if text)}"[:70]
