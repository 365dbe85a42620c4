"""What agents say over ACP, read. The messages are those of the pinned programs, cut to what is read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asbuilt.agents.acp.updates import UpdateParser, calls_in, ended, mode_request, refused, reply_of
from asbuilt.agents.contract import SAYS_CAP, Answer, Call, Called, Noted, Said, Turn, Used

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.agents.contract import Event

MADE = "/w/made.txt"
NOW = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
YES = Answer(allowed=True, reason="")
NO = Answer(allowed=False, reason="not yours")


def heard(*updates: dict[str, Any]) -> list[Event]:
    hearing = UpdateParser()
    return [event for update in updates for event in hearing.parse(update)] + list(hearing.end_message())


def chunk(text: str, **more: object) -> dict[str, Any]:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, **more}


def test_pieces_of_a_speech_are_one_and_another_message_is_another() -> None:
    assert heard(chunk("I be"), chunk("gin.\n"), chunk("Well."), chunk("Next", messageId="m2")) == [
        Said(text="I begin.\nWell."),
        Said(text="Next"),
    ]


def test_a_long_speech_is_given_in_whole_lines_and_its_last_words_are_all_of_it() -> None:
    hearing = UpdateParser()
    events = [event for _ in range(300) for event in hearing.parse(chunk("x" * 40 + "\nPLAN"))]
    events += list(hearing.end_message())
    assert len(events) > 1
    assert all(isinstance(event, Said) and event.text.startswith(("x", "PLANx")) for event in events)
    assert hearing.says == "".join(["x" * 40 + "\nPLAN"] * 300)


def test_what_codex_does() -> None:
    edit = {
        "sessionUpdate": "tool_call", "toolCallId": "call_4", "title": f"Edit {MADE}", "kind": "edit",
        "status": "in_progress", "content": [{"type": "diff", "path": MADE, "newText": "made\n"}],
        "locations": [{"path": MADE}], "rawInput": {"changes": {MADE: {"type": "add"}}},
    }  # fmt: skip
    run = {
        "sessionUpdate": "tool_call", "toolCallId": "call_7", "title": "List /w", "kind": "search",
        "status": "in_progress", "rawInput": {"command": ["/bin/bash", "-lc", "ls"], "cwd": "/w"},
    }  # fmt: skip
    usage = {"sessionUpdate": "usage_update", "used": 1250, "size": 258400}
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "call_4", "status": "completed"}
    assert heard(chunk("I begin."), edit, done, usage, run) == [
        Said(text="I begin."),
        Called(tool="edit", detail=MADE),
        Called(tool="search", detail="ls"),
    ]


def test_what_claude_does_is_told_once_its_input_is_there() -> None:
    announced = {
        "sessionUpdate": "tool_call", "toolCallId": "t1", "name": "Write", "rawInput": {}, "kind": "edit",
        "title": "Preparing file…", "status": "pending", "content": [], "locations": [],
    }  # fmt: skip
    told = {
        "sessionUpdate": "tool_call_update", "toolCallId": "t1", "rawInput": {"file_path": MADE},
        "title": "Write made.txt", "locations": [{"path": MADE}],
    }  # fmt: skip
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"}
    thought = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "Hm"}}
    assert heard(thought, thought, announced, told, done) == [
        Noted(text="It thinks."),
        Called(tool="Write", detail=MADE),
    ]


def test_what_gemini_does_is_first_heard_of_when_it_is_done() -> None:
    done = {
        "sessionUpdate": "tool_call_update", "toolCallId": "run_shell_command__1", "status": "completed",
        "title": "touch a", "content": [], "locations": [], "kind": "execute",
    }  # fmt: skip
    assert heard(done, done) == [Called(tool="execute", detail="touch a")]


COST = {"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 0.5, "currency": "USD"}}


def test_cost_is_a_sum_over_the_conversation_and_unknown_is_not_nothing() -> None:
    hearing = UpdateParser()
    claude = {
        "stopReason": "end_turn",
        "usage": {
            "inputTokens": 40, "outputTokens": 200, "cachedReadTokens": 120_000, "cachedWriteTokens": 8_000,
        },
    }  # fmt: skip
    gemini = {"_meta": {"quota": {"token_count": {"input_tokens": 4800, "output_tokens": 200}}}}
    list(hearing.parse(COST))
    assert hearing.used(claude) == Used(input_tokens=128_040, output_tokens=200, cost_usd=0.5)
    list(hearing.parse({**COST, "cost": {"amount": 0.75, "currency": "USD"}}))
    assert hearing.used(gemini) == Used(input_tokens=4_800, output_tokens=200, cost_usd=0.25)
    list(hearing.parse({**COST, "cost": {"amount": 0.125, "currency": "USD"}}))
    assert hearing.used({}) == Used(input_tokens=None, output_tokens=None, cost_usd=0.125)
    list(hearing.parse({**COST, "cost": {"amount": 3, "currency": "EUR"}}))
    assert hearing.used({"stopReason": "end_turn"}) == Used()


def test_no_figure_makes_what_was_used_look_less() -> None:
    hearing = UpdateParser()
    for amount in (-3, float("nan"), float("inf")):
        list(hearing.parse({**COST, "cost": {"amount": amount, "currency": "USD"}}))
    assert hearing.used({"usage": {"inputTokens": -5, "outputTokens": 1}}) == Used()


def test_a_line_without_an_end_is_given_too_and_its_last_words_are_kept() -> None:
    hearing = UpdateParser()
    events = [event for _ in range(100) for event in hearing.parse(chunk("x" * 1_000))]
    assert [len(event.text) for event in events if isinstance(event, Said)] == [65_000]
    assert (list(hearing.end_message()), hearing.says) == ([Said(text="x" * 35_000)], "x" * 100_000)


def test_a_speech_without_an_end_is_kept_up_to_what_shows_that_it_is_not_whole() -> None:
    hearing = UpdateParser()
    for _ in range(SAYS_CAP // 50_000 + 1):
        list(hearing.parse(chunk("x" * 49_999 + "\n")))
    list(hearing.end_message())
    assert len(hearing.says) == SAYS_CAP + 1


def test_what_is_only_told_again_costs_nothing_again() -> None:
    hearing = UpdateParser()
    list(hearing.parse(COST))
    list(hearing.parse(chunk("from before")))
    hearing.reset()
    list(hearing.parse({**COST, "cost": {"amount": 0.75, "currency": "USD"}}))
    assert (hearing.used({}).cost_usd, list(hearing.end_message()), hearing.says) == (0.25, [], "")


ASKED: list[tuple[str, dict[str, Any], tuple[Call, ...]]] = [
    (
        "codex, a patch of two files",
        {
            "kind": "edit",
            "locations": [{"path": MADE}],
            "rawInput": {"changes": {MADE: {}, "/etc/passwd": {}}},
        },
        (Call(tool="edit", kind="edit", path=MADE), Call(tool="edit", kind="edit", path="/etc/passwd")),
    ),
    (
        "codex, a command that it calls a search",
        {"kind": "search", "rawInput": {"command": ["/bin/bash", "-lc", "ls"], "cwd": "/w"}},
        (Call(tool="search", kind="run", command="ls", cwd="/w"),),
    ),
    (
        "codex, a tool of a server",
        {"title": "Approve MCP tool call", "rawInput": {"server_name": "asbuilt"}},
        (Call(tool="tool", kind="other"),),
    ),
    (
        "claude",
        {"name": "Bash", "kind": "execute", "title": "ls", "rawInput": {"command": "rm -r a"}},
        (Call(tool="Bash", kind="run", command="rm -r a"),),
    ),
    ("claude, a helper", {"name": "Task", "kind": "think"}, (Call(tool="Task", kind="delegate"),)),
    ("claude, its list", {"name": "TodoWrite", "kind": "think"}, (Call(tool="TodoWrite", kind="note"),)),
    (
        "claude, the end of its plan",
        {"kind": "switch_mode", "rawInput": {"plan": "x"}},
        (Call(tool="switch_mode", kind="other"),),
    ),
    (
        "gemini, whose command is its title",
        {"kind": "execute", "title": "touch a", "locations": []},
        (Call(tool="execute", kind="run", command="touch a"),),
    ),
    (
        "gemini, by its difference alone",
        {"kind": "edit", "content": [{"type": "diff", "path": MADE}]},
        (Call(tool="edit", kind="edit", path=MADE),),
    ),
    (
        "opencode",
        {"kind": "read", "locations": [{"path": MADE}]},
        (Call(tool="read", kind="read", path=MADE),),
    ),
    ("an edit of nothing that is named", {"kind": "edit"}, (Call(tool="edit", kind="edit"),)),
    (
        "a command that also edits",
        {"kind": "edit", "rawInput": {"command": "sed -i s/a/b/ x"}, "locations": [{"path": "x"}]},
        (
            Call(tool="edit", kind="run", command="sed -i s/a/b/ x"),
            Call(tool="edit", kind="edit", path="x"),
        ),
    ),
    ("nothing at all", {}, (Call(tool="tool", kind="other"),)),
]


@pytest.mark.parametrize(("asked", "calls"), [row[1:] for row in ASKED], ids=[row[0] for row in ASKED])
def test_a_question_is_read_as_what_is_about_to_happen(
    asked: dict[str, Any], calls: tuple[Call, ...]
) -> None:
    assert calls_in(asked) == calls


OPTIONS = [
    {"optionId": "always", "kind": "allow_always"},
    {"optionId": "once", "kind": "allow_once"},
    {"optionId": "no", "kind": "reject_once"},
]


def test_an_answer_is_for_this_once_and_what_cannot_be_said_is_not_allowed() -> None:
    def reply(options: Sequence[object], *answers: Answer) -> object:
        return reply_of(options, answers)["outcome"].get("optionId", "cancelled")

    assert reply(OPTIONS, YES, YES) == "once"
    assert reply(OPTIONS, YES, NO) == "no"
    assert reply(OPTIONS[:1], YES) == "cancelled"
    assert reply(OPTIONS[:2], NO) == "cancelled"
    assert reply([None, {"kind": "allow_once"}], YES) == "cancelled"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["kind", "rawInput", "command", "locations", "path", "content", "changes", "title"]
            ),
            inner,
        )
    ),
    max_leaves=5,
)


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from(["kind", "rawInput", "locations", "content", "name", "title"]), JSON))
def test_whatever_is_asked_becomes_a_question_to_the_gate(asked: dict[str, Any]) -> None:
    assert calls_in(asked) != ()


def test_a_mode_is_asked_for_in_the_way_that_is_offered() -> None:
    gemini = {"modes": {"currentModeId": "default", "availableModes": [{"id": "default"}, {"id": "plan"}]}}
    opencode = {"configOptions": [{"id": "model"}, {"id": "mode", "options": [{"value": "plan"}]}]}
    assert mode_request(gemini, "plan") == ("session/set_mode", {"modeId": "plan"})
    assert mode_request(opencode, "plan") == (
        "session/set_config_option",
        {"configId": "mode", "value": "plan"},
    )
    assert [mode_request(one, "plan") for one in ({}, {"modes": None})] == [None, None]
    assert mode_request(gemini, None) is None


@pytest.mark.parametrize(
    ("reason", "ending", "cause"),
    [
        ("end_turn", "done", None),
        ("max_turn_requests", "failed", "max_turns"),
        ("refusal", "failed", "refusal"),
        ("max_tokens", "failed", None),
        ("cancelled", "failed", None),
        ("something new", "failed", None),
        (None, "failed", None),
    ],
)
def test_only_an_end_of_its_own_is_done(reason: str | None, ending: str, cause: str | None) -> None:
    turn = ended({"stopReason": reason}, says="bye")
    assert (turn.ending, turn.cause, turn.says) == (ending, cause, "bye")


def failed(code: int, message: str, data: object = None) -> Turn:
    return refused(code, message, data, says="", now=NOW)


def told(message: str, **more: object) -> dict[str, object]:
    return {"message": message, **more}


INTERNAL = (-32603, "Internal error")
OPENCODE = {"service": "session", "errorName": "APIError"}
LIMIT, AUTH, OVERLOAD, NONE = (
    ("limited", "usage_limit"), ("limited", "auth"), ("limited", "overload"), ("failed", None),
)  # fmt: skip
BUDGET, TURNS = ("failed", "budget"), ("failed", "max_turns")
ERRORS: dict[str, tuple[tuple[int, str, object], tuple[str, str | None]]] = {
    "codex 401": ((*INTERNAL, told("unexpected status 401 Unauthorized: x, url: http://a/b")), AUTH),
    "codex 429": ((*INTERNAL, told("exceeded retry limit, last status: 429 Too Many Requests")), LIMIT),
    "codex 529": ((*INTERNAL, told("unexpected status 529 <unknown>: x")), OVERLOAD),
    "codex 400": ((*INTERNAL, told('{"error": {"message": "x"}}', codex_error_info="other")), NONE),
    "codex limit": ((*INTERNAL, told("You are out.", codex_error_info="usage_limit_exceeded")), LIMIT),
    "claude 401": ((-32000, "Authentication required", None), AUTH),
    "claude 429": ((-32603, "API Error: Request rejected (429) · x", {"errorKind": "rate_limit"}), LIMIT),
    "claude 400": ((-32603, "Internal error: API Error: 400 x", {"errorKind": "unknown"}), NONE),
    "claude 529": ((-32603, "Internal error: API Error: 529 x.", {"errorKind": "server_error"}), OVERLOAD),
    "claude, its budget": ((-32603, "Internal error: Reached maximum budget ($0.03)", None), BUDGET),
    "claude, its turns": ((-32603, "Reached maximum number of turns (2)", None), TURNS),
    "gemini 401": ((401, '{"error":{"message":"x","code":401}}', None), AUTH),
    "gemini 400": ((400, '{"error":{"message":"quota of 500 x","code":400}}', None), NONE),
    "gemini 429": ((429, "Resource exhausted", None), LIMIT),
    "opencode, in the words of its provider": ((-32603, "Internal error: Overloaded", OPENCODE), OVERLOAD),
    "opencode, in no known words": ((-32603, "Internal error: as the script says", OPENCODE), NONE),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_is_told_by_its_cause(case: str) -> None:
    error, cause = ERRORS[case]
    turn = failed(*error)
    assert (turn.ending, turn.cause) == cause


@pytest.mark.parametrize(
    ("words", "resets_at"),
    [
        ("try again in 3 hours 5 minutes.", "2031-05-06T10:13:09+00:00"),
        ("Your quota will reset after 2h15m10s.", "2031-05-06T09:23:19+00:00"),
        ("try again in 1 day and 2 hours", "2031-05-07T09:08:09+00:00"),
        ('{"resets_in_seconds": 90}', "2031-05-06T07:09:39+00:00"),
        ('{"resets_at": 1935990489}', "2031-05-08T07:08:09+00:00"),
        ("usage limit reached|1935990489", "2031-05-08T07:08:09+00:00"),
        ("resets at 2031-05-08T09:08:09+02:00", "2031-05-08T07:08:09+00:00"),
        ("or try again at 5:29 PM.", "2031-05-06T17:29:00+00:00"),
        ("or try again at 7:08 AM.", "2031-05-07T07:08:00+00:00"),
        ("or try again at Nov 19th, 2032 1:44 AM.", "2032-11-19T01:44:00+00:00"),
        ("limit · resets 3pm (Europe/Berlin)", "2031-05-06T13:00:00+00:00"),
        ("limit · resets 3pm (Nowhere/AtAll)", None),
        ("or try again at 25:61 PM", None),
        ("later", None),
    ],
)
def test_the_time_at_which_a_limit_opens_again_is_found(words: str, resets_at: str | None) -> None:
    assert failed(429, words).resets_at == resets_at
