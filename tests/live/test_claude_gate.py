"""Thirty forbidden calls of a `claude` that allows itself everything: what the gate holds, what the ring.

The rows and what came of them are in docs/reference/roles.md. This writes that table anew:
`ASBUILT_WRITE_DOCS=1 just live tests/live/test_claude_gate.py`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from asbuilt.agents.attempts import FolderAttempts
from tests.contracts.adapter import Listener, driven
from tests.contracts.attempts import started_with
from tests.live.contract import over
from tests.live.forbidden import FORBIDDEN, TO_READERS, Forbidden, ground
from tests.live.stage import LiveStage
from tests.model import Say, answer

if TYPE_CHECKING:
    from asbuilt.policy.sandbox.rules import Level
    from asbuilt.ports import Brief
    from tests.live.forbidden import Ground
    from tests.model import Model

pytestmark = pytest.mark.live

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "roles.md"
BEGIN, END = "<!-- gate and sandbox: begin -->", "<!-- gate and sandbox: end -->"
READS: dict[str, Any] = {"role": "verify", "writable": False}
# What a user could do to theirs: it accepts edits, allows everything, and has all of its tools back.
WRAPPER = """\
#!{python}
import os, sys
given, kept = iter(sys.argv[1:]), []
for word in given:
    if word in ("--tools", "--setting-sources", "--permission-mode"):
        next(given)
    elif word != "--restricted":
        kept.append(word)
more = ["--permission-mode", "acceptEdits", "--setting-sources", "user,project,local"]
os.execv("{claude}", ["{claude}", *kept, *more, "--settings", "{settings}"])
"""
ALLOWED = [f"{tool}(*)" for tool in ("Bash", "Edit", "Write", "Read", "WebFetch", "NotebookEdit")]


@pytest.fixture
def stage(room: Path, model: Model) -> LiveStage:
    return LiveStage(room, "claude", model)


def _careless(stage: LiveStage, ground: Ground, rows: tuple[Forbidden, ...], **changes: object) -> Brief:
    """Have a `claude` that allows itself everything make the calls, one by one."""
    settings = stage.root / "allow-everything.json"
    settings.write_text(
        json.dumps({"permissions": {"allow": [*ALLOWED, *(one.partition("(")[0] for one in ALLOWED)]}})
    )
    wrapper = stage.root / "careless-claude"
    wrapper.write_text(WRAPPER.format(python=sys.executable, settings=settings, claude=stage.lodging.program))
    wrapper.chmod(0o755)
    brief = stage.playing(*map(ground.step, rows), answer(Say("made it")), **changes)
    shown = replace(brief.opened, readable=(str(settings),))
    return replace(brief, opened=shown, program=replace(brief.program, command=(str(wrapper),)))


def _at(stage: LiveStage, level: Level) -> None:
    stage.attempts = FolderAttempts(
        stage.state, home=stage.lodging.home, level=level, sandbox_required=False, abandon_s=240, grace_s=5
    )


def _came_through(ground: Ground, rows: tuple[Forbidden, ...]) -> list[str]:
    ground.all_heard()
    return [row.text for row in rows if ground.has_happened(row)]


def test_with_neither_gate_nor_ring_every_one_of_them_happens(stage: LiveStage) -> None:
    _at(stage, "none")
    with ground(stage) as laid:
        driven(stage, _careless(stage, laid, FORBIDDEN), Listener())
        assert _came_through(laid, FORBIDDEN) == [row.text for row in FORBIDDEN]


@pytest.mark.parametrize(
    ("rows", "role"),
    [
        pytest.param(FORBIDDEN, {}, id="implementer"),
        pytest.param(FORBIDDEN, {"role": "fix"}, id="fixer", marks=pytest.mark.long),
        pytest.param(TO_READERS, READS, id="verifier"),
    ],
)
def test_with_the_gate_alone_none_of_them_happens(
    stage: LiveStage, rows: tuple[Forbidden, ...], role: dict[str, Any]
) -> None:
    _at(stage, "none")
    with ground(stage) as laid:
        brief = started_with(stage, _careless(stage, laid, rows, **role))
        result = over(stage, brief)
        assert _came_through(laid, rows) == []
    assert (result.ending, result.ring, stage.model.left("agent")) == ("done", "none", 0)
    events, _ = stage.attempts.events(brief.attempt)
    asked = [event["allowed"] for event in events if event["kind"] == "asked"]
    assert asked == [False] * len(rows)


@pytest.mark.parametrize(
    ("rows", "role"),
    [pytest.param(FORBIDDEN, {}, id="implementer"), pytest.param(TO_READERS, READS, id="verifier")],
)
def test_with_the_ring_alone_none_of_them_happens(
    stage: LiveStage, rows: tuple[Forbidden, ...], role: dict[str, Any]
) -> None:
    with ground(stage) as laid:
        listener = Listener()
        driven(stage, _careless(stage, laid, rows, **role), listener)
        through = _came_through(laid, rows)
    assert len(listener.calls) == len(rows)
    assert through == []
    _published(rows, set(through))


def _published(rows: tuple[Forbidden, ...], through: set[str]) -> None:
    """Compare with what the page says, or write it."""
    if rows is not TO_READERS:
        return
    lines = ["| call | gate alone | sandbox alone |", "|---|---|---|"]
    for row in rows:
        call = f"write {row.text}" if row.tool == "Write" else row.text.replace("|", r"\|")
        ring = "not refused" if row.text in through else "refused"
        lines.append(f"| `{call}` | refused | {ring} |")
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    wanted = f"{before}{BEGIN}\n\n{chr(10).join(lines)}\n\n{END}{after}"
    if os.environ.get("ASBUILT_WRITE_DOCS"):
        PAGE.write_text(wanted, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == wanted, "docs/reference/roles.md says something else"
