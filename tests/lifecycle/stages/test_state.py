"""A session as plain values, and what becomes of values that are none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from asbuilt.lifecycle.authoring.options import choose
from asbuilt.lifecycle.authoring.session import Session, Unreadable, hand_in, read_session, start, state_of
from asbuilt.lifecycle.authoring.stage_machine import advance, next_move
from tests.lifecycle.stages.cases import PROMPT
from tests.lifecycle.stages.outputs import AROUND, good


def begun(prompt: str = PROMPT) -> Session:
    session = start(prompt, choose(completion_promise='it is: "done"\nreally'), started_at="2026-01-12")
    assert isinstance(session, Session)
    return session


def one_stage_on() -> Session:
    waiting = hand_in(begun(), good(begun()))
    return advance(waiting, next_move(waiting, AROUND))


@pytest.mark.parametrize(
    "prompt", ["---\nkey: value\n---", 'say "hello": now', "line\r\nline\ttab\u2028end", "\udcff"]
)
def test_prompt_and_promise_come_back_as_they_were(prompt: str) -> None:
    session = begun(prompt)
    assert read_session(json.loads(json.dumps(state_of(session)))) == session


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"phase_index": 3}, "phase_index is 3 where the records say 1"),
        ({"phase": "dream"}, "phase is 'dream' where the records say 'explore'"),
        ({"active": False}, "active is False where the records say True"),
        ({"phases": ["understand", "dream"]}, "its stages are understand, dream"),
        ({"phases": []}, "its stages are none"),
        ({"phases": ["explore", "draft"]}, "phase is 'explore' where the records say 'draft'"),
        ({"phase": "draft", "phases": ["explore", "draft"]}, "the records are not those of its stages"),
        ({"records": [{"stage": "dream", "round": 1, "text": ""}]}, "a record has no known stage"),
        ({"records": None}, "NoneType where a list belongs"),
        ({"refused": [[["only", "three", "words"]]]}, "a refusal is not whole"),
        ({"exit_reason": "bored"}, "exit_reason is 'bored'"),
        ({"max_phases": True}, "max_phases is no whole number"),
        ({"use_memory": "yes"}, "use_memory is neither true nor false"),
        ({"critique_mode": "kind"}, "critique mode is kind"),
        ({"prompt": " "}, "it has no prompt"),
        ({"prompt": None}, "prompt is no text"),
    ],
)
def test_a_state_that_does_not_fit_is_kept_with_the_reason(change: dict[str, Any], why: str) -> None:
    state = state_of(one_stage_on()) | change
    warning = f"this authoring session cannot be read: {why}. It is switched off and kept."
    assert read_session(state) == Unreadable(warning, state)
