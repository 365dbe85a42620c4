"""What is known of a conversation, typed by a person or by the agent in it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from asbuilt.session.context.reload_request import kept
from asbuilt.session.conversation_state import loop_in, state_in
from tests.hook.talk import FINISHED, PLAN, Talk, files_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    with Talk(tmp_path) as made:
        yield made


def typed(talk: Talk, *arguments: str, inside: bool = True, said: str = "", code: int = 0) -> str:
    """Type a command in the conversation, or outside of it; what it said."""
    environ = {name: value for name, value in talk.environ.items() if inside or name != "CLAUDE_PID"}
    ended = subprocess.run(
        [sys.executable, "-m", "asbuilt", "session", *arguments],
        cwd=talk.shop,
        env=environ,
        input=said,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == code, ended.stderr
    return re.sub(r"\d+s ago", "0s ago", ended.stdout if code == 0 else ended.stderr)


def answered(talk: Talk, *arguments: str) -> Any:  # noqa: ANN401  JSON
    return json.loads(typed(talk, *arguments, "--json"))


def test_the_status_of_a_conversation_is_its_context_its_plan_and_whether_planning_is_held(
    talk: Talk,
) -> None:
    talk.approve(talk.plan())
    talk.says(68_000)
    assert talk.prompt("go on") == ""
    assert typed(talk, "status") == (
        "rate-limit   3 items open, 2a in work (plans/rate-limit.md)\n"
        "Context 34% of 200k. Plan mode is off.\n"
    )
    talk.prompt("plan more", mode="plan")
    talk.says(122_000)
    talk.stop()
    told = typed(talk, "status").splitlines()
    assert re.fullmatch(
        r"Context 61% of 200k. Plan mode is on since \d\d:\d\d, turned on by Claude Code.*", told[1]
    )
    assert answered(talk, "status") == {
        "schema": "asbuilt.session/1",
        "conversation": talk.folder.name,
        "context": {"percent": 61, "window": 200_000},
        "plan": {
            "path": str(talk.shop / "plans" / "rate-limit.md"),
            "name": "rate-limit",
            "open": ["expiry", "two workers share one bucket", "answer 429"],
        },
        "planning": "held",
        "mode_before": None,
        "loop": None,
        "stopped_for": ["context-critical"],
        "complaints": [],
    }


def test_outside_of_a_conversation_there_is_no_status_and_that_is_no_failure(talk: Talk) -> None:
    assert typed(talk, "status", inside=False) == "This terminal is in no conversation.\n"


def test_plans_are_listed_with_who_works_on_them(talk: Talk) -> None:
    assert typed(talk, "list", inside=False) == "No plans here yet.\n"
    talk.approve(talk.plan())
    talk.plan("old", FINISHED)
    rows = typed(talk, "list").splitlines()
    assert [row.split()[:2] for row in rows] == [["PLAN", "OPEN"], ["old", "done"], ["rate-limit", "3"]]
    assert "this one" in rows[2]
    assert f"pid {talk.agent.pid}" in typed(talk, "list", inside=False)
    talk.die()
    assert "ended, 0s ago" in typed(talk, "list", inside=False)
    (_, told) = answered(talk, "list")["plans"]
    assert told["conversation"]["session"] == talk.session
    assert told["open"] == ["expiry", "two workers share one bucket", "answer 429"]


def test_load_gives_the_plan_to_the_conversation_that_it_is_typed_in(talk: Talk) -> None:
    plan = talk.plan()
    shown = 'asbuilt: loaded rate-limit (plans/rate-limit.md): 3 items open, 2a in work, next 2a "expiry".\n'
    shown += f"The plan, read just now:\n~~~~~~~~\n{PLAN}~~~~~~~~\n"
    assert typed(talk, "load", "rate", inside=False) == shown
    assert not talk.state.exists()
    assert typed(talk, "load") == shown
    state = state_in(str(talk.folder))
    assert state is not None
    assert (state.plan, state.approved) == (str(plan), True)
    assert answered(talk, "load")["item"] == "expiry"
    plan.write_text(FINISHED, encoding="utf-8")
    assert "no plan here is open" in typed(talk, "load", inside=False, code=3)


def test_a_plan_of_ones_own_folder_is_loaded_where_an_ended_conversation_worked_on_it(talk: Talk) -> None:
    own = talk.home / ".claude" / "plans" / "brave-fox.md"
    own.parent.mkdir(parents=True)
    own.write_text(PLAN, encoding="utf-8")
    talk.approve(own)
    assert "no plan here is open" in typed(talk, "load", inside=False, code=3)
    talk.die()
    assert "loaded brave-fox" in typed(talk, "load", inside=False)
    own.write_text(FINISHED, encoding="utf-8")
    assert "no plan here is open" in typed(talk, "load", inside=False, code=3)


def test_what_was_loaded_by_hand_comes_back_behind_a_clear_once_it_is_worked_on(talk: Talk) -> None:
    talk.plan()
    typed(talk, "load")
    talk.says(104_000)
    assert "CONTEXT WARNING: 52% used" in talk.prompt("go on")
    assert kept(str(talk.folder), now=state_in(str(talk.folder)).at) is not None  # type: ignore[union-attr]
    assert "ACTION REQUIRED" in talk.cleared()


def test_notes_are_kept_shown_and_listed(talk: Talk) -> None:
    assert typed(talk, "note", "list") == "No notes about this repository.\n"
    assert typed(talk, "note", "add", "first", "one\x1b[31m") == "Kept first.\n"
    assert typed(talk, "note", "add", "second", said="two\nlines\n") == "Kept second.\n"
    assert typed(talk, "note", "show", "first") == "one\\x1b[31m\n"
    assert typed(talk, "note", "show", "second") == "two\nlines\n"
    assert typed(talk, "note", "list") == "second   0s ago\nfirst   0s ago\n"
    assert [note["name"] for note in answered(talk, "note", "list")["notes"]] == ["second", "first"]
    assert 'no note "third"' in typed(talk, "note", "show", "third", code=3)
    assert "cannot name a note" in typed(talk, "note", "add", "../x", "y", code=2)
    assert "a note needs a text" in typed(talk, "note", "add", "empty", said="  ", code=2)


def test_a_loop_is_begun_and_ended_inside_a_conversation(talk: Talk) -> None:
    talk.plan()
    typed(talk, "load")
    assert typed(talk, "loop", "go\non", "--most", "3") == (
        "Round 1 of 3 has started. /clear starts the next one.\n"
    )
    loop = loop_in(str(talk.folder))
    assert loop is not None
    assert (loop.prompt, loop.most, loop.iteration, loop.phase) == ("go\non", 3, 1, "2a")
    assert "Round 1 of 3." in typed(talk, "status")
    assert typed(talk, "loop", "--end") == "The loop is over.\n"
    assert files_in(talk.folder) == ["state"]
    for wrong in (["loop"], ["loop", "x", "--end"]):
        assert "loop needs a prompt or --end" in typed(talk, *wrong, code=2)
    assert "inside a conversation" in typed(talk, "loop", "x", inside=False, code=2)
    assert "is not in the range 1<=x<=100" in typed(talk, "loop", "x", "--most", "101", code=2)


def test_the_status_line_keeps_the_window_and_says_what_goes_on(talk: Talk) -> None:
    context = {"context_window_size": 1_000_000, "used_percentage": 61}
    payload = talk.payload("", context_window=context)
    assert talk.raw("StatusLine", json.dumps(payload).encode()).stdout == b"context 61% of 1M\n"
    talk.approve(talk.plan())
    talk.prompt("plan more", mode="plan")
    told = talk.raw("StatusLine", json.dumps(payload).encode()).stdout
    assert told == b"rate-limit   context 61% of 1M   plan mode, read-only\n"
    talk.says(122_000)
    assert talk.stop(text="Is this the plan?") == ""
    assert talk.raw("StatusLine", b"{}").stdout == b""
    assert talk.raw("StatusLine", b"nonsense").stdout == b""
