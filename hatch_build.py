"""Compiles the tagger into the wheel when `KONTOR_COMPILE=yes` asks for it: the same code, faster.

That needs a C compiler, mypy and setuptools (`./dev wheel` has all but the first). Otherwise the wheel is plain Python.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = Path("kontor/analysis/tagging")
# What others hold in their hands stays plain Python, and so do the structures of msgspec.
LEFT_PLAIN = frozenset({"__init__.py", "layout_files.py", "prepared_knowledge.py", "taggings.py"})


class CompiledTagger(BuildHookInterface):  # type: ignore[type-arg]
    """hatchling calls `initialize` before it collects the files, and `finalize` when the wheel is there."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if os.environ.get("KONTOR_COMPILE") != "yes" or version == "editable":
            return
        # A copy, so that no library is left beside a source that changes.
        self._folder = Path(tempfile.mkdtemp(prefix="kontor-compile-"))
        shutil.copytree(Path(self.root) / "src", self._folder, dirs_exist_ok=True)
        modules = [str(PACKAGE / file.name) for file in sorted((self._folder / PACKAGE).glob("*.py"))]
        command = [sys.executable, "-m", "mypyc", "--ignore-missing-imports"]
        command += [module for module in modules if Path(module).name not in LEFT_PLAIN]
        done = subprocess.run(command, cwd=self._folder, text=True, capture_output=True, check=False)
        if done.returncode:
            shutil.rmtree(self._folder)
            raise RuntimeError(f"mypyc could not compile the tagger:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        for folder in (self._folder, self._folder / PACKAGE):
            for library in (*folder.glob("*.so"), *folder.glob("*.pyd")):
                build_data["force_include"][str(library)] = str(library.relative_to(self._folder))
        build_data["pure_python"], build_data["infer_tag"] = False, True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            shutil.rmtree(self._folder)
