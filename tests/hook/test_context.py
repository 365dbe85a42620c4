"""How full a context is, as the hook measures it, and what it keeps of a plan and a loop."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.hook.talk import FULL, HALF, Talk, talk

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["talk"]


def status(talk: Talk) -> dict[str, Any]:
    """Type `asbuilt session status --json` in the conversation."""
    done = subprocess.run(
        [sys.executable, "-m", "asbuilt", "session", "status", "--json"],
        cwd=talk.shop, env=talk.environ, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    shown: dict[str, Any] = json.loads(done.stdout)
    return shown


def test_the_last_answer_of_the_main_thread_counts_in_whole_percent_without_what_it_wrote(
    talk: Talk,
) -> None:
    talk.approve(talk.plan())
    talk.says(FULL)
    usage = {"input_tokens": 119_999, "output_tokens": 50_000}
    message = {"model": "fake", "content": [{"type": "text", "text": "All done."}], "usage": usage}
    talk.says(0, message=message)
    talk.says(199_000, isSidechain=True)
    assert talk.stop() == ""
    assert status(talk)["context"] == {"percent": 59, "window": 200_000}
    talk.says(120_000)
    assert "context 60% used" in talk.stop()


def test_the_window_is_the_default_the_models_or_that_of_the_status_line(talk: Talk) -> None:
    talk.approve(talk.plan())
    usage = {"input_tokens": 250_000}
    opus = {"model": "claude-opus-5-5", "content": [{"type": "text", "text": "All done."}], "usage": usage}
    talk.says(0, message=opus)
    assert talk.stop() == ""
    assert status(talk)["context"] == {"percent": 25, "window": 1_000_000}
    context = {"context_window_size": 400_000, "used_percentage": 62}
    talk.raw("StatusLine", json.dumps(talk.payload("", context_window=context)).encode())
    assert "context 62% used" in talk.stop()


@pytest.mark.parametrize("kind", ["missing", "folder", "nonsense"])
def test_a_transcript_that_cannot_be_read_stops_nobody(talk: Talk, kind: str) -> None:
    talk.approve(talk.plan())
    talk.transcript.unlink(missing_ok=True)
    if kind == "folder":
        talk.transcript.mkdir()
    elif kind == "nonsense":
        talk.transcript.write_bytes(b"\xff\xfe usage\n")
    assert talk.stop() == ""
    assert status(talk)["context"]["percent"] == 0


def test_a_turn_that_another_hook_kept_from_ending_just_before_may_end_and_the_next_is_stopped(
    talk: Talk,
) -> None:
    talk.approve(talk.plan())
    talk.says(124_000)
    assert talk.stop(active=True) == ""
    assert "context 62% used" in talk.stop()


def test_limits_come_from_variables_and_what_makes_no_sense_falls_back_with_a_complaint(
    tmp_path: Path,
) -> None:
    chosen = {"PLAN_CONTEXT_WARNING_PCT": "80", "PLAN_CONTEXT_CRITICAL_PCT": "30"}
    with Talk(tmp_path, **chosen, CONTEXT_WINDOW_TOKENS="half") as talk:
        talk.approve(talk.plan())
        talk.says(58_000)
        assert talk.prompt("go on") == ""
        assert talk.stop() == ""
        talk.says(62_000)
        assert "CONTEXT WARNING: 31% used" in talk.prompt("go on")
        assert "context 31% used" in talk.stop()
        complaints = status(talk)["complaints"]
        assert (
            "CONTEXT_WINDOW_TOKENS must be a whole number from 1 to 1000000000; using the default 200000"
            in complaints
        )
        above = "PLAN_CONTEXT_WARNING_PCT is above PLAN_CONTEXT_CRITICAL_PCT; both are 30"
        assert above in complaints


def test_a_reload_names_plan_session_time_folder_and_kind_and_without_one_the_plan_is_pending(
    talk: Talk,
) -> None:
    plan = talk.plan()
    talk.approve(plan)
    talk.says(HALF)
    talk.prompt("go on")
    file = talk.folder / "reload"
    fields = json.loads(file.read_text())
    named = {name: fields[name] for name in ("plan", "session", "cwd", "kind")}
    assert named == {
        "plan": str(plan), "session": talk.session, "cwd": str(talk.shop), "kind": "plan-pending",
    }  # fmt: skip
    assert fields["at"] > 0
    file.write_text(json.dumps({name: fields[name] for name in ("plan", "session", "at", "cwd")}))
    assert "Reload: plan-pending. Plan: rate-limit (plans/rate-limit.md)" in talk.cleared()


def test_a_loop_has_a_limit_and_goes_on_over_a_claim_that_the_plan_contradicts_and_ends_with_a_blocker(
    talk: Talk,
) -> None:
    talk.approve(talk.plan())
    begun = subprocess.run(
        [sys.executable, "-m", "asbuilt", "session", "loop", "do\n\nit"],
        cwd=talk.shop, env=talk.environ, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert begun.stdout == "Round 1 of 10 has started. /clear starts the next one.\n"
    talk.says(1_000, "PLAN COMPLETE")
    talk.stop(text="PLAN COMPLETE")
    assert status(talk)["loop"] == {"round": 1, "of": 10}
    talk.says(1_000, "BLOCKER: no key")
    talk.stop(text="BLOCKER: no key")
    assert status(talk)["loop"] is None
