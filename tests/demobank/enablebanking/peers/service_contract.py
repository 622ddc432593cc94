"""Enable Banking's contract, as the tests need it."""

import json
import os
from pathlib import Path
from typing import Any

import yaml

CONTRACT = "KONTOR_TEST_ENABLE_BANKING_CONTRACT"  # names Enable Banking's OpenAPI document, which has no licence


def load_contract() -> dict[str, Any]:
    """At any address. Kontor sends its messages to a demo service, not to Enable Banking."""
    path = os.environ.get(CONTRACT)
    assert path, f"{CONTRACT} must name the OpenAPI document of Enable Banking"
    contract = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    contract["servers"] = [{"url": "/"}]
    return json.loads(json.dumps(contract, default=str))
