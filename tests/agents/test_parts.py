"""The small parts of a host, by themselves: its watch, its captures, its verdict reader, its guard."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from asbuilt.agents.attempt_folder import Folder, Terms, Unreadable, verdict_in
from asbuilt.agents.attempts import FolderAttempts
from asbuilt.agents.contract import SAYS_CAP, Turn
from asbuilt.agents.host.main import Watch, main, whole_end
from asbuilt.agents.sandbox import guard, process_tree
from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.agents.streams import Capture, Lines
from asbuilt.errors import SandboxUnavailable
from asbuilt.ports import Result
from asbuilt.proof.opinion import Entry, Line, Opinion, RanCheck
from tests.agents.briefs import BRIEFS
from tests.agents.conftest import Machine
from tests.contracts.attempts import marked, until

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.policy.roles import Role
    from asbuilt.ports import Attempts, Processes


def _watch(*, stall_s: int = 10, overall_s: int = 100, abandon_s: float = 60) -> Watch:
    brief = replace(BRIEFS["plan"], stall_s=stall_s, overall_s=overall_s)
    return Watch(brief, Terms(level="none", tick_s=1, abandon_s=abandon_s))


PIECES = st.lists(st.binary(max_size=50), max_size=30)


def test_a_night_asleep_expires_nothing() -> None:
    watch = _watch()
    assert watch.tick(1, heartbeat=1, events=1, cancelled=False) is None
    assert watch.tick(8 * 3600, heartbeat=1, events=1, cancelled=False) is None


@pytest.mark.parametrize(
    ("beats", "events", "ending", "ticks"),
    [(False, True, "abandoned", 61), (True, False, "stalled", 11), (True, True, "timed_out", 100)],
)
def test_each_limit_counts_its_own_silence(*, beats: bool, events: bool, ending: str, ticks: int) -> None:
    watch = _watch()
    for tick in range(1, 200):
        over = watch.tick(1, heartbeat=tick if beats else 1, events=tick if events else 1, cancelled=False)
        if over:
            assert (over[0], tick) == (ending, ticks)
            return
    pytest.fail("no limit came")


def test_a_cancel_goes_before_every_limit() -> None:
    watch = _watch(stall_s=1, overall_s=1, abandon_s=1)
    assert watch.tick(4, heartbeat=None, events=0, cancelled=True) == ("cancelled", "It was asked to end.")


@given(PIECES, st.integers(min_value=2, max_value=200))
def test_a_capture_keeps_all_or_the_head_and_the_tail(pieces: list[bytes], cap: int) -> None:
    capture = Capture(cap)
    for piece in pieces:
        capture.feed(piece)
    whole, value = b"".join(pieces), capture.value()
    assert capture.truncated == (len(whole) > cap)
    if not capture.truncated:
        assert value == whole
    else:
        assert value.startswith(whole[: cap // 2])
        assert value.endswith(whole[-(cap - cap // 2) :])
        assert b"[asbuilt: %d bytes left out here]" % (len(whole) - cap) in value


@given(PIECES, st.integers(min_value=1, max_value=60))
def test_lines_come_whole_however_they_were_cut(pieces: list[bytes], cap: int) -> None:
    lines = Lines(cap)
    found = [line for piece in pieces for line in lines.feed(piece)]
    every = b"".join(pieces).split(b"\n")
    assert found == [line for line in every[:-1] if len(line) <= cap]
    assert lines.dropped == len([line for line in every if len(line) > cap])


@pytest.mark.parametrize(
    ("text", "verdict", "trouble"),
    [
        (
            '{"intent": "i", "items": [{"item": 1, "outcome": "PASS"}]}',
            Opinion("i", (Entry(1, "PASS", ""),)),
            "",
        ),
        ('{"1": "PASS"}', Opinion(None, ()), "the verdict has no list of items"),
        ("[[1, ", Opinion(None, ()), "the verdict cannot be read"),
        ("[" * 100_000, Opinion(None, ()), "the verdict cannot be read"),
        ("x" * 2_000_000, Opinion(None, ()), "the verdict cannot be read: verdict.json is larger than"),
    ],
)
def test_a_verdict_is_read_with_suspicion(tmp_path: Path, text: str, verdict: Opinion, trouble: str) -> None:
    (tmp_path / "verdict.json").write_text(text)
    found = verdict_in(tmp_path)
    assert found is not None
    assert found._replace(problems=()) == verdict
    assert "".join(found.problems).startswith(trouble)
    assert bool(found.problems) is bool(trouble)


def test_where_no_verdict_was_left_there_is_none(tmp_path: Path) -> None:
    assert verdict_in(tmp_path) is None


def test_a_pipe_in_place_of_a_verdict_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "verdict.json")
    assert verdict_in(tmp_path) == Opinion(
        None, (), ("the verdict cannot be read: verdict.json is not a regular file",)
    )


def test_a_brief_comes_back_as_it_was_written(tmp_path: Path) -> None:
    machine = Machine(root=tmp_path / "m", level="none")
    brief = machine.playing("", text="any byte: \udc80 \x00 é", failures=("a", "b"))
    terms = Terms(level="bwrap", hidden=("/s",), homes=("/h",), abandon_s=1.5)
    Folder(tmp_path).write_brief(brief, terms)
    assert Folder(tmp_path).brief() == (brief, terms)
    assert (tmp_path / "brief.json").stat().st_mode & 0o777 == 0o600


OPINION = Opinion("i", (Entry(1, "PASS", "w", (Line("a.py", 1), RanCheck("make"))),), ("odd",), "words")


def test_a_result_comes_back_as_it_was_written(tmp_path: Path) -> None:
    result = Result(ending="done", reason="r", verdict=OPINION, drift=("d",), cost_usd=0.1, session="s")
    Folder(tmp_path).write_result(result)
    assert Folder(tmp_path).result() == result


def test_what_another_version_wrote_more_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"ending": "done", "reason": "r", "verdict": [], "mood": "good"}')
    assert Folder(tmp_path).result() == Result(ending="done", reason="r")


def test_a_result_of_the_time_before_evidence_is_read(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"ending": "done", "reason": "r", "verdict": [[1, "PASS", "w"]]}')
    opinion = Opinion(None, (Entry(1, "PASS", "w"),))
    assert Folder(tmp_path).result() == Result(ending="done", reason="r", verdict=opinion)


def test_the_ports_are_kept_by_what_stands_behind_them(tmp_path: Path) -> None:
    ports: tuple[Attempts, Processes] = (
        FolderAttempts(tmp_path),
        SandboxProcesses(scratch=tmp_path, level="none"),
    )
    assert ports[1].level == "none"


def test_a_folder_without_a_brief_is_told_from_a_torn_one(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"brief.json: No such file"):
        Folder(tmp_path).brief()
    assert main([str(tmp_path)]) == 66
    assert main(["--what"]) == 2
    assert not (tmp_path / "result.json").exists()


@pytest.mark.parametrize(
    "attempt", ["", "run", "../x.1", "a/b.1.1", "run..1", "run.1/../2.1", "-x.1.1", "a.1\n"]
)
def test_an_address_that_is_no_address_makes_no_folder(tmp_path: Path, attempt: str) -> None:
    with pytest.raises(ValueError, match="not the address of an attempt"):
        FolderAttempts(tmp_path).folder(attempt)


def test_without_a_ring_an_agent_is_not_started_unless_the_settings_say_so(tmp_path: Path) -> None:
    machine = Machine(root=tmp_path / "m", level="none")
    strict = FolderAttempts(machine.state, level="none")
    with pytest.raises(SandboxUnavailable, match="no sandbox for agents on this machine"):
        strict.start(machine.brief("works"))
    assert strict.result("01J.1.1") is None


def test_a_guard_whose_parent_is_another_starts_nothing(tmp_path: Path) -> None:
    for mode in ("exec", "stay"):
        argv = [sys.executable, "-I", "-S", guard.__file__, "1", mode, "--", "touch", str(tmp_path / "x")]
        assert subprocess.run(argv, check=False).returncode == 143
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM])
def test_whoever_loses_its_parent_ends_with_all_it_started(kill: signal.Signals) -> None:
    mark = f"ASBUILT_TEST_MARK={time.monotonic_ns()}"
    command = "(setsid sh -c 'trap \"\" TERM; sleep 300; sleep 300' &); sleep 300"
    parent = (
        "import os, subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-I', '-S', {guard.__file__!r}, str(os.getpid()), 'stay', '--',"
        f" 'sh', '-c', {command!r}])\ntime.sleep(300)"
    )
    name, _, value = mark.partition("=")
    process = subprocess.Popen([sys.executable, "-c", parent], env={name: value, "PATH": os.environ["PATH"]})
    until(lambda: len(marked(mark)) >= 5)
    process.send_signal(kill)
    process.wait()
    until(lambda: marked(mark) == [], seconds=5)


def test_a_number_that_was_given_to_another_process_is_not_the_old_one() -> None:
    mine = os.getpid()
    assert process_tree.still_runs(mine, process_tree.start_time(mine))
    assert not process_tree.still_runs(mine, "1")
    assert not process_tree.still_runs(mine, None)


def _made(machine: Machine, workspace: Path, attempt: str, *, after: int = 0) -> Result:
    brief = replace(machine.brief("works"), attempt=attempt, workspace=workspace)
    machine.attempts.start(brief, after=after)
    until(lambda: machine.attempts.result(attempt) is not None)
    result = machine.attempts.result(attempt)
    assert result is not None
    return result


def test_an_attempt_that_was_elsewhere_goes_on_in_its_new_workspace_and_counts_those_starts(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path, "none")
    attempt = machine.brief("works").attempt
    first = _made(machine, machine.workspace, attempt)
    another = machine.workspace.with_name("another")
    shutil.copytree(machine.workspace, another)
    (another / "made.txt").unlink()
    again = _made(machine, another, attempt, after=4)
    assert (first.ending, first.starts, again.ending, again.starts) == ("done", 1, "done", 5)
    assert (another / "made.txt").exists()
    aside = machine.attempts.folder(attempt).with_name(f"{attempt}.before-1")
    assert Folder(aside).result() == first


@pytest.mark.parametrize(
    ("role", "ending", "reason"),
    [
        ("plan", "failed", "Its answer is longer than 400,000 characters; the rest was not kept"),
        ("critique", "failed", "Its answer is longer than 400,000 characters; the rest was not kept"),
        ("implement", "done", "It is done"),
    ],
)
def test_an_answer_that_is_not_kept_whole_is_no_output_of_a_stage(
    role: Role, ending: str, reason: str
) -> None:
    whole = Turn(ending="done", reason="It is done", says="x" * SAYS_CAP)
    assert whole_end(whole, role) is whole
    end = whole_end(replace(whole, says="x" * (SAYS_CAP + 1)), role)
    assert isinstance(end, Turn)
    assert (end.ending, end.reason.partition(", so")[0]) == (ending, reason)
    assert end.says == "x" * SAYS_CAP + "…"
