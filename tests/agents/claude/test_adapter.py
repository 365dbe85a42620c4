"""What is understood of Claude Code, without it: its messages, its endings, its figures, its tools."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from asbuilt.agents.claude.adapter import GIVEN, arguments, call_of
from asbuilt.agents.claude.ending import TurnState, tally_in, turn_of, used_by, used_without_end
from asbuilt.agents.claude.messages import (
    Asked,
    Begun,
    Ended,
    Hooked,
    Known,
    Limited,
    Noticed,
    Refused,
    Spoke,
    Tokens,
    Unasked,
    Unknown,
    message_in,
)
from asbuilt.agents.claude.state import State, can_resume, session_of
from asbuilt.agents.contract import Call, Turn, Used
from asbuilt.agents.host.agent_process import differing, digests
from asbuilt.events.options import AgentProgram
from asbuilt.policy.agent_kinds import KINDS
from tests.agents.briefs import BRIEFS

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.events.event import Cause


BRIEF = BRIEFS["implement"]


def _line(**message: object) -> bytes:
    return json.dumps(message).encode()


def _request(**request: object) -> bytes:
    return _line(type="control_request", request_id="r", request=request)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            _line(type="system", subtype="init", session_id="s", tools=["Read", 3], claude_code_version="2"),
            Begun("s", "2", ("Read",)),
        ),
        (
            _line(type="system", subtype="init", session_id="s", claude_code_version="2", model="opus"),
            Begun("s", "2", (), "opus"),
        ),
        (
            _request(
                subtype="hook_callback", input={"hook_event_name": "PreToolUse", "cwd": "/w"}, tool_use_id="t"
            ),
            Hooked("r", "t", "/w"),
        ),
        (_request(subtype="hook_callback", input={"hook_event_name": "Stop"}), Hooked("r", "", "")),
        (_request(subtype="hook_callback", input=None, tool_use_id=3), Hooked("r", "3", "")),
        (
            _request(subtype="can_use_tool", tool_name="Bash", input={"command": "ls"}, tool_use_id="t"),
            Asked("r", "t", "Bash", {"command": "ls"}),
        ),
        (_request(subtype="can_use_tool", tool_name="Bash", input="ls"), Unasked("r", "can_use_tool")),
        (_request(subtype="mcp_message"), Unasked("r", "mcp_message")),
        (_line(type="control_response", response={"subtype": "error", "error": "no"}), Refused("no")),
        (_line(type="control_response", response={"subtype": "success"}), Known("control_response")),
        (
            _line(type="assistant", message={"content": [{"type": "text", "text": "a"}, {"type": "odd"}]}),
            Spoke(("a",), ()),
        ),
        (
            _line(
                type="assistant",
                message={"content": [{"type": "tool_use", "name": "Read", "input": {"file_path": "x"}}]},
                error="rate_limit",
            ),
            Spoke((), (("Read", "x"),), "rate_limit"),
        ),
        (
            _line(type="rate_limit_event", rate_limit_info={"status": "rejected", "resetsAt": 5}),
            Limited(rejected=True, resets_at=5),
        ),
        (
            _line(type="rate_limit_event", rate_limit_info={"status": "allowed", "resetsAt": "soon"}),
            Limited(rejected=False, resets_at=None),
        ),
        (_line(type="system", subtype="informational", content="a notice"), Noticed("a notice")),
        (_line(type="system", subtype="task_started"), Known("system/task_started")),
        (_line(type="user", message={}), Known("user")),
        (_line(type="telepathy"), Unknown("telepathy")),
        (b"half a li", Unknown("no JSON")),
        (b"[1]", Unknown("no message")),
        (b"[" * 100_000, Unknown("no JSON")),
    ],
)
def test_every_line_is_one_of_the_messages_we_know(line: bytes, message: object) -> None:
    assert message_in(line) == message


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["type", "subtype"]), inner)
        ),
        max_leaves=12,
    )
)
def test_no_line_ends_anything(value: object) -> None:
    assert message_in(json.dumps(value).encode()) is not None


def _ended(**changes: Any) -> Ended:  # noqa: ANN401  the fields of Ended
    ended = message_in(
        _line(type="result", subtype="success", is_error=False, result="done", total_cost_usd=1.0)
    )
    assert isinstance(ended, Ended)
    return ended._replace(**changes)


def test_a_result_that_does_not_say_that_it_went_well_did_not() -> None:
    ended = message_in(_line(type="result", subtype="success"))
    assert isinstance(ended, Ended)
    assert (ended.is_error, ended.cost_usd, ended.used, ended.structured) == (True, None, Tokens(), None)


@pytest.mark.parametrize(
    ("code", "state", "ending", "cause"),
    [
        (0, TurnState(ended=_ended()), "done", None),
        (1, TurnState(ended=_ended()), "failed", None),
        (None, TurnState(ended=_ended()), "failed", None),
        (0, TurnState(ended=_ended(is_error=True)), "failed", None),
        (0, TurnState(ended=_ended(subtype="error_during_execution", is_error=True)), "crashed", "crash"),
        (0, TurnState(ended=_ended(subtype="something new")), "failed", None),
        (0, TurnState(), "crashed", "crash"),
        (143, TurnState(), "crashed", "crash"),
        (1, TurnState(ended=_ended(subtype="error_max_turns", is_error=True)), "failed", "max_turns"),
        (1, TurnState(ended=_ended(subtype="error_max_budget_usd", is_error=True)), "failed", "budget"),
        (1, TurnState(ended=_ended(is_error=True, stop="refusal")), "failed", "refusal"),
        (1, TurnState(error="authentication_failed", ended=_ended(is_error=True)), "limited", "auth"),
        (1, TurnState(error="billing_error", ended=_ended(is_error=True, status=400)), "limited", "auth"),
        (1, TurnState(ended=_ended(is_error=True, error="connection_failed")), "limited", "overload"),
        (1, TurnState(ended=_ended(is_error=True, status=529)), "limited", "overload"),
        (1, TurnState(ended=_ended(is_error=True, status=503)), "limited", "overload"),
        (1, TurnState(ended=_ended(is_error=True, status=429)), "limited", "overload"),
        (1, TurnState(ended=_ended(is_error=True, status=404)), "failed", None),
        (
            1,
            TurnState(error="rate_limit", ended=_ended(is_error=True, error="usage_limit_reached")),
            "limited",
            "usage_limit",
        ),
    ],
)
def test_it_is_done_only_when_everything_says_so(
    code: int | None, state: TurnState, ending: str, cause: Cause | None
) -> None:
    turn = turn_of(code, state, BRIEF, last_words="")
    assert (turn.ending, turn.cause) == (ending, cause)
    assert turn.reason


def test_a_limit_has_its_time_from_its_event_or_from_words_of_old() -> None:
    new = TurnState(resets_at=1_935_817_689, ended=_ended(is_error=True, error="usage_limit_reached"))
    old = TurnState(ended=_ended(is_error=True, text="Claude AI usage limit reached|1935817689"))
    odd = TurnState(resets_at=10**30, ended=_ended(is_error=True, error="usage_limit_reached"))
    told = [turn_of(1, state, BRIEF, last_words="").resets_at for state in (new, old, odd)]
    assert told == ["2031-05-06T07:08:09+00:00", "2031-05-06T07:08:09+00:00", None]


def test_a_crash_is_told_with_the_last_words_of_its_stderr() -> None:
    assert turn_of(139, TurnState(says="half"), BRIEF, last_words="warning\nout of memory\n") == Turn(
        ending="crashed", reason="claude was ended by signal 11: out of memory.", cause="crash", says="half"
    )


def test_only_a_verifier_gives_a_verdict_and_only_as_structured_output() -> None:
    structured = {"items": [{"item": 1, "outcome": "PASS", "why": "seen"}]}
    verifier = replace(BRIEF, role="verify")
    verdict = turn_of(0, TurnState(ended=_ended(structured=structured)), verifier, last_words="").verdict
    assert verdict is not None
    assert (verdict.intent, [entry.outcome for entry in verdict.entries]) == (BRIEF.intent, ["PASS"])
    assert turn_of(0, TurnState(ended=_ended()), verifier, last_words="").verdict is None
    assert turn_of(0, TurnState(ended=_ended(structured=structured)), BRIEF, last_words="").verdict is None


@pytest.mark.parametrize(
    ("tool", "given_", "call"),
    [
        ("Write", {"file_path": "/w/a"}, Call(tool="Write", kind="edit", path="/w/a")),
        ("NotebookEdit", {"notebook_path": "a"}, Call(tool="NotebookEdit", kind="edit", path="a")),
        ("Write", {}, Call(tool="Write", kind="other")),
        ("Write", {"file_path": 3}, Call(tool="Write", kind="other")),
        ("Read", {"file_path": "a"}, Call(tool="Read", kind="read", path="a")),
        ("Grep", {"pattern": "x"}, Call(tool="Grep", kind="read")),
        ("Grep", {"path": 3}, Call(tool="Grep", kind="other")),
        ("Glob", {"pattern": "/h/.ssh/*"}, Call(tool="Glob", kind="read", path="/h/.ssh/*")),
        ("Bash", {"command": "ls"}, Call(tool="Bash", kind="run", command="ls", cwd="/w")),
        ("Bash", {}, Call(tool="Bash", kind="other")),
        ("WebFetch", {"url": "x"}, Call(tool="WebFetch", kind="fetch")),
        ("Task", {"prompt": "x"}, Call(tool="Task", kind="delegate")),
        ("Task", {"prompt": "x", "isolation": "worktree"}, Call(tool="Task", kind="other")),
        ("mcp__theirs__do", {}, Call(tool="mcp__theirs__do", kind="other")),
        ("CronCreate", {}, Call(tool="CronCreate", kind="other")),
        ("StructuredOutput", {}, Call(tool="StructuredOutput", kind="submit")),
    ],
)
def test_a_call_is_told_in_our_words(tool: str, given_: dict[str, Any], call: Call) -> None:
    assert call_of(tool, given_, "/w") == call


def test_no_tool_is_given_that_the_gate_does_not_know() -> None:
    assert {
        tool
        for tool in GIVEN
        if call_of(tool, {"file_path": "a", "notebook_path": "a", "command": "a"}).kind == "other"
    } == set()


def test_its_command_line_leaves_settings_and_servers_out_and_names_the_conversation() -> None:
    program = AgentProgram(kind="claude", command=("/bin/claude",), model="opus", effort="high", max_turns=9)
    line = arguments(replace(BRIEF, program=program), "s1", resumes=False, budget_usd=1.5)
    pairs = list(pairwise(line))
    assert line[0] == "/bin/claude"
    for pair in (
        ("--setting-sources", ""),
        ("--permission-prompt-tool", "stdio"),
        ("--permission-mode", "default"),
        ("--session-id", "s1"),
        ("--model", "opus"),
        ("--effort", "high"),
        ("--max-turns", "9"),
        ("--max-budget-usd", "1.500000"),
    ):
        assert pair in pairs
    assert "--strict-mcp-config" in line
    assert ("--resume", "s1") in pairwise(arguments(BRIEF, "s1", resumes=True))
    reads = arguments(replace(BRIEF, role="verify"), "s1", resumes=False)
    assert reads[reads.index("--tools") + 1] == "Read,Grep,Glob"
    assert "--restricted" in reads


def _said(key: str, output: int, model: str = "m") -> dict[str, Any]:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": output}
    return {"type": "assistant", "message": {"id": key, "model": model, "usage": usage}}


def _written(file: Path, *lines: dict[str, Any] | str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return file


def _figures(cost: float, *, model: str = "m") -> Ended:
    used = Tokens(fresh=10, cached=90, output=50)
    return _ended(cost_usd=cost, used=used, models=((model, used, 0.2),))


def test_a_figure_is_a_sum_and_what_is_new_in_it_is_counted(tmp_path: Path) -> None:
    told = {"type": "cost-state", "totalCostUSD": 0.3}
    before = tally_in(_written(tmp_path / "s.jsonl", _said("a", 50), told))
    used = used_by(_figures(0.5), before)
    assert (used.input_tokens, used.output_tokens) == (100, 50)
    assert used.cost_usd == pytest.approx(0.2)


def test_what_a_killed_process_used_is_counted_once_an_answer_and_priced_as_its_model(tmp_path: Path) -> None:
    told = {"type": "cost-state", "totalCostUSD": 0.3}
    lines = (_said("a", 50), told, _said("b", 1), _said("b", 50), _said("b", 50), '{"type": "assis')
    before = tally_in(_written(tmp_path / "s.jsonl", *lines))
    used = used_by(_figures(0.5), before)
    assert (used.input_tokens, used.output_tokens) == (200, 100)
    assert used.cost_usd == pytest.approx(0.4)
    unknown = used_by(_figures(0.5, model="another"), before)
    assert unknown == Used(input_tokens=200, output_tokens=100, cost_usd=None)


def test_a_conversation_that_tells_no_figure_any_more_has_tokens_and_no_price(tmp_path: Path) -> None:
    transcript = _written(tmp_path / "s.jsonl", _said("a", 50) | {"timestamp": "2031-01-01"})
    _written(tmp_path / "s" / "subagents" / "agent-1.jsonl", _said("c", 7))
    assert used_without_end(tally_in(transcript)) == Used(input_tokens=200, output_tokens=57, cost_usd=None)
    assert used_without_end(tally_in(None)) is None


def test_what_helpers_used_before_the_last_figure_is_in_it(tmp_path: Path) -> None:
    lines = (_said("a", 5) | {"timestamp": "2031-01-02"}, {"type": "cost-state", "totalCostUSD": 0.3})
    helpers = (_said("c", 7) | {"timestamp": "2031-01-01"}, _said("d", 9) | {"timestamp": "2031-01-03"})
    transcript = _written(tmp_path / "s.jsonl", *lines)
    _written(tmp_path / "s" / "subagents" / "agent-1.jsonl", *helpers)
    assert tally_in(transcript).owed_tokens == Tokens(fresh=10, cached=90, output=9)


def test_a_conversation_without_words_is_not_taken_up(tmp_path: Path) -> None:
    assert not can_resume(None)
    assert not can_resume(_written(tmp_path / "s.jsonl", '{"type":"queue-operation"}'))
    assert can_resume(_written(tmp_path / "s.jsonl", '{"type":"user"}'))


def test_a_pipe_or_a_link_in_the_place_of_a_transcript_is_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s.jsonl")
    (tmp_path / "t.jsonl").symlink_to(_written(tmp_path / "elsewhere", '{"type":"user"}'))
    assert not can_resume(tmp_path / "s.jsonl")
    assert not can_resume(tmp_path / "t.jsonl")
    assert tally_in(tmp_path / "s.jsonl").owed == {}


def test_a_link_in_the_place_of_its_folder_leads_us_nowhere(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".claude").symlink_to(tmp_path / "elsewhere")
    State(config=tmp_path / ".claude", login=tmp_path / "login", is_default=True).prepare()
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert [path.name for path in (tmp_path / ".claude").iterdir()] == [".claude.json"]


def test_each_start_would_begin_a_conversation_of_its_own() -> None:
    assert session_of(BRIEF, 1) == session_of(BRIEF, 1)
    assert session_of(BRIEF, 1) != session_of(BRIEF, 2)
    assert session_of(BRIEF, 1) != session_of(replace(BRIEF, attempt="01J.1.2"), 1)


def test_only_a_login_in_a_file_makes_anything_of_the_users_writable(tmp_path: Path) -> None:
    login = tmp_path / "person" / ".claude"
    for name in ("settings.json", "statusline.sh", ".oauth_refresh.lock.owner"):
        _written(login / name, "")
    state = State(config=tmp_path / "home" / ".claude", login=login, is_default=True)
    assert (state.own, state.others) == ((), ())
    _written(login / ".credentials.json", "{}")
    assert state.own == (login,)
    assert [path.name for path in state.others] == ["settings.json", "statusline.sh"]


def test_the_attempt_knows_whose_login_it_is_and_no_server_of_the_users(tmp_path: Path) -> None:
    account = {"oauthAccount": {"emailAddress": "ada@localhost"}, "mcpServers": {"x": {"command": "evil"}}}
    _written(tmp_path / ".claude.json", json.dumps(account))
    state = State(config=tmp_path / "home" / ".claude", login=tmp_path / ".claude", is_default=True)
    state.prepare()
    known = json.loads((state.config / ".claude.json").read_text())
    assert known == {"hasCompletedOnboarding": True, "oauthAccount": {"emailAddress": "ada@localhost"}}
    state.prepare()


@pytest.mark.parametrize(
    "name", ["settings.json", "hooks/a.sh", "plugins/p/plugin.json", "CLAUDE.md", ".claude.json"]
)
def test_what_would_act_later_is_seen_when_it_comes_changes_or_goes(tmp_path: Path, name: str) -> None:
    def seen() -> dict[str, str]:
        return digests(tmp_path, KINDS["claude"].sealed)

    nothing = seen()
    _written(tmp_path / name, "one")
    one = seen()
    _written(tmp_path / name, "two")
    _written(tmp_path / "history.jsonl", "anything")
    assert differing(nothing, one) == differing(one, seen()) == differing(one, nothing) == [name]


def test_a_link_counts_by_where_it_leads_and_a_huge_file_by_its_size(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "one").symlink_to("/elsewhere")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(8 << 20)
    found = digests(tmp_path, ("skills", "huge", "missing"))
    assert found["skills/one"] == "-> /elsewhere"
    assert str(8 << 20) in found["huge"]
    assert set(found) == {"skills/one", "huge"}
