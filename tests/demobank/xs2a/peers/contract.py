"""The official contract, as the tests need it."""

import json
import os
import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[4]
CONTRACT = (
    "KONTOR_TEST_PSD2_CONTRACT"  # names the Berlin Group's file psd2-api_v1.3.11.yaml, which is not ours to publish
)
PRISM = ROOT / ".venv" / "peers" / "node_modules" / ".bin" / "prism"
SERVED = re.compile(r"^/v1/(consents|accounts|\{payment-service\})")


def load_contract() -> dict[str, Any]:
    """With two changes. `format: url` refuses loopback addresses. And where the contract lists alternatives as `oneOf`,
    they are not exclusive (an empty schema fits everything), so that nothing at all would be valid: `anyOf`.
    """
    path = os.environ.get(CONTRACT)
    assert path, f"{CONTRACT} must name the file psd2-api_v1.3.11.yaml of the Berlin Group"
    text = Path(path).read_text(encoding="utf-8").replace("format: url", "format: uri").replace("oneOf:", "anyOf:")
    contract = yaml.load(text, Loader=yaml.CSafeLoader)
    contract["servers"] = [{"url": "/"}]
    return json.loads(json.dumps(contract, default=str))


def keep_served(contract: dict[str, Any]) -> dict[str, Any]:
    """Without what the demo bank does not offer."""
    paths = {
        path: operations
        for path, operations in contract["paths"].items()
        if SERVED.match(path) and "cancellation-authorisations" not in path
    }
    return contract | {"paths": paths}
