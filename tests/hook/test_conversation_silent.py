"""Where a hook has nothing to say, or cannot know, it is silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hook.talk import FULL, HALF, Talk, talk

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["talk"]


def test_a_conversation_that_is_none_of_ours_hears_and_leaves_nothing(talk: Talk) -> None:
    talk.says(HALF)
    assert talk.hears("SessionStart", source="startup") == {}
    assert talk.prompt("hello") == ""
    assert talk.stop() == ""
    for event in ("PostToolBatch", "PreCompact", "PostCompact", "SubagentStop", "StopFailure", "SessionEnd"):
        assert talk.hears(event) == {}
    assert talk.cleared() == ""
    assert not talk.state.exists()


def test_inside_an_attempt_every_event_is_silent(tmp_path: Path) -> None:
    with Talk(tmp_path, ASBUILT_ATTEMPT="1") as talk:
        talk.plan()
        talk.says(FULL)
        assert talk.prompt("!load-plan rate-limit") == ""
        assert talk.stop() == ""
        assert not talk.state.exists()


@pytest.mark.parametrize(
    ("event", "data"),
    [
        ("Stop", b""),
        ("Stop", b"\xff\xfe"),
        ("SessionStart", b"[]"),
        ("UserPromptSubmit", b"[" * 100_000),
        ("UserPromptSubmit", b'{"session_id": 5, "prompt": {}}'),
        ("Nothing", b"{}"),
    ],
)
def test_what_cannot_be_read_is_silence(tmp_path: Path, event: str, data: bytes) -> None:
    with Talk(tmp_path) as talk:
        ended = talk.raw(event, data)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_a_surprise_is_silence_and_one_line_in_a_log(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.approve(talk.plan())
        (talk.folder / "state").unlink()
        (talk.folder / "state").mkdir()
        assert talk.prompt("go on") == ""
        assert len(talk.log().splitlines()) == 1


def test_on_a_disk_that_takes_nothing_every_event_is_silence(tmp_path: Path) -> None:
    with Talk(tmp_path, ASBUILT_HOME="/proc/nothing") as talk:
        talk.plan()
        talk.says(FULL)
        assert talk.prompt("make a plan", mode="plan") == ""
        assert talk.prompt("!load-plan rate-limit") == ""
        assert talk.stop() == ""
        assert talk.cleared() == ""


def test_a_hold_that_cannot_be_read_stays_as_it_is(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.prompt("make a plan", mode="plan")
        (talk.folder / "hold").write_text("?")
        assert talk.prompt("go on") == ""
        assert (talk.folder / "hold").read_text() == "?"
