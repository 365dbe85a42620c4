from __future__ import annotations

import json

import pytest

from asbuilt.lifecycle.authoring.spoken import last_words


def line(role: str, *texts: str, name: str = "m1") -> str:
    blocks = [{"type": "text", "text": text} for text in texts]
    return json.dumps({"type": role, "message": {"role": role, "id": name, "content": blocks}})


def test_the_payloads_own_message_is_taken_first() -> None:
    assert (
        last_words({"last_assistant_message": "from here"}, [line("assistant", "from there")]) == "from here"
    )


@pytest.mark.parametrize("told", [None, "", "  ", 7, ["x"]])
def test_the_transcript_speaks_where_the_payload_does_not(told: object) -> None:
    transcript = [
        line("assistant", "an earlier one"),
        line("user", "go on"),
        line("assistant", "the last", name="m2"),
        line("assistant", "in two blocks", name="m2"),
        line("user", "what a tool said"),
        json.dumps({"message": {"role": "assistant", "id": "m3", "content": [{"type": "tool_use"}]}}),
    ]
    assert last_words({"last_assistant_message": told}, transcript) == "the last\nin two blocks"


def test_what_is_odd_in_a_transcript_is_passed_over() -> None:
    odd = [
        "",
        "{",
        "null",
        "[]",
        '{"message": 3}',
        '{"message": {"role": "assistant", "content": 3}}',
        "[" * 99_999,
    ]
    assert last_words({}, odd) is None
    assert last_words({}, [*odd, '{"message": {"role": "assistant", "content": "plain"}}']) == "plain"
