"""What every adapter must do for its host, told once: subclass `AdapterContract` and give it a `stage`.

Here it is driven without a host, in a real seat: what it returns, emits and asks, and what it leaves alive.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.attempt_folder import Folder
from asbuilt.agents.contract import Answer, Said, Turn
from asbuilt.agents.host.agent_process import HostSeat
from asbuilt.agents.host.main import adapter_for
from tests.contracts.attempts import SAID, marked

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from asbuilt.agents.contract import Call, Event
    from asbuilt.ports import Brief
    from tests.contracts.attempts import Stage


@dataclass
class Listener:
    """A gate and a record that keep what they were told."""

    allowed: bool = True
    calls: list[Call] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, call: Call) -> Answer:
        self.calls.append(call)
        return Answer(allowed=self.allowed, reason="as the test says")

    def emit(self, event: Event) -> None:
        self.events.append(event)
        if event == Said(text=SAID):
            self.heard.set()


def seated(stage: Stage, brief: Brief) -> HostSeat:
    folder = Folder(stage.attempts.folder(brief.attempt))
    folder.path.mkdir(parents=True, exist_ok=True)
    return HostSeat(folder, brief, stage.attempts.terms(), start=1)


def driven(stage: Stage, brief: Brief, listener: Listener) -> Turn:
    """Drive an adapter to the end of its turn."""

    async def drive() -> Turn:
        seat = seated(stage, brief)
        try:
            return await adapter_for(brief.agent, seat).drive(brief, listener, listener.emit)
        finally:
            await seat.end()

    return asyncio.run(drive())


def interrupted(
    stage: Stage,
    brief: Brief,
    listener: Listener,
    act: Callable[[HostSeat, asyncio.Task[Turn]], Awaitable[None]],
) -> None:
    """Drive an adapter until it has said that it is there, then do something to it."""

    async def drive() -> None:
        seat = seated(stage, brief)
        task = asyncio.create_task(adapter_for(brief.agent, seat).drive(brief, listener, listener.emit))
        await asyncio.wait_for(listener.heard.wait(), 30)
        try:
            await act(seat, task)
        finally:
            task.cancel()
            await seat.end()

    asyncio.run(drive())


class AdapterContract:
    """One coroutine that drives one agent through one attempt."""

    def test_a_turn_that_is_done_says_so_and_its_words_were_emitted(self, stage: Stage) -> None:
        listener = Listener()
        turn = driven(stage, stage.brief("works"), listener)
        assert (turn.ending, turn.says) == ("done", "made it")
        assert Said(text="made it") in listener.events
        assert marked(stage.mark) == []

    @pytest.mark.parametrize("allowed", [True, False])
    def test_a_question_goes_to_the_gate_and_its_answer_back_to_the_agent(
        self, stage: Stage, *, allowed: bool
    ) -> None:
        listener = Listener(allowed=allowed)
        driven(stage, stage.brief("asks to edit outside"), listener)
        assert [(call.kind, (call.path or "").rpartition("/")[2]) for call in listener.calls] == [
            ("edit", "outside.txt")
        ]

    def test_a_limit_comes_with_its_time_and_a_crash_with_its_reason(self, stage: Stage) -> None:
        limited = driven(stage, stage.brief("meets its usage limit"), Listener())
        assert (limited.ending, limited.resets_at) == ("limited", "2031-05-06T07:08:09+00:00")
        crashed = driven(stage, stage.brief("crashes"), Listener())
        assert (crashed.ending, crashed.reason != "") == ("crashed", True)

    def test_whoever_is_cancelled_leaves_nothing_once_its_seat_ends(self, stage: Stage) -> None:
        async def cancel(_: HostSeat, task: asyncio.Task[Turn]) -> None:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        interrupted(stage, stage.brief("hangs with a child of its own session"), Listener(), cancel)
        assert marked(stage.mark) == []

    def test_whoever_loses_its_agent_says_that_it_crashed(self, stage: Stage) -> None:
        turns: list[Turn] = []

        async def end(seat: HostSeat, task: asyncio.Task[Turn]) -> None:
            await seat.end()
            turns.append(await asyncio.wait_for(task, 10))

        interrupted(stage, stage.brief("hangs"), Listener(), end)
        assert [turn.ending for turn in turns] == ["crashed"]

    def test_nothing_is_started_in_a_seat_that_has_ended(self, stage: Stage) -> None:
        async def start_again(seat: HostSeat, _: asyncio.Task[Turn]) -> None:
            await seat.end()
            with pytest.raises(RuntimeError, match="nothing more is started"):
                await seat.spawn(("true",))

        interrupted(stage, stage.brief("hangs"), Listener(), start_again)
        assert marked(stage.mark) == []
