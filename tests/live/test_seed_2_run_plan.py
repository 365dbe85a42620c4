"""A user types the words of /run-plan to the real `claude`; asbuilt reads them, not the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.live.conversation import Allow, Deny
from tests.live.desk import GREET, Desk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.model import Model

pytestmark = pytest.mark.live
SCRIPT = """\
[[turn]]
role = "implement"
acts = [{ write = "bye.py", text = "print('bye')\\n" }, { say = "done" }]
[[turn]]
role = "verify"
acts = [{ verdict = "pass" }]
"""


@pytest.fixture
def desk(room: Path, model: Model) -> Iterator[Desk]:
    made = Desk(room, model)
    yield made
    made.close()


def test_every_word_of_run_plan_is_understood_and_done(desk: Desk) -> None:
    with desk.talk(lambda *_: Allow) as talk:
        said = {
            words: desk.type(talk, f"/asbuilt:run-plan {words}", f"asbuilt run-plan '{words}'")
            for words in (
                f"{GREET} status",
                f"{GREET} finish every 4h",
                f"{GREET} 2 auto every 4h direct",
                f"{GREET} auto every 4h direct",
                f"{GREET} NEXT",
                "stop",
                "now",
                f"{GREET} finish auto pr",
            )
        }
    for words, told in said.items():
        print(words, "->", told)
    assert "greet not run, 1 of 2 phases done (50%), next 2" in said[f"{GREET} status"]
    assert "not understood: finish and every cannot be combined" in said[f"{GREET} finish every 4h"]
    assert "not understood" in said[f"{GREET} 2 auto every 4h direct"]
    assert f"= asbuilt run {GREET} --auto --every 4h --direct" in said[f"{GREET} auto every 4h direct"]
    assert "Scheduled: every 4h; next" in said[f"{GREET} NEXT"]
    assert f"= asbuilt run {GREET} --finish --auto --pr" in said[f"{GREET} finish auto pr"]
    assert "= asbuilt stop --all --schedule greet is no longer scheduled" in said["stop"]
    assert "No run here can continue." in said["now"]


def test_a_phase_starts_after_the_users_yes_and_not_after_a_no(desk: Desk, room: Path) -> None:
    (room / "script.toml").write_text(SCRIPT, encoding="utf-8")
    desk.environ["ASBUILT_AGENTS_IMPLEMENT"] = "scripted"
    start = f"asbuilt run {GREET} 2 --detach --script {room / 'script.toml'}"
    asked: list[Mapping[str, Any]] = []

    def answers(tool: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append({"tool": tool, **given})
        return Allow if len(asked) > 1 else Deny

    with desk.talk(answers) as talk:
        promised = desk.type(talk, f"/asbuilt:run {GREET} 2", f"{start} --dry-run")
        assert ("- print bye" in promised, "1 check of its own" in promised, asked) == (True, True, [])
        refused = desk.type(talk, "start it", start)
        assert "the person says no" in refused
        assert "not run" in desk.asbuilt("status", "greet")
        started = desk.type(talk, "start it now", start)
    assert [(one["tool"], one["command"]) for one in asked] == [("Bash", start)] * 2
    assert any("starts a phase: an agent works on it" in str(line) for line in talk.said)
    assert "not run" not in desk.asbuilt("status", "greet"), started
