"""Planning is read-only: every way to write, in every state, with the gate, with the kernel, with neither.

Each row is compared with docs/explanation/planning.md. `just matrix` runs all of it and writes the tables.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.live.conversation import SCRIPT, Place, Talk
from tests.live.matrix import EXITS, STATES, TOOLS, Trial, contents, tried, typed
from tests.live.matrix_terminal import TRIED, tried_at_a_terminal
from tests.live.pinned import pinned

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.live.matrix import Outcome, State, Tool
    from tests.model import Model

pytestmark = pytest.mark.live

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "planning.md"
VERSION = f"Claude Code {pinned()['claude'].version}"
FIRST = [pytest.param(state, marks=[pytest.mark.long] if state != "plain" else []) for state in STATES]
"""All states; the first one in CI, the others by `just matrix`."""


@pytest.fixture
def place(room: Path, model: Model) -> Place:
    return Place(room, model)


@pytest.mark.parametrize("state", STATES)
def test_with_the_plugin_the_gate_refuses_every_try(place: Place, state: State) -> None:
    seen = tried(place, state, gate=True)
    assert seen == dict.fromkeys(TOOLS, "asbuilt")
    _published("with the plugin", state, seen)


@pytest.mark.parametrize("state", FIRST)
def test_at_a_terminal_too(place: Place, state: State) -> None:
    seen = tried_at_a_terminal(place, state)
    assert seen == dict.fromkeys(TRIED, "asbuilt")
    _published("at a terminal", state, seen)


@pytest.mark.parametrize("state", FIRST)
def test_with_the_hook_removed_the_kernel_refuses_every_try_in_a_session(place: Place, state: State) -> None:
    seen = tried(place, state, gate=False, session=True)
    assert seen == dict.fromkeys(TOOLS, "kernel")
    _published("in a session", state, seen)


@pytest.mark.parametrize("state", FIRST)
def test_without_asbuilt_every_try_is_written(place: Place, state: State) -> None:
    seen = tried(place, state, gate=False)
    assert {outcome.partition(",")[0].partition(" ")[0] for outcome in seen.values()} == {"written"}
    _published("without asbuilt", state, seen)


def test_a_mode_that_changes_without_a_prompt_of_a_person_ends_nothing(place: Place) -> None:
    trial = Trial(place, "plain", rejects=True)
    place.settle({**trial.settings, "hooks": place.recording()})
    typed(place, "init", "--claude")

    def answers(tool: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        if tool == "ExitPlanMode":
            talk.begin("set_permission_mode", mode="acceptEdits")
        return trial.answers(tool, given)

    with Talk(place, *trial.arguments, answer=answers) as talk:
        was = contents(place)
        place.model.play(SCRIPT, EXITS, *trial.steps())
        talk.say("plan it")
        seen = trial.outcomes(talk.said, was)
    modes = [one["permission_mode"] for one in place.payloads() if one["hook_event_name"] == "PreToolUse"]
    assert modes == ["plan"] + ["acceptEdits"] * 9
    assert seen == dict.fromkeys(TOOLS, "asbuilt")


def _published(table: str, state: State, seen: Mapping[Tool, Outcome]) -> None:
    """Compare a row with the page's, or write it."""
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(f"<!-- {table}: begin -->")
    section, _, tail = rest.partition(f"<!-- {table}: end -->")
    row = f"| {state} | {' | '.join(seen.values())} |"
    if os.environ.get("ASBUILT_WRITE_DOCS"):
        section = re.sub(rf"(?m)^\| {re.escape(state)} \|.*$", lambda _: row, section)
        section = re.sub(r"Claude Code [\d.]+\d", VERSION, section)
        PAGE.write_text(
            f"{head}<!-- {table}: begin -->{section}<!-- {table}: end -->{tail}", encoding="utf-8"
        )
    assert row in section.splitlines()
    assert VERSION in section
