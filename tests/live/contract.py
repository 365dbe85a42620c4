"""What every real agent must do in our host and ring, told once: subclass and name the agent.

The long form is `just live`; CI runs all of it for the quick ones, the essentials for the slow ones.
"""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, ClassVar

import pytest
from msgspec.structs import replace

from tests.contracts.attempts import ended, has_said, host_pid, marked, started, started_with, until
from tests.live.stage import NEXT, SCRIPT, LiveStage
from tests.model import Refuse, Say, answer

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.ports import Brief, Result
    from tests.model import Model

SLOW_S = 120
"""A generous limit: the machine may be busy, and some agents take ten seconds to start."""


class _Staged:
    agent: ClassVar[str]

    @pytest.fixture
    def stage(self, room: Path, model: Model) -> LiveStage:
        return LiveStage(root=room, agent=self.agent, model=model)


def over(stage: LiveStage, brief: Brief) -> Result:
    """Wait for the end; whatever the agent wrote to stderr is shown when the test fails."""
    result = ended(stage, brief, seconds=2 * SLOW_S)
    print(result, (stage.attempts.folder(brief.attempt) / "agent.log").read_text(errors="replace")[-3000:])
    return result


def asked(stage: LiveStage, brief: Brief) -> list[tuple[object, object]]:
    """List what was asked, and how it was answered."""
    events, _ = stage.attempts.events(brief.attempt)
    return [(event["call"], event["allowed"]) for event in events if event["kind"] == "asked"]


class Essentials(_Staged):
    """Write, run, be refused, judge."""

    def test_it_writes_a_file_and_runs_a_command(self, stage: LiveStage) -> None:
        brief = started_with(
            stage,
            stage.playing(
                stage.makes(), stage.runs("cat made.txt made.txt > twice.txt"), answer(Say("made it"))
            ),
        )
        result = over(stage, brief)
        assert (result.ending, result.says, result.starts) == ("done", "made it", 1)
        assert (stage.workspace / "made.txt").read_text() == "made\n"
        assert (stage.workspace / "twice.txt").read_text() == "made\nmade\n"
        assert (stage.model.left(SCRIPT), marked(stage.mark)) == (0, [])
        assert set(asked(stage, brief)) == {("edit", True), ("run", True)}
        assert result.tool_calls == 2

    def test_it_is_refused_what_is_not_its_to_write_and_goes_on(self, stage: LiveStage) -> None:
        brief = started(stage, "asks to edit outside")
        result = over(stage, brief)
        assert (result.ending, result.says) == ("done", "it was refused")
        assert ("edit", False) in asked(stage, brief)
        assert ("edit", True) not in asked(stage, brief)
        made = (stage.workspace.parent / "outside.txt", stage.workspace / NEXT)
        assert [path for path in made if path.exists()] == []

    def test_it_leaves_a_verdict_item_by_item(self, stage: LiveStage) -> None:
        brief = started(stage, "fails item 2", role="verify", writable=False)
        result = over(stage, brief)
        assert result.ending == "done"
        assert result.verdict is not None
        words = [(entry.item, entry.outcome, entry.why) for entry in result.verdict.entries]
        assert words == [(1, "PASS", "seen"), (2, "FAIL", "no test"), (3, "PASS", "seen")]
        assert result.verdict.problems == ()


class InFull(_Staged):
    """Whatever else may happen to it."""

    def test_it_cannot_write_where_it_may_only_look(self, stage: LiveStage) -> None:
        brief = started(stage, "writes although it may not", role="verify", writable=False)
        over(stage, brief)
        assert stage.model.left(SCRIPT) == 0
        assert not (stage.workspace / "made.txt").exists()

    def test_it_is_cancelled_with_everything_it_started(self, stage: LiveStage) -> None:
        brief = started(stage, "hangs with a child of its own session")
        stage.model.await_requests(SCRIPT, 2, timeout_s=SLOW_S)
        stage.attempts.cancel(brief.attempt)
        result = over(stage, brief)
        assert (result.ending, marked(stage.mark)) == ("cancelled", [])

    @pytest.mark.parametrize(
        ("status", "words", "ending", "causes"),
        [
            (400, "messages: at least one is required", "failed", {None}),
            (401, "Incorrect API key provided", "limited", {"auth"}),
            # Too many at once, or all that was paid for: neither says which, and both are waited for.
            (429, "Rate limit reached for requests", "limited", {"usage_limit", "overload"}),
            (529, "Overloaded", "limited", {"overload"}),
        ],
        ids=["400", "401", "429", "529"],
    )
    def test_it_says_why_its_model_refused(
        self, stage: LiveStage, status: int, words: str, ending: str, causes: set[str | None]
    ) -> None:
        result = over(stage, started_with(stage, stage.playing(Refuse(status=status, message=words))))
        assert (result.ending, result.cause in causes) == (ending, True)
        assert result.reason != ""

    def test_it_takes_its_conversation_up_again_after_its_host_was_killed(self, stage: LiveStage) -> None:
        brief = started(stage, "hangs in its first start")
        stage.model.await_requests(SCRIPT, 2, timeout_s=SLOW_S)
        until(has_said(stage, brief), seconds=SLOW_S)
        os.kill(host_pid(stage, brief), signal.SIGKILL)
        until(lambda: not stage.attempts.alive(brief.attempt))
        stage.attempts.start(brief)
        result = over(stage, brief)
        assert (result.ending, result.says, result.starts) == ("done", "made it", 2)
        *_, last = stage.model.requests(SCRIPT)
        assert "made.txt" in last.words
        assert result.session is not None

    def test_nothing_of_it_lives_on_when_its_host_is_killed(self, stage: LiveStage) -> None:
        brief = started(stage, "hangs with a child of its own session")
        stage.model.await_requests(SCRIPT, 2, timeout_s=SLOW_S)
        assert marked(stage.mark) != []
        os.kill(host_pid(stage, brief), signal.SIGKILL)
        killed = time.monotonic()
        until(lambda: marked(stage.mark) == [])
        print(f"{self.agent}: 0 processes {time.monotonic() - killed:.1f} s after kill -9 of its host")


class OfClaude(_Staged):
    """What Claude Code tells of its limits, however it is driven; the others do not."""

    def test_it_stops_at_its_budget(self, stage: LiveStage) -> None:
        brief = stage.playing(*(stage.makes(f"made{number}.txt") for number in range(9)))
        brief = started_with(stage, replace(brief, program=replace(brief.program, budget_usd=0.03)))
        result = over(stage, brief)
        assert (result.ending, result.cause) == ("failed", "budget")
        assert result.cost_usd is not None
        assert 0.03 <= result.cost_usd < 0.09
        assert stage.model.left(SCRIPT) > 0

    def test_it_says_when_its_usage_limit_opens_again(self, stage: LiveStage) -> None:
        result = over(stage, started(stage, "meets its usage limit"))
        assert (result.ending, result.cause) == ("limited", "usage_limit")
        assert result.resets_at == "2031-05-06T07:08:09+00:00"
