"""Claude Code in its host: what only it does, seen on the real program."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from tests.contracts.adapter import Listener, driven
from tests.contracts.attempts import has_said, host_pid, marked, started_with, until
from tests.live.contract import SLOW_S, over
from tests.live.stage import LiveStage, verdict_failing
from tests.model import Call, Hang, Refuse, Say, answer

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.agents import contract
    from asbuilt.ports import Brief
    from tests.model import Model

pytestmark = pytest.mark.live

ONE_ANSWER = 0.01704
"""What Claude Code says that an answer of the scripted model costs."""


@pytest.fixture
def stage(room: Path, model: Model) -> LiveStage:
    return LiveStage(room, "claude", model)


def _asked(stage: LiveStage, brief: Brief) -> list[tuple[object, object]]:
    events, _ = stage.attempts.events(brief.attempt)
    return [(event["tool"], event["allowed"]) for event in events if event["kind"] == "asked"]


def _transcripts(stage: LiveStage, brief: Brief) -> str:
    projects = stage.attempts.folder(brief.attempt) / "home" / ".claude" / "projects"
    return "".join(file.read_text("utf-8", "replace") for file in projects.rglob("*.jsonl"))


def test_it_works_in_its_workspace_and_says_what_it_took(stage: LiveStage) -> None:
    brief = started_with(stage, stage.playing(stage.makes(), stage.runs("ls"), answer(Say("made it"))))
    result = over(stage, brief)
    assert (result.ending, result.says, result.reason) == (
        "done",
        "made it",
        "The agent says that it is done.",
    )
    assert (stage.workspace / "made.txt").read_text() == "made\n"
    assert _asked(stage, brief) == [("Write", True), ("Bash", True)]
    assert (result.input_tokens, result.output_tokens) == (3 * 32_010, 3 * 50)
    assert result.cost_usd == pytest.approx(3 * ONE_ANSWER)
    assert marked(stage.mark) == []


def test_what_its_helpers_do_is_asked_as_well(stage: LiveStage) -> None:
    helps = Call("Task", {"description": "help", "prompt": "write it", "subagent_type": "general-purpose"})
    by_helper = "cc_is_subagent=true"
    steps = (
        answer(helps),
        replace(stage.makes("../outside.txt"), when=by_helper),
        replace(stage.makes(), when=by_helper),
        answer(Say("helped"), when=by_helper),
        answer(Say("made it"), when="helped"),
    )
    brief = started_with(stage, stage.playing(*steps))
    result = over(stage, brief)
    assert (result.ending, result.says) == ("done", "made it")
    assert _asked(stage, brief) == [("Agent", True), ("Write", False), ("Write", True)]
    assert not (stage.workspace.parent / "outside.txt").exists()
    assert (stage.workspace / "made.txt").exists()


def test_a_question_that_nobody_can_answer_is_a_no(stage: LiveStage) -> None:
    class Broken(Listener):
        async def ask(self, call: contract.Call) -> contract.Answer:
            raise OSError(call.tool)

    with pytest.raises(OSError, match="Write"):
        driven(stage, stage.playing(stage.makes(), answer(Say("made it"))), Broken())
    assert not (stage.workspace / "made.txt").exists()
    assert marked(stage.mark) == []


def test_a_verifier_hands_in_its_verdict_by_schema_and_has_no_tool_that_writes(stage: LiveStage) -> None:
    steps = (stage.makes(), stage.runs("touch x"), answer(stage.speech.judges(verdict_failing(2))))
    brief = started_with(stage, stage.playing(*steps, role="verify", writable=False))
    result = over(stage, brief)
    assert result.verdict is not None
    assert result.verdict.intent == brief.intent
    assert [entry.outcome for entry in result.verdict.entries] == ["PASS", "FAIL", "PASS"]
    assert _asked(stage, brief) == [("StructuredOutput", True)]
    assert not (stage.workspace / "made.txt").exists()


@pytest.mark.long
def test_a_verifier_that_only_talks_has_given_no_verdict(stage: LiveStage) -> None:
    talk = [answer(Say("All of it passes.")) for _ in range(4)]
    brief = started_with(stage, stage.playing(*talk, role="verify", writable=False))
    result = over(stage, brief)
    assert (result.ending, result.verdict) == ("done", None)


@pytest.mark.long
@pytest.mark.parametrize(
    ("refused", "ending", "cause"),
    [
        (Refuse(status=401, message="invalid x-api-key"), "limited", "auth"),
        (Refuse(status=529), "limited", "overload"),
        (Refuse(status=429), "limited", "overload"),
        (Refuse(status=400), "failed", None),
        (
            Refuse(status=400, message="Your credit balance is too low to access the Anthropic API"),
            "limited",
            "auth",
        ),
    ],
)
def test_what_the_api_refuses_is_told_by_its_cause(
    stage: LiveStage, refused: Refuse, ending: str, cause: str | None
) -> None:
    brief = started_with(stage, stage.playing(refused))
    result = over(stage, brief)
    assert (result.ending, result.cause, result.reason != "") == (ending, cause, True)


def _logged_in(stage: LiveStage) -> Path:
    """Give its user a login that opens nothing, and settings that allow everything."""
    login = stage.lodging.home / ".claude"
    login.mkdir(exist_ok=True)
    token = {"accessToken": "no-real-token", "refreshToken": "none", "expiresAt": 4_000_000_000_000}
    token |= {"scopes": ["user:inference"], "subscriptionType": "max"}
    (login / ".credentials.json").write_text(json.dumps({"claudeAiOauth": token}))
    (login / "settings.json").write_text(json.dumps({"permissions": {"allow": ["Bash(*)", "Write(*)"]}}))
    return login


def test_whoever_signs_in_by_their_settings_is_signed_in_and_their_hooks_stay_out(stage: LiveStage) -> None:
    _logged_in(stage)
    hook = {"hooks": [{"type": "command", "command": f"touch {stage.workspace}/hooked"}]}
    settings = {
        "env": {"ANTHROPIC_BASE_URL": stage.model.url("agent"), "PATH": "/nowhere"},
        "apiKeyHelper": "~/.claude/key.sh",
        "hooks": {"PreToolUse": [{"matcher": "", **hook}], "SessionStart": [hook]},
    }
    login = stage.lodging.home / ".claude"
    (login / "settings.json").write_text(json.dumps(settings))
    (login / "key.sh").write_text("#!/bin/sh\necho a-helpers-key\n")
    (login / "key.sh").chmod(0o755)
    (login / ".credentials.json").unlink()
    brief = stage.playing(stage.makes(), answer(Say("made it")))
    signs = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")
    environment = {name: one for name, one in brief.environment.items() if name not in signs}
    brief = started_with(stage, structs.replace(brief, environment=environment))
    assert over(stage, brief).ending == "done"
    assert {request.headers.get("x-api-key") for request in stage.model.requests("agent")} == {
        "a-helpers-key"
    }
    assert not (stage.workspace / "hooked").exists()


def test_a_usage_limit_is_told_with_the_time_at_which_it_opens(stage: LiveStage) -> None:
    _logged_in(stage)
    headers = {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": "1935817689",
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
    }
    brief = stage.playing(Refuse(status=429, headers=headers))
    without_key = {name: one for name, one in brief.environment.items() if name != "ANTHROPIC_API_KEY"}
    brief = started_with(stage, structs.replace(brief, environment=without_key))
    result = over(stage, brief)
    assert (result.ending, result.cause) == ("limited", "usage_limit")
    assert result.resets_at == "2031-05-06T07:08:09+00:00"
    model = stage.model.requests("agent")
    assert {request.headers["authorization"] for request in model} == {"Bearer no-real-token"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("limit", "cause"), [({"max_turns": 1}, "max_turns"), ({"budget_usd": 0.01}, "budget")]
)
def test_its_own_limits_hold(stage: LiveStage, limit: dict[str, float], cause: str) -> None:
    brief = stage.playing(stage.runs("ls"), stage.makes(), answer(Say("made it")))
    program = structs.replace(brief.program, **limit)
    brief = started_with(stage, structs.replace(brief, program=program))
    result = over(stage, brief)
    assert (result.ending, result.cause) == ("failed", cause)
    assert result.cost_usd == pytest.approx(ONE_ANSWER)
    assert not (stage.workspace / "made.txt").exists()


@pytest.mark.long
def test_a_budget_is_the_attempts_and_not_of_each_of_its_starts(stage: LiveStage) -> None:
    brief = stage.playing(stage.runs("ls"), Refuse(status=529))
    program = structs.replace(brief.program, budget_usd=1.5 * ONE_ANSWER)
    brief = started_with(stage, structs.replace(brief, program=program))
    first = over(stage, brief)
    stage.model.play("agent", stage.runs("ls"), answer(Say("made it")))
    stage.attempts.start(brief, after=1)
    second = over(stage, brief)
    assert [(one.ending, one.cause) for one in (first, second)] == [
        ("limited", "overload"),
        ("failed", "budget"),
    ]
    assert second.cost_usd == pytest.approx(2 * ONE_ANSWER)


def test_after_kill_9_it_goes_on_in_its_conversation_and_nothing_is_counted_less(stage: LiveStage) -> None:
    here = answer(Say("here I am"), stage.speech.runs("ls"))
    brief = started_with(stage, stage.playing(stage.makes(), here, Hang(), answer(Say("made it"))))
    stage.model.await_requests("agent", 3)
    until(lambda: "here I am" in _transcripts(stage, brief), seconds=SLOW_S)
    os.kill(host_pid(stage, brief), signal.SIGKILL)
    until(lambda: marked(stage.mark) == [], seconds=SLOW_S)
    # A process that is being ended has no environment any more while it still has its lock.
    until(lambda: not stage.attempts.alive(brief.attempt), seconds=SLOW_S)
    stage.attempts.start(brief)
    result = over(stage, brief)
    assert (result.ending, result.says, result.starts) == ("done", "made it", 2)
    asked = stage.model.requests("agent")
    assert "here I am" in asked[3].words
    assert asked[0].headers["x-claude-code-session-id"] == asked[3].headers["x-claude-code-session-id"]
    assert result.cost_usd == pytest.approx(3 * ONE_ANSWER)


def test_one_that_was_killed_before_its_first_word_begins_again(stage: LiveStage) -> None:
    brief = started_with(stage, stage.playing(Hang(), answer(Say("made it"))))
    stage.model.await_requests("agent", 1)
    os.kill(host_pid(stage, brief), signal.SIGKILL)
    until(lambda: not stage.attempts.alive(brief.attempt), seconds=SLOW_S)
    for transcript in (stage.attempts.folder(brief.attempt) / "home").rglob("*.jsonl"):
        transcript.unlink()
    stage.attempts.start(brief)
    result = over(stage, brief)
    assert (result.ending, result.says, result.starts) == ("done", "made it", 2)


@pytest.mark.long
def test_one_that_is_cancelled_is_asked_first_and_says_what_it_cost(stage: LiveStage) -> None:
    brief = started_with(stage, stage.playing(stage.runs("ls"), answer(Say("here I am"), ends="hanging")))
    until(has_said(stage, brief), seconds=SLOW_S)
    stage.attempts.cancel(brief.attempt)
    result = over(stage, brief)
    assert result.ending == "cancelled"
    assert result.cost_usd is not None
    assert result.cost_usd >= ONE_ANSWER
    assert marked(stage.mark) == []


def test_settings_of_the_user_are_held_by_the_ring_and_new_ones_fail_the_attempt(stage: LiveStage) -> None:
    login = _logged_in(stage)
    before = (login / "settings.json").read_text()
    # In a language that the gate does not read.
    steps = [
        stage.runs(f"python3 -c \"open('{login}/{name}', 'a').write('x')\"")
        for name in ("settings.json", "CLAUDE.md", ".credentials.json")
    ]
    brief = started_with(stage, stage.playing(*steps, answer(Say("made it"))))
    result = over(stage, brief)
    assert (login / "settings.json").read_text() == before
    assert result.ending == "failed"
    assert f"is not as it was: {login}/CLAUDE.md. " in result.reason


def test_without_a_login_in_a_file_nothing_of_the_users_is_writable(stage: LiveStage) -> None:
    home = stage.lodging.home
    (home / ".claude").mkdir(exist_ok=True)
    before = sorted((home / ".claude").rglob("*"))
    places = (home / ".claude" / "x", home / "x", stage.state / "x", stage.root / "shop" / "x")
    writes = "; ".join(f"open('{place}', 'w')" for place in places)
    tries = [stage.runs(f'python3 -c "{write}"') for write in writes.split("; ")]
    over(stage, started_with(stage, stage.playing(*tries, answer(Say("made it")))))
    assert [place for place in places if place.exists()] == []
    assert sorted((home / ".claude").rglob("*")) == before
