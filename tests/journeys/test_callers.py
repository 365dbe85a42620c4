"""Several callers of one run: who follows it, and what each of them ends with."""

from __future__ import annotations

import os
import signal

import pytest
from inline_snapshot import snapshot

from asbuilt.journal.engine.liveness import holder
from tests.journeys.shop import SCRIPT
from tests.journeys.test_commands import Office, office, until

__all__ = ["office"]
pytestmark = pytest.mark.crash


def test_the_same_agent_named_again_continues_the_run_and_begins_no_other(office: Office) -> None:
    slow = SCRIPT.replace('acts = [{ write = "greet.py"', 'acts = [{ sleep = 5 }, { write = "greet.py"')
    office.script.write_text(slow, encoding="utf-8")
    office.run("--agent", "scripted", "--detach")
    until(lambda: "implementing" in office.asbuilt("status", "greet"))
    os.kill(holder(office.state / "worker.lock") or 0, signal.SIGKILL)
    assert office.run("--agent", "scripted").splitlines()[:3] == snapshot(
        ["exit 0", "--- stdout", "greet.1: 1 of 4 phases proven, not landed. [AGE]."]
    )


def test_a_follower_of_a_run_that_is_stopped_does_not_end_with_success(office: Office) -> None:
    office.script.write_text("[[turn]]\nacts = [{ sleep = 300 }]\n", encoding="utf-8")
    follower = office.typed("run", "greet", "--script", str(office.script))
    until(lambda: "implementing" in office.asbuilt("status", "greet"))
    assert office.asbuilt("stop", "greet").splitlines()[0] == "exit 0"
    follower.communicate(timeout=60)
    assert follower.returncode == 5
