"""Strong customer authentication: consents, and the steps that any dialogue with a user has."""

from kontor.services.sca.consents import DIALOGUE_LIFETIME, ConsentOptions, Consents, ConsentView, NotOpenError
from kontor.services.sca.engine import DialogueEngine
from kontor.services.sca.steps import (
    choose_alone,
    classify,
    describe,
    find_unoffered,
    keep_open_secrets,
    make_answer,
    secrets_of,
)

__all__ = [
    "DIALOGUE_LIFETIME",
    "ConsentOptions",
    "ConsentView",
    "Consents",
    "DialogueEngine",
    "NotOpenError",
    "choose_alone",
    "classify",
    "describe",
    "find_unoffered",
    "keep_open_secrets",
    "make_answer",
    "secrets_of",
]
