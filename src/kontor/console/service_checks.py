"""What the API says about the state of the service, in English, in the words of the page's language."""

from dataclasses import dataclass
from typing import Any

from kontor.console.sentences import Sentences
from kontor.pages.texts import Texts

_KNOWN = Sentences(
    "ops_checks",
    {
        "silent": "does not answer",
        "answers": "answers",
        "no_worker": "none is at work",
        "at_work": "at work",
        "workers": "{count} at work, {gone} gone without a word within the last hour",
        "late": "{count} late",
        "accesses": "{count} of {total} failed at the last fetch, {refused} with a refused login",
        "discarded": "{count} discarded within 24 hours",
        "down": "{count} down",
        "held": "{count} failed and held",
    },
    dict.fromkeys(("count", "gone", "total", "refused"), r"\d+"),
)


@dataclass(frozen=True, slots=True)
class ServiceCheck:
    """`detail` is in English where nobody knows the sentence."""

    name: str
    is_well: bool
    detail: str
    is_translated: bool


def read_checks(health: Any, texts: Texts) -> list[ServiceCheck]:
    return [_read_check(check, texts) for check in health["checks"]]


def _read_check(check: Any, texts: Texts) -> ServiceCheck:
    told = _KNOWN.tell(check["detail"], texts, lambda name, value: value)
    key = f"ops.check_{check['name']}"
    name = texts(key) if key in texts.texts else check["name"]
    return ServiceCheck(name, check["well"], told or check["detail"], told is not None)
