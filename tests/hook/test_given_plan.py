"""Claude Code writes down which plan file it gave beside the first call, at times a moment after it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from asbuilt.hook.pre_tool_use import answer
from tests.hook.talk import Talk

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def written(talk: Talk, plan: Path) -> str:
    given = {"file_path": str(plan), "content": "# P\n"}
    fields = {"permission_mode": "plan", "tool_name": "Write", "tool_input": given}
    return answer(talk.environ, json.dumps(talk.payload("PreToolUse", **fields)).encode())


def test_the_plan_that_was_given_may_be_written_once_that_is_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Talk(tmp_path) as talk:
        plan = talk.shop / "plans" / "own.md"
        waited: list[float] = []

        def sleep(seconds: float) -> None:
            waited.append(seconds)
            if len(waited) == 3:
                given = {"type": "plan_mode", "planFilePath": str(plan)}
                talk.transcript.write_text(json.dumps({"type": "attachment", "attachment": given}) + "\n")

        monkeypatch.setattr("time.sleep", sleep)
        assert written(talk, plan) == ""
        assert len(waited) == 3
        assert "plan mode is read-only and Write changes plans/other.md" in written(
            talk, plan.with_name("other.md")
        )
        assert len(waited) == 3


def test_where_no_plan_is_ever_given_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(100))
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    with Talk(tmp_path) as talk:
        assert "plan mode is read-only and Write changes" in written(talk, talk.shop / "plans" / "own.md")
