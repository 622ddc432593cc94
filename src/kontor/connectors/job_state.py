"""Jobs as JSON values, so that a dialogue's state can carry them.

The keys are the fields of the job and a `kind`. A key that an earlier version did not write takes the field's default.
"""

import msgspec

from kontor.connectors.base import Fetch, Pay, State


def serialize_job(job: Fetch | Pay) -> State:
    values: State = msgspec.json.decode(msgspec.json.encode(job))
    for name in ("standing", "debit", "statements"):
        if values.get(name, "") is None:
            del values[name]  # a job without them is written as it always was
    return {"kind": "pay" if isinstance(job, Pay) else "fetch"} | values


def deserialize_job(values: State) -> Fetch | Pay:
    if values.get("kind") == "pay":
        return msgspec.convert(values, Pay)
    return msgspec.convert(values, Fetch)
