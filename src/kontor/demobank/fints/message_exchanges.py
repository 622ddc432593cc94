"""One message and its answer. Whoever handles a part of the message adds what is to be said about it."""

from dataclasses import dataclass, field, replace
from datetime import date

from kontor.demobank.faults import UNDISTURBED, Visit
from kontor.demobank.fints.codes import TEXTS
from kontor.demobank.fints.customers import Customer
from kontor.demobank.fints.dialogues import Dialogue
from kontor.demobank.fints.messages import Request
from kontor.demobank.fints.modes import Mode
from kontor.demobank.fints.segments import Segment, make_segment

# Clients expect this order; hbci4java refuses the message otherwise.
_ORDER = ("parameters", "user", "synchronisation", "data")
MAX_REPLY_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Reply:
    code: str
    text: str
    parameters: tuple[str, ...] = ()


@dataclass(slots=True)
class MessageExchange:
    """`is_over` ends the dialogue after this answer, `is_aborted` says besides that it went wrong."""

    request: Request
    dialogue: Dialogue
    today: date
    modes: frozenset[Mode] = frozenset()
    customer: Customer | None = None
    visit: Visit = UNDISTURBED
    is_over: bool = False
    is_aborted: bool = False
    general: list[Reply] = field(default_factory=list)
    replies: dict[int, list[Reply]] = field(default_factory=dict)
    parts: dict[str, list[Segment]] = field(default_factory=lambda: {name: [] for name in _ORDER})

    @property
    def login(self) -> str:
        assert self.dialogue.login is not None, "only known customers get here"
        return self.dialogue.login

    @property
    def has_errors(self) -> bool:
        return self.is_aborted or any(
            reply.code.startswith("9") for replies in self.replies.values() for reply in replies
        )

    def find(self, code: str) -> Segment | None:
        return next((segment for segment in self.request.segments if segment.code == code), None)

    def reply(self, to: Segment | None, code: str, text: str | None = None, *parameters: str) -> None:
        """What is said about a segment, or about the whole message."""
        reply = Reply(code, (text or TEXTS[code])[:MAX_REPLY_CHARACTERS], parameters)
        if to is None:
            self.general.append(reply)
        else:
            self.replies.setdefault(to.number, []).append(reply)

    def abort(self, to: Segment | None, code: str, text: str | None = None) -> None:
        self.reply(to, code, text)
        self.is_over = self.is_aborted = True

    def add(self, segment: Segment, answering: Segment | None, part: str = "data") -> None:
        self.parts[part].append(segment if answering is None else replace(segment, reference=answering.number))

    def assemble(self) -> list[Segment]:
        segments = [_make_replies(self._sum_up(), None)]
        segments += [_make_replies(replies, number) for number, replies in sorted(self.replies.items())]
        return segments + [segment for name in _ORDER for segment in self.parts[name]]

    def _sum_up(self) -> list[Reply]:
        codes = [reply.code for replies in self.replies.values() for reply in replies]
        good = "3060" if any(code.startswith("3") for code in codes) else "0010"
        first = "9050" if self.has_errors else good
        summary = [Reply(first, TEXTS[first])]
        if self.is_aborted:
            summary.append(Reply("9800", TEXTS["9800"]))
        return summary + self.general


def _make_replies(replies: list[Reply], number: int | None) -> Segment:
    code = "HIRMG" if number is None else "HIRMS"
    rows = [(reply.code, None, reply.text, *reply.parameters) for reply in replies]
    return replace(make_segment(code, 2, *rows), reference=number)
