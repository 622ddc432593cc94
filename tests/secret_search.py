"""Looking for secrets in bytes, in whatever form they may have been written."""

import base64
from collections.abc import Iterator
from pathlib import Path

CHUNK_BYTES = 8 * 1024 * 1024


def list_forms(secret: str | bytes) -> dict[str, bytes]:
    """Plain and merely encoded. Base64 looks different at each of three offsets; what hangs over is cut off."""
    raw = secret.encode() if isinstance(secret, str) else secret
    forms = {"plain": raw, "hex": raw.hex().encode(), "HEX": raw.hex().upper().encode()}
    if isinstance(secret, str):
        forms["UTF-16"] = secret.encode("utf-16-le")
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw)
        forms[f"Base64 at {offset}"] = encoded[(offset * 8 + 5) // 6 : len(encoded) // 4 * 4 - 4]
    return forms


def find_forms(file: Path, forms: dict[str, bytes], chunk_bytes: int = CHUNK_BYTES) -> Iterator[str]:
    longest = max(map(len, forms.values()))
    tail = b""
    with file.open("rb") as handle:
        while chunk := handle.read(chunk_bytes):
            for name, form in forms.items():
                if form in tail + chunk[:longest] or form in chunk:
                    yield f"{file.name}: {name}"
            tail = chunk[-longest:]
