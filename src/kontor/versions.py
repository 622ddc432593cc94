"""Which Kontor this is. A build takes its version from git and keeps it; a checkout says which commit it is at."""

import re
import subprocess
from pathlib import Path

UNKNOWN = "0.0"
DESCRIBE = ("describe", "--tags", "--long", "--always", "--abbrev=9", "--match", "v[0-9]*")
GIT_SECONDS = 10


def find_version(checkout: Path = Path(__file__).parents[2]) -> str:
    """Of the commit in a checkout, also after it has moved on; else of the installed package."""
    if (checkout / ".git").exists() and (checkout / "pyproject.toml").exists():
        described = _describe(checkout)
        if described is not None:
            return described
    from importlib import metadata  # it takes longer to load than git to answer

    try:
        return metadata.version("kontor")
    except metadata.PackageNotFoundError:
        return UNKNOWN


def _describe(checkout: Path) -> str | None:
    """As the build writes it. Without a tag, such as in a shallow clone, the commit is all that is known."""
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(checkout), *DESCRIBE],  # noqa: S607 (wherever it is installed)
            capture_output=True, text=True, check=False, timeout=GIT_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    text = done.stdout.strip()
    if done.returncode != 0 or not text:
        return None
    match = re.fullmatch(r"v(\d[^-]*)-(\d+)-(g[0-9a-f]+)", text)
    if match is None:
        return f"0.0+g{text}"
    tag, distance, commit = match.groups()
    return tag if distance == "0" else f"{tag}.post{distance}+{commit}"
