"""A session as plain values, and what becomes of values that are none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from asbuilt.lifecycle.authoring.options import choose
from asbuilt.lifecycle.authoring.session_state import Session, Unreadable, read_session, start, state_of
from tests.lifecycle.stages.cases import PROMPT


def begun(prompt: str = PROMPT) -> Session:
    session = start(prompt, choose(completion_promise='it is: "done"\nreally'), started_at="2026-01-12")
    assert isinstance(session, Session)
    return session


@pytest.mark.parametrize(
    "prompt", ["---\nkey: value\n---", 'say "hello": now', "line\r\nline\ttab\u2028end", "\udcff"]
)
def test_prompt_and_promise_come_back_as_they_were(prompt: str) -> None:
    session = begun(prompt)
    assert read_session(json.loads(json.dumps(state_of(session)))) == session


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"phases": ["understand", "dream"]}, "Invalid enum value 'dream' - at `$.phases[1]`"),
        ({"phases": []}, "stages: no stage"),
        ({"max_phases": True}, "Expected `int`, got `bool` - at `$.max_phases`"),
        ({"use_memory": "yes"}, "Expected `bool`, got `str` - at `$.use_memory`"),
        ({"critique_mode": "kind"}, "Invalid enum value 'kind' - at `$.critique_mode`"),
        ({"prompt": " "}, "prompt: no words"),
        ({"prompt": None}, "Expected `str`, got `null` - at `$.prompt`"),
    ],
)
def test_a_state_that_does_not_fit_is_reported_with_the_reason(change: dict[str, Any], why: str) -> None:
    assert read_session(state_of(begun()) | change) == Unreadable(
        f"this authoring session cannot be read: {why}"
    )
