"""The manifest of labelled files: which of them teach the category model and which judge it."""

import tomllib
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from kontor.domain.errors import InvalidError

MANIFEST_NAME = "manifest.toml"
Use = Literal["training", "evaluation"]
Text = Annotated[str, msgspec.Meta(min_length=1)]


class DataSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A labelled file. `path` is relative to the manifest, `date` is when the file was added."""

    path: Text
    use: Use
    rows: int
    date: date
    author: Text
    description: Text
    fits_confidences: bool = True

    @property
    def id(self) -> str:
        return Path(self.path).stem


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sets: tuple[DataSet, ...]

    def find(self, path: str) -> DataSet | None:
        return next((data_set for data_set in self.sets if data_set.path == path), None)

    def list_sets(self, use: Use) -> list[DataSet]:
        """In the order of the file, which decides what training gives."""
        return [data_set for data_set in self.sets if data_set.use == use]


def load_manifest(folder: Path) -> Manifest:
    """Read the manifest and refuse it if it does not describe the labelled files of its folder exactly."""
    manifest = read_manifest(folder)
    paths = Counter(data_set.path for data_set in manifest.sets)
    for path, count in paths.items():
        if count > 1:
            raise InvalidError("is listed more than once", path)
    present = {str(file.relative_to(folder)) for file in folder.rglob("*.jsonl")}
    for path in sorted(present - paths.keys()):
        raise InvalidError(f"is a labelled file that is not in {MANIFEST_NAME}", path)
    for data_set in manifest.sets:
        if data_set.path not in present:
            raise InvalidError(f"is listed in {MANIFEST_NAME} but does not exist", data_set.path)
        rows = count_rows(folder / data_set.path)
        if rows != data_set.rows:
            raise InvalidError(f"has {rows} rows, {MANIFEST_NAME} says {data_set.rows}", data_set.path)
    return manifest


def read_manifest(folder: Path) -> Manifest:
    """The manifest as it is written, not compared with the files."""
    try:
        content = tomllib.loads((folder / MANIFEST_NAME).read_text(encoding="utf-8"))
        return msgspec.convert(content, Manifest)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise InvalidError(str(error), MANIFEST_NAME) from None


def count_rows(file: Path) -> int:
    return sum(1 for line in file.read_bytes().splitlines() if line.strip())


def describe_use(files: list[Path]) -> list[str]:
    """What a reader of scores has to know: which of these files have taught the model, and which are in no manifest."""
    remarks = []
    for file in files:
        if not (file.parent / MANIFEST_NAME).is_file():
            continue
        data_set = read_manifest(file.parent).find(file.name)
        if data_set is None:
            remarks.append(f"{file.name} is not in {MANIFEST_NAME}: training would refuse it.")
        elif data_set.use == "training":
            remarks.append(f"{file.name} has taught the category model: expect lower scores on new rows.")
    return remarks
