"""The end of a phase, a loop of another plugin, and notes of another program, as a conversation sees them."""

from __future__ import annotations

import subprocess
import sys

from asbuilt.session.conversation_state import loop_in
from tests.hook.talk import FULL, HALF, PLAN, Talk, talk

__all__ = ["talk"]
NEXT_PHASE = PLAN.replace("[ ] expiry", "[x] expiry").replace("[ ] two", "[x] two")
NEXT_PHASE = NEXT_PHASE.replace("🟡 In progress", "✅ Done").replace(
    "3 — Middleware | ⬚", "3 — Middleware | 🟡"
)
RALPH = """\
---
active: true
iteration: 3
session_id: old
max_iterations: 20
completion_promise: "DONE"
---

Go on with the plan.
Then test it.
"""


def test_a_phase_that_has_not_begun_is_not_in_work(talk: Talk) -> None:
    plan = talk.plan()
    plan.write_text(PLAN.replace("🟡 In progress", "⬚"), encoding="utf-8")
    assert talk.approve(plan).startswith("asbuilt: rate-limit is approved: 3 items open. Tick an item in")


def test_at_the_end_of_a_phase_a_fresh_context_is_advised_once_however_empty_it_is(talk: Talk) -> None:
    plan = talk.plan()
    talk.approve(plan)
    talk.says(1_000)
    assert talk.stop() == ""
    plan.write_text(NEXT_PHASE, encoding="utf-8")
    assert talk.stop() == (
        "asbuilt: phase 2a of rate-limit is over; 1 item open, 3 in work. Tick what is proven in"
        " plans/rate-limit.md, commit, save a note (`asbuilt session note add NAME`), then, after all tool"
        ' calls, end with: Reload with: plans/rate-limit.md, note NAME, item "answer 429". Recommend a fresh'
        " context: the user types /clear and the plan comes back. This reason will not block again."
    )
    assert talk.stop() == ""
    assert "ACTION REQUIRED: continue with 3" in talk.cleared()


def test_a_loop_of_another_plugin_is_let_end_and_goes_on_behind_a_clear(talk: Talk) -> None:
    talk.approve(talk.plan())
    file = talk.shop / ".claude" / "ralph-loop.local.md"
    file.parent.mkdir()
    file.write_text(RALPH)
    talk.says(HALF)
    assert (talk.stop(), file.read_text()) == ("", RALPH)
    talk.says(FULL)
    told = talk.hears("Stop", stop_hook_active=False, last_assistant_message="All done.")
    assert told == {
        "systemMessage": "asbuilt: round 3 of 20 is over: context 61% used. /clear starts the next one."
    }
    assert file.read_text() == RALPH.replace("max_iterations: 20", "max_iterations: 3")
    file.unlink()  # as its own hook does at the last iteration
    assert talk.cleared().startswith(
        "asbuilt: ACTION REQUIRED: round 4 of 20. Before: context 61% used. The user's message comes first:"
    )
    assert file.read_text() == RALPH.replace("3\n", "4\n").replace("old", talk.session)
    assert loop_in(str(talk.folder)) is None


def test_a_turn_in_a_loop_of_another_plugin_is_never_sent_back(talk: Talk) -> None:
    plan = talk.plan()
    talk.approve(plan)
    file = talk.shop / ".claude" / "ralph-loop.local.md"
    file.parent.mkdir()
    file.write_text(RALPH)
    plan.write_text(NEXT_PHASE, encoding="utf-8")
    talk.says(1_000)
    assert talk.hears("Stop", stop_hook_active=False, last_assistant_message="All done.") == {
        "systemMessage": "asbuilt: round 3 of 20 is over: phase 2a is over. /clear starts the next one."
    }
    file.write_text(RALPH)
    talk.hears("UserPromptSubmit", permission_mode="plan", prompt="plan it")
    assert talk.hears("Stop", stop_hook_active=False, last_assistant_message="The plan is written.") == {}
    file.unlink()
    sent_back = talk.hears("Stop", stop_hook_active=False, last_assistant_message="The plan is written.")
    assert sent_back["decision"] == "block"


def test_a_loop_of_another_plugin_that_ends_by_itself_does_not_come_back(talk: Talk) -> None:
    talk.approve(talk.plan())
    file = talk.shop / ".claude" / "ralph-loop.local.md"
    file.parent.mkdir()
    file.write_text(RALPH)
    talk.says(1_000)
    talk.stop()
    file.unlink()
    talk.stop()
    talk.cleared()
    assert not file.exists()


def test_memories_of_serena_are_offered_like_notes(talk: Talk) -> None:
    memories = talk.shop / ".serena" / "memories"
    memories.mkdir(parents=True)
    (memories / "auth-session.md").write_text("the race is not fixed\n")
    assert talk.cleared() == (
        "asbuilt: notes of this repository: `asbuilt session note show NAME`: auth-session. Read one when it"
        " is about what is asked."
    )
    shown = subprocess.run(
        [sys.executable, "-m", "asbuilt", "session", "note", "show", "auth-session"],
        cwd=talk.shop, env=talk.environ, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert shown.stdout == "the race is not fixed\n"
