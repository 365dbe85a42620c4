"""What every adapter must do in its host, told once: subclass `AttemptsContract` and give it a `stage`.

A stage makes its agent play a part: the scripted agent by a script, a real one by a scripted model.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import pytest

from asbuilt.agents.attempt_folder import Folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.agents.attempts import FolderAttempts
    from asbuilt.ports import Brief, Result

Part = Literal[
    "works",  # writes made.txt, says "made it"
    "hangs",  # says "here I am", then nothing for ever
    "hangs with a child of its own session",  # the same, after starting a process that left its session
    "ignores TERM",  # the same, deaf
    "hangs in its first start",  # the second start works
    "works slowly",  # says "here I am", works for about two seconds, then as "works"
    "crashes",  # ends by itself in a way that is no end
    "meets its usage limit",  # which opens again at 2031-05-06T07:08:09Z
    "asks to edit outside",  # asks for ../outside.txt, and writes it if it may
    "writes although it may not",  # tries to write made.txt without asking
    "fails item 2",  # a verdict: item 2 fails because of "no test", the others pass
]
SAID = "here I am"


class Stage(Protocol):
    """An agent on its machine."""

    attempts: FolderAttempts
    workspace: Path
    mark: str
    """In the environment of everything that belongs to the attempt."""

    def brief(self, part: Part, **changes: object) -> Brief: ...


_KILLED_S = 5.0
"""The kernel ends the processes of a namespace after its first one; on a busy machine that takes a while."""


def until(claim: Callable[[], bool], *, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)


def marked(mark: str) -> list[int]:
    """List the living processes that carry a mark in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def ended(stage: Stage, brief: Brief, *, waiting: bool = True, seconds: float = 120) -> Result:
    def has_ended() -> bool:
        if waiting:
            stage.attempts.heartbeat(brief.attempt)
        return stage.attempts.result(brief.attempt) is not None

    until(has_ended, seconds=seconds)
    until(lambda: not stage.attempts.alive(brief.attempt))
    result = stage.attempts.result(brief.attempt)
    assert result is not None
    return result


def has_said(stage: Stage, brief: Brief, text: str = SAID) -> Callable[[], bool]:
    def claim() -> bool:
        if not stage.attempts.folder(brief.attempt).is_dir():
            return False  # its worker is a process of its own, and has not come so far
        stage.attempts.heartbeat(brief.attempt)  # starting an agent may take longer than abandoning it
        events, _ = stage.attempts.events(brief.attempt)
        return any(event["kind"] == "said" and event["text"] == text for event in events)

    return claim


def host_pid(stage: Stage, brief: Brief) -> int:
    return int(Folder(stage.attempts.folder(brief.attempt)).host()["pid"])


def started(stage: Stage, part: Part, **changes: object) -> Brief:
    return started_with(stage, stage.brief(part, **changes))


def started_with(stage: Stage, brief: Brief) -> Brief:
    stage.attempts.start(brief)
    return brief


class AttemptsContract:
    """The port `Attempts` with one adapter behind it."""

    def test_an_agent_works_in_its_workspace_and_its_words_are_kept(self, stage: Stage) -> None:
        brief = started(stage, "works")
        result = ended(stage, brief)
        assert (result.ending, result.says, result.starts) == ("done", "made it", 1)
        assert (stage.workspace / "made.txt").read_text() == "made\n"
        until(lambda: marked(stage.mark) == [], seconds=_KILLED_S)

    def test_starting_twice_starts_once(self, stage: Stage) -> None:
        brief = started(stage, "works slowly")
        host = host_pid(stage, brief)
        stage.attempts.start(brief)
        assert ended(stage, brief).starts == 1
        assert host_pid(stage, brief) == host

    def test_what_has_ended_is_never_started_again(self, stage: Stage) -> None:
        brief = started(stage, "works")
        first = ended(stage, brief)
        (stage.workspace / "made.txt").unlink()
        stage.attempts.start(brief)
        assert stage.attempts.result(brief.attempt) == first
        assert not (stage.workspace / "made.txt").exists()
        assert stage.attempts.starts(brief.attempt) == 1

    def test_twenty_starters_at_once_make_one_host(self, stage: Stage) -> None:
        brief = started(stage, "works slowly")
        os.kill(host_pid(stage, brief), signal.SIGKILL)
        until(lambda: not stage.attempts.alive(brief.attempt))
        command = [
            sys.executable,
            "-m",
            "asbuilt.agents.host.main",
            str(stage.attempts.folder(brief.attempt)),
        ]
        hosts = [subprocess.Popen(command) for _ in range(20)]
        result = ended(stage, brief)
        assert (result.ending, result.starts) == ("done", 2)
        assert {host.wait() for host in hosts} <= {0, 75}
        assert stage.attempts.starts(brief.attempt) == 2

    def test_an_agent_goes_on_when_its_worker_is_killed_and_is_found_again(self, stage: Stage) -> None:
        brief = stage.brief("works slowly")
        worker = subprocess.Popen(
            [sys.executable, "-c", _WORKER, *_told(stage, brief)],
            start_new_session=True,
            stdin=subprocess.PIPE,
        )
        until(has_said(stage, brief))
        host = host_pid(stage, brief)
        worker.kill()
        worker.communicate()
        assert stage.attempts.alive(brief.attempt)
        stage.attempts.start(brief)
        result = ended(stage, brief)
        assert (result.ending, result.starts, host_pid(stage, brief)) == ("done", 1, host)

    def test_nothing_of_an_attempt_outlives_its_killed_host_and_the_next_start_begins_again(
        self, stage: Stage
    ) -> None:
        brief = started(stage, "hangs in its first start")
        until(has_said(stage, brief))
        assert marked(stage.mark) != []
        os.kill(host_pid(stage, brief), signal.SIGKILL)
        until(lambda: marked(stage.mark) == [], seconds=5)
        # A process that is being ended has no environment any more while it still has its lock.
        until(lambda: not stage.attempts.alive(brief.attempt), seconds=5)
        assert stage.attempts.result(brief.attempt) is None
        stage.attempts.start(brief)
        result = ended(stage, brief)
        assert (result.ending, result.starts, stage.attempts.starts(brief.attempt)) == ("done", 2, 2)

    def test_a_host_that_is_told_to_stop_ends_its_agent_and_leaves_the_attempt_open(
        self, stage: Stage
    ) -> None:
        brief = started(stage, "hangs")
        until(has_said(stage, brief))
        os.kill(host_pid(stage, brief), signal.SIGTERM)
        until(lambda: not stage.attempts.alive(brief.attempt))
        assert (stage.attempts.result(brief.attempt), marked(stage.mark)) == (None, [])

    def test_cancelling_ends_the_whole_tree(self, stage: Stage) -> None:
        brief = started(stage, "hangs with a child of its own session")
        until(has_said(stage, brief))
        stage.attempts.cancel(brief.attempt)
        assert ended(stage, brief).ending == "cancelled"
        until(lambda: marked(stage.mark) == [], seconds=_KILLED_S)

    def test_what_was_cancelled_before_it_began_never_begins(self, stage: Stage) -> None:
        brief = stage.brief("works")
        stage.attempts.folder(brief.attempt).mkdir(parents=True)
        stage.attempts.cancel(brief.attempt)
        stage.attempts.start(brief)
        assert ended(stage, brief).ending == "cancelled"
        assert not (stage.workspace / "made.txt").exists()

    def test_an_agent_that_ignores_term_is_killed_after_the_grace(self, stage: Stage) -> None:
        brief = started(stage, "ignores TERM")
        until(has_said(stage, brief))
        stage.attempts.cancel(brief.attempt)
        assert ended(stage, brief).ending == "cancelled"
        until(lambda: marked(stage.mark) == [], seconds=_KILLED_S)

    def test_when_nobody_waits_any_more_everything_ends(self, stage: Stage) -> None:
        brief = started(stage, "hangs with a child of its own session")
        until(has_said(stage, brief))
        for _ in range(30):
            stage.attempts.heartbeat(brief.attempt)
            time.sleep(0.1)
        assert stage.attempts.alive(brief.attempt)
        assert ended(stage, brief, waiting=False).ending == "abandoned"
        until(lambda: marked(stage.mark) == [], seconds=_KILLED_S)

    def test_silence_is_a_stall(self, stage: Stage) -> None:
        brief = started(stage, "hangs", stall_s=1)
        assert ended(stage, brief).ending == "stalled"
        until(lambda: marked(stage.mark) == [], seconds=_KILLED_S)

    def test_an_attempt_has_an_overall_limit(self, stage: Stage) -> None:
        brief = started(stage, "hangs", overall_s=1)
        assert ended(stage, brief).ending == "timed_out"
        until(lambda: marked(stage.mark) == [], seconds=_KILLED_S)

    def test_a_crash_is_not_done(self, stage: Stage) -> None:
        brief = started(stage, "crashes")
        result = ended(stage, brief)
        assert result.ending == "crashed"
        assert result.reason != ""

    def test_a_usage_limit_says_when_it_opens_again(self, stage: Stage) -> None:
        brief = started(stage, "meets its usage limit")
        result = ended(stage, brief)
        assert (result.ending, result.resets_at) == ("limited", "2031-05-06T07:08:09+00:00")

    def test_after_its_limit_the_attempt_goes_on_as_another_start_that_ends_for_itself(
        self, stage: Stage
    ) -> None:
        brief = started(stage, "meets its usage limit")
        first = ended(stage, brief)
        stage.attempts.start(brief)
        assert stage.attempts.result(brief.attempt) == first
        stage.attempts.start(brief, after=first.starts)
        second = ended(stage, brief)
        assert (first.starts, second.starts, second.ending) == (1, 2, "limited")
        stage.attempts.start(brief, after=first.starts)
        assert stage.attempts.result(brief.attempt) == second

    def test_a_question_about_a_file_outside_is_answered_with_no(self, stage: Stage) -> None:
        brief = started(stage, "asks to edit outside")
        assert ended(stage, brief).ending == "done"
        asked = [event for event in stage.attempts.events(brief.attempt)[0] if event["kind"] == "asked"]
        assert [event["allowed"] for event in asked] == [False]
        assert not (stage.workspace.parent / "outside.txt").exists()

    def test_whoever_may_not_write_cannot(self, stage: Stage, level: str) -> None:
        if level == "none":
            pytest.skip("without a ring only the gate holds")
        brief = started(stage, "writes although it may not", role="verify", writable=False)
        assert ended(stage, brief).ending == "done"
        assert not (stage.workspace / "made.txt").exists()

    def test_a_verdict_comes_item_by_item(self, stage: Stage) -> None:
        brief = started(stage, "fails item 2", role="verify", writable=False)
        verdict = ended(stage, brief).verdict
        assert verdict is not None
        words = [(entry.item, entry.outcome) for entry in verdict.entries]
        assert words == [(1, "PASS"), (2, "FAIL"), (3, "PASS")]

    def test_events_are_read_on_from_where_one_stopped(self, stage: Stage) -> None:
        brief = started(stage, "works")
        ended(stage, brief)
        every, end = stage.attempts.events(brief.attempt)
        assert (every[0]["kind"], every[-1]["kind"]) == ("started", "ended")
        assert stage.attempts.events(brief.attempt, end) == ([], end)
        assert stage.attempts.last_activity(brief.attempt) is not None

    def test_a_torn_brief_is_written_again(self, stage: Stage) -> None:
        brief = stage.brief("works")
        folder = stage.attempts.folder(brief.attempt)
        folder.mkdir(parents=True)
        (folder / "brief.json").write_text('{"v": 1, "brief": {"att')
        stage.attempts.start(brief)
        assert ended(stage, brief).ending == "done"

    def test_a_damaged_result_is_a_crash_and_starts_nothing(self, stage: Stage) -> None:
        brief = started(stage, "works")
        ended(stage, brief)
        (stage.attempts.folder(brief.attempt) / "result.json").write_text('{"ending": "do')
        damaged = stage.attempts.result(brief.attempt)
        stage.attempts.start(brief)
        assert damaged is not None
        assert damaged.ending == "crashed"
        assert stage.attempts.starts(brief.attempt) == 1


_WORKER = """\
import json, sys, time
from pathlib import Path
from asbuilt.agents.attempts import FolderAttempts
from asbuilt.agents.attempt_folder import Folder
state, level, brief = sys.argv[1:]
attempts = FolderAttempts(Path(state), level=level, sandbox_required=False, abandon_s=20, grace_s=1)
attempts.start(Folder(Path(brief)).brief()[0])
time.sleep(60)
"""


def _told(stage: Stage, brief: Brief) -> list[str]:
    """Write a brief where another process can read it."""
    state = stage.attempts.folder("x.1.1").parents[3]
    place = stage.workspace.parent / "told"
    place.mkdir()
    terms = stage.attempts.terms()
    Folder(place).write_brief(brief, terms)
    assert json.loads((place / "brief.json").read_bytes())["brief"]["attempt"] == brief.attempt
    return [str(state), terms.level, str(place)]
