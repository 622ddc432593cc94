"""The dialogue with a bank in which a user takes part: the same for a consent and for a payment, whoever drives it.

The caller says which answers need no user (`decide`) and what it keeps of a step (`describe`), and stores what a step
leads to.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

from kontor.connectors.base import (
    Answer,
    Cancel,
    Failed,
    FailureKind,
    Job,
    NeedMedium,
    NeedMethod,
    NeedPayeeDecision,
    State,
    Step,
)
from kontor.services.banks import BankDialogue
from kontor.services.sca.steps import AnyDialogue, note_choice

T = TypeVar("T")


class DialogueEngine(Generic[AnyDialogue]):
    """`before_call` and `after_call` are told of every call of the bank."""

    def __init__(
        self,
        describe: Callable[[AnyDialogue, Step], AnyDialogue],
        before_call: Callable[[], None] = lambda: None,
        after_call: Callable[[], None] = lambda: None,
    ) -> None:
        self._describe: Callable[[AnyDialogue, Step], AnyDialogue] = describe
        self._before_call = before_call
        self._after_call = after_call
        self._at_work: set[asyncio.Task[Any]] = set()

    async def run_shielded(self, step: Coroutine[Any, Any, T]) -> T:
        """A caller that goes away, or runs into the time limit, stops no step that is with the bank."""

        def forget(task: "asyncio.Task[T]") -> None:
            self._at_work.discard(task)
            _ = task.cancelled() or task.exception()  # whoever waited has it already

        task = asyncio.create_task(step)
        self._at_work.add(task)
        task.add_done_callback(forget)
        return await asyncio.shield(task)

    async def begin(
        self,
        bank: BankDialogue | None,
        job: Job,
        dialogue: AnyDialogue,
        decide: Callable[[AnyDialogue, Step], Answer | None],
    ) -> tuple[AnyDialogue, Step]:
        """Call the bank, and go on as far as the user need not be asked. Without `bank` nobody can be called."""
        if bank is None:
            return dialogue, Failed(FailureKind.UNREACHABLE)
        step = await self._call(bank.begin(job))
        return await self._go_on(bank, dialogue, step, decide)

    async def resume(
        self,
        bank: BankDialogue | None,
        state: State,
        answer: Answer,
        dialogue: AnyDialogue,
        decide: Callable[[AnyDialogue, Step], Answer | None],
    ) -> tuple[AnyDialogue, Step]:
        """Pass the user's answer on. What is cancelled stays so, whatever the bank says to that."""
        dialogue = note_choice(dialogue, answer)
        step: Step = Failed(FailureKind.UNREACHABLE)
        if bank is not None:
            step = await self._call(bank.resume(state, answer))
        if isinstance(answer, Cancel):
            return dialogue, Failed(FailureKind.CANCELLED)
        if bank is None:
            return dialogue, step
        return await self._go_on(bank, dialogue, step, decide)

    async def _go_on(
        self,
        bank: BankDialogue,
        dialogue: AnyDialogue,
        step: Step,
        decide: Callable[[AnyDialogue, Step], Answer | None],
    ) -> tuple[AnyDialogue, Step]:
        while (answer := decide(dialogue, step)) is not None:
            assert isinstance(step, NeedMethod | NeedMedium | NeedPayeeDecision)
            dialogue = note_choice(self._describe(dialogue, step), answer)
            step = await self._call(bank.resume(step.state, answer))
        return dialogue, step

    async def _call(self, calling: Awaitable[Step]) -> Step:
        self._before_call()
        step = await calling
        self._after_call()
        return step
