"""What a conversation is told at each of its events, by the hook as Claude Code starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from asbuilt import wiring
from asbuilt.events.phases import PhaseProven
from asbuilt.hook.conversation import answer
from asbuilt.journal.events import append
from asbuilt.journal.ids import Address
from asbuilt.library.search_path import library_around
from asbuilt.policy.light_json import write
from asbuilt.session.context.notes import keep_note, shelf
from asbuilt.session.context.reload_request import kept
from asbuilt.session.conversation_state import keep_loop, loop_in, state_in
from asbuilt.session.prompt_rounds import begin
from tests.hook.talk import FINISHED, FULL, HALF, MAIN, PLAN, Talk, files_in, talk
from tests.live.stage import git

__all__ = ["talk"]
FIRST = "The user's message comes first: where it asks for something else, do that and leave the plan."
WARNED = (
    "asbuilt: CONTEXT WARNING: 52% used. rate-limit: 3 items open, 2a in work. Place saved;"
    " /clear brings the plan back here and nowhere else."
)
SAVE = (
    "asbuilt: context 61% used, stopping once to save. Tick what is proven in plans/rate-limit.md, commit,"
    " save a note (`asbuilt session note add NAME`), then, after all tool calls, end with: Reload with:"
    ' plans/rate-limit.md, note NAME, item "expiry". Then the user types /clear.'
    " This reason will not block again."
)


def test_an_approved_plan_is_warned_of_blocked_for_once_and_restored_behind_a_clear(talk: Talk) -> None:
    plan = talk.plan()
    assert talk.approve(plan) == (
        "asbuilt: rate-limit is approved: 3 items open, 2a in work. Tick an item in plans/rate-limit.md when"
        " it is proven. Plan mode is off; permission mode: default. What you found out and the plan leaves"
        " out goes into a note (`asbuilt session note add NAME`). /clear brings the plan back here."
    )
    talk.says(HALF)
    assert talk.prompt("go on").startswith(WARNED)
    assert talk.prompt("go on") == ""
    talk.says(FULL)
    assert talk.stop() == SAVE
    assert talk.stop(active=True) == ""
    assert talk.stop() == ""
    told = talk.clear()
    assert told == {
        "hookSpecificOutput": {
            "hookEventName": "SessionStart",
            "additionalContext": "asbuilt: restored rate-limit (saved 0s ago by this conversation).\n"
            f'ACTION REQUIRED: continue with 2a "expiry"; 3 items open, 2a in work. {FIRST}\n'
            "State: found. Reload: plan-pending. Plan: rate-limit (plans/rate-limit.md), 3 items open,"
            " 2a in work, changed 0s ago. Signal: resume.\n"
            '1. Make a task of each open item of the plan (its text as subject, description "From plan") and'
            " set the first in progress.\n"
            '2. Continue with 2a "expiry".\n'
            f"The plan, read just now:\n~~~~~~~~\n{PLAN}~~~~~~~~",
        },
        "systemMessage": "asbuilt: restored rate-limit (saved 0s ago by this conversation). 3 items open,"
        ' next 2a "expiry". A message of yours comes first.',
    }
    assert files_in(talk.folder) == ["state"]


def test_a_second_clear_finds_no_reload_and_only_mentions_the_plan(talk: Talk) -> None:
    talk.approve(talk.plan())
    assert "ACTION REQUIRED" in talk.cleared()
    assert talk.cleared() == (
        "asbuilt: rate-limit exists (3 items open, 2a in work, last worked on 0s ago) but is not loaded."
        ' Signal: fresh-start. Mention it in one sentence and ask: "What would you like to work on?" "reload"'
        f" brings it back. {FIRST}"
    )


def test_a_fresh_context_may_be_stopped_for_its_own_fullness(talk: Talk) -> None:
    talk.approve(talk.plan())
    talk.says(FULL)
    assert talk.stop() == SAVE
    talk.cleared()
    talk.says(FULL)
    assert talk.stop() == SAVE
    assert talk.stop() == ""


def test_of_turns_that_end_at_one_instant_one_is_stopped(talk: Talk) -> None:
    talk.approve(talk.plan())
    talk.says(FULL)
    payload = json.dumps(talk.payload("Stop", stop_hook_active=False, last_assistant_message="All done."))
    hooks = [
        subprocess.Popen(
            [sys.executable, "-I", "-S", str(MAIN), "Stop"],
            env=talk.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for hook in hooks:
        assert hook.stdin is not None
        hook.stdin.write(payload)
        hook.stdin.flush()
    told = [hook.communicate(timeout=60)[0] for hook in hooks]
    assert sorted(map(bool, told)) == [False, False, False, True]


def test_another_conversation_in_the_folder_gets_one_line_and_never_the_plan(talk: Talk) -> None:
    talk.approve(talk.plan())
    line = "asbuilt: rate-limit is active in another conversation; not loaded."
    with Talk(talk.room) as other:
        assert other.context("SessionStart", source="startup") == line
        assert other.prompt("hello") == ""
        assert other.cleared() == line
        assert other.prompt("hello") == ""
    assert "ACTION REQUIRED" in talk.cleared()


def test_a_conversation_that_ended_leaves_a_line_and_reload_brings_its_plan_back(talk: Talk) -> None:
    with Talk(talk.room) as before:
        before.approve(before.plan())
    assert talk.context("SessionStart", source="startup") == (
        "asbuilt: rate-limit was worked on 0s ago in a conversation that has ended; not loaded."
        ' "reload" continues with it.'
    )
    assert talk.prompt("reload").startswith("asbuilt: loaded rate-limit (plans/rate-limit.md): 3 items open")


@pytest.mark.parametrize(
    "text",
    [
        FINISHED,
        f"---\nstatus: cancelled\n---\n{PLAN}",
        f"---\nstatus: complete\n---\n{PLAN}",
    ],
)
def test_a_plan_that_is_over_is_never_revived(talk: Talk, text: str) -> None:
    plan = talk.plan()
    talk.approve(plan)
    plan.write_text(text, encoding="utf-8")
    assert talk.cleared() == ""
    assert talk.prompt("go on") == ""
    with Talk(talk.room) as other:
        assert other.hears("SessionStart", source="startup") == {}


def test_a_plan_that_is_gone_is_not_revived(talk: Talk) -> None:
    plan = talk.plan()
    talk.approve(plan)
    plan.unlink()
    assert talk.cleared() == ""


def test_the_plan_is_read_anew_each_time(talk: Talk) -> None:
    plan = talk.plan()
    talk.approve(plan)
    plan.write_text(PLAN.replace("- [ ] expiry", "- [x] expiry"), encoding="utf-8")
    assert 'continue with 2a "two workers share one bucket"; 2 items open' in talk.cleared()


def test_where_the_clear_was_not_told_the_next_prompt_brings_the_plan_and_the_question_wins(
    talk: Talk,
) -> None:
    talk.approve(talk.plan())
    talk.session = "another"
    told = talk.prompt("what does the bucket do?")
    assert told.splitlines()[1] == f'{FIRST} Then the plan: 3 items open, 2a in work, next 2a "expiry".'
    assert "ACTION REQUIRED" not in told
    assert talk.prompt("go on") == ""


def test_where_the_clear_was_not_told_go_on_means_the_plan(talk: Talk) -> None:
    talk.approve(talk.plan())
    talk.session = "another"
    assert 'ACTION REQUIRED: continue with 2a "expiry"' in talk.prompt("continue")


def test_an_approval_that_clears_the_context_keeps_the_plan_without_saying_it_twice(talk: Talk) -> None:
    plan = talk.plan()
    talk.prompt("make a plan", mode="plan")
    given = {"plan": "# P", "planFilePath": str(plan)}
    talk.hears("PreToolUse", permission_mode="plan", tool_name="ExitPlanMode", tool_input=given)
    assert talk.cleared() == (
        "asbuilt: this conversation works on rate-limit: 3 items open, 2a in work. Tick an item in"
        " plans/rate-limit.md when it is proven. /clear brings the plan back here."
    )
    assert not (talk.folder / "hold").exists()
    assert "ACTION REQUIRED" in talk.cleared()


def test_a_clear_behind_a_plan_that_was_rejected_by_esc_approves_nothing(talk: Talk) -> None:
    plan = talk.plan()
    talk.prompt("make a plan", mode="plan")
    given = {"plan": "# P", "planFilePath": str(plan)}
    talk.hears("PreToolUse", permission_mode="plan", tool_name="ExitPlanMode", tool_input=given)
    talk.clear()
    # Esc is told to nobody; that Claude Code still plans is.
    assert talk.prompt("another way", mode="plan") == ""
    assert (talk.folder / "hold").exists()
    state, reload = state_in(str(talk.folder)), kept(str(talk.folder), now=time.time())
    assert state is not None
    assert reload is not None
    assert (state.approved, reload.approved) == (False, False)


def test_a_reload_of_more_than_an_hour_ago_is_taken_away_by_any_event(talk: Talk) -> None:
    talk.approve(talk.plan())
    old = json.loads((talk.folder / "reload").read_text())
    (talk.folder / "reload").write_text(write({**old, "at": old["at"] - 3_700}))
    talk.prompt("go on")
    assert files_in(talk.folder) == ["state"]
    assert "not loaded. Signal: fresh-start" in talk.cleared()


def test_while_a_plan_is_written_its_place_is_kept_and_nothing_comes_back(talk: Talk) -> None:
    plan = talk.plan()
    talk.prompt("make a plan", mode="plan")
    hold = json.loads((talk.folder / "hold").read_text())
    (talk.folder / "hold").write_text(write({**hold, "plans": [str(plan)]}))
    assert talk.prompt("and tests", mode="plan") == ""
    assert files_in(talk.folder) == ["hold", "reload", "state"]
    assert talk.cleared() == ""
    assert talk.prompt("go on", mode="plan") == ""
    # Left by Shift+Tab: nobody has said yes to the plan.
    talk.session = "another"
    told = talk.prompt("continue").splitlines()[1]
    assert told == f"rate-limit was not approved yet. Ask the user whether to continue with it. {FIRST}"


def test_where_asbuilt_holds_planning_the_agent_is_reminded_and_told_of_the_end_once(talk: Talk) -> None:
    talk.prompt("make a plan", mode="plan")
    hold = json.loads((talk.folder / "hold").read_text())
    (talk.folder / "hold").write_text(write({**hold, "by": "command"}))
    assert talk.prompt("in its own plan mode it knows", mode="plan") == ""
    told = [talk.prompt(str(number)).partition(" do not edit")[0] for number in range(7)]
    full = "Plan mode is on. The user wants a plan before any work:"
    sparse = (
        "Plan mode still active (see full instructions earlier in conversation). Read-only except plan file"
        " (a new Markdown file in the folder of plans). Follow 5-phase workflow."
    )
    assert told == [full, "", "", "", "", sparse, ""]
    (talk.folder / "hold").unlink()
    assert talk.prompt("and now?") == "Plan mode is off: you can now implement."
    assert talk.prompt("and now?") == ""


def test_at_sixty_percent_a_finished_plan_and_no_plan_have_words_of_their_own(talk: Talk) -> None:
    talk.says(FULL)
    assert talk.stop() == (
        "asbuilt: context 61% used, stopping once to save. Commit what is done, save a note (`asbuilt session"
        " note add NAME`), then, after all tool calls, end with: Reload with: note NAME, what to continue"
        " with. Then the user types /clear. This reason will not block again."
    )
    assert talk.cleared() == (
        "asbuilt: context cleared (saved 0s ago by this conversation). State: found. Reload: no-plan. Signal:"
        f' resume.\nNo note was kept. Ask: "What would you like to work on?" {FIRST}'
    )
    plan = talk.plan()
    talk.approve(plan)
    plan.write_text(FINISHED, encoding="utf-8")
    talk.says(FULL)
    assert "rate-limit is finished. Commit what is left" in talk.stop()
    keep_note(shelf(talk.environ, str(talk.shop)), "store", "text")
    assert talk.cleared() == (
        "asbuilt: context cleared (saved 0s ago by this conversation). rate-limit is finished. State: found."
        " Reload: plan-completed. Signal: resume.\nRead the newest note (`asbuilt session note show NAME`:"
        " store), tell the user what was in work, and ask whether to continue with it or to start something"
        f" new. {FIRST}"
    )


def test_behind_a_clear_without_a_plan_the_notes_are_offered(talk: Talk) -> None:
    keep_note(shelf(talk.environ, str(talk.shop)), "store", "text")
    assert talk.cleared() == (
        "asbuilt: notes of this repository: `asbuilt session note show NAME`: store. Read one when it is"
        " about what is asked."
    )


def test_a_stop_waits_for_the_answer_that_is_being_written(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk.says(20_000, "Before.")
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            talk.says(FULL, "All done.")

    monkeypatch.setattr("time.sleep", sleep)
    payload = talk.payload("Stop", stop_hook_active=False, last_assistant_message="I say:\n\nAll done.")
    told = answer("Stop", json.dumps(payload).encode(), talk.environ, 1_000.0)
    assert "asbuilt: context 61% used" in json.loads(told)["reason"]
    assert len(waited) == 3


def test_behind_a_compaction_the_agent_is_sent_to_its_plan(talk: Talk) -> None:
    talk.approve(talk.plan())
    talk.says(FULL)
    assert talk.stop() == SAVE
    talk.hears("PreCompact", trigger="auto")
    assert talk.context("SessionStart", source="compact") == (
        "asbuilt: this conversation works on rate-limit: 3 items open, 2a in work. Read plans/rate-limit.md"
        ' again before you continue with 2a "expiry".'
    )
    assert talk.stop() == SAVE


def test_triggers_load_the_plan_that_is_meant_and_order_nothing(talk: Talk) -> None:
    assert talk.prompt("execute plan") == (
        "asbuilt: no plan here to load. asbuilt plan list shows what there is."
    )
    older, newer = talk.plan("rate-limit"), talk.plan("search", "# Search\n\n- [ ] index\n")
    os.utime(older, (1, 1))
    assert talk.prompt("execute plan").startswith("asbuilt: loaded search (plans/search.md): 1 item open")
    assert talk.prompt("EXECUTE Plan").startswith("asbuilt: loaded search (plans/search.md): 1 item open")
    assert talk.prompt("!load-plan rate").startswith("asbuilt: loaded rate-limit (plans/rate-limit.md)")
    assert talk.prompt("Reload.").startswith("asbuilt: loaded rate-limit (plans/rate-limit.md)")
    assert talk.prompt("!plan-status") == (
        'asbuilt: rate-limit (plans/rate-limit.md): 3 items open, 2a in work.\n- "expiry"\n- "two workers'
        ' share one bucket"\n- "answer 429"'
    )
    assert "ACTION REQUIRED" not in talk.prompt("!load-plan rate-limit")
    newer.rename(newer.with_name("rate-search.md"))
    assert talk.prompt("!load-plan rate").startswith(
        'asbuilt: "rate" is part of 2 plans: plans/rate-limit.md,'
    )
    assert 'no plan "nothing"' in talk.prompt("!load-plan nothing")


def test_the_end_of_a_background_task_is_nobodys_prompt(talk: Talk) -> None:
    talk.plan()
    assert talk.prompt("<task-notification>reload</task-notification>") == ""


def test_a_loop_leaves_its_round_when_the_context_is_full_and_goes_on_behind_a_clear(talk: Talk) -> None:
    plan = talk.plan()
    talk.approve(plan)
    folder = str(talk.folder)
    state = state_in(folder)
    assert state is not None
    keep_loop(folder, begin("do\n\nit", most=3, plan=str(plan), phase="2a", now=state.at))
    talk.says(FULL)
    told = talk.hears("Stop", stop_hook_active=False, last_assistant_message="All done.")
    assert told == {
        "systemMessage": "asbuilt: round 1 of 3 is over: context 61% used. /clear starts the next one."
    }
    told_agent = talk.cleared()
    assert told_agent.startswith("asbuilt: ACTION REQUIRED: round 2 of 3. Before: context 61% used. Say PLAN")
    assert f"{FIRST} The prompt:\ndo\n\nit\n\nasbuilt: restored rate-limit" in told_agent
    plan.write_text(FINISHED, encoding="utf-8")
    talk.says(9_000, "PLAN COMPLETE")
    talk.stop(text="PLAN COMPLETE")
    assert loop_in(folder) is None


def test_a_session_that_is_resumed_by_another_process_keeps_its_plan(talk: Talk) -> None:
    with Talk(talk.room) as before:
        before.approve(before.plan())
    talk.session = before.session
    assert talk.hears("SessionStart", source="resume") == {}
    assert talk.prompt("reload").startswith("asbuilt: loaded rate-limit")
    assert state_in(str(talk.folder)) is not None


def test_of_a_plan_that_asbuilt_ran_the_journal_says_what_is_done(talk: Talk) -> None:
    (talk.shop / ".git" / "HEAD").unlink()
    (talk.shop / ".git").rmdir()
    git(talk.shop, "init", "--quiet", "--initial-branch=main")
    plan = talk.plan()
    marked = subprocess.run(
        [sys.executable, "-m", "asbuilt", "plan", "mark", "rate-limit", "2a", "done"],
        cwd=talk.shop,
        env=talk.environ,
        capture_output=True,
        check=False,
    )
    assert marked.returncode == 0, marked.stderr
    plan.write_text(PLAN, encoding="utf-8")
    assert ": 3 items open, 2a in work." in talk.prompt("!plan-status")
    journal = wiring.find_journal(library_around(talk.shop, talk.environ)[1], talk.environ)
    assert journal is not None
    with journal.store.write() as session:
        (head,) = session.rows("SELECT org, repo, plan FROM heads")
        proven = PhaseProven(phase="2a", commit="c" * 40)
        append(session, Address(**head), proven, key="proven", actor="asbuilt", run="r")
    assert talk.prompt("!plan-status") == (
        'asbuilt: rate-limit (plans/rate-limit.md): 1 item open.\n- "answer 429"'
    )
