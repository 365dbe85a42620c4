"""What asbuilt and each pinned agent say to each other: one file for every kind of message, both directions.

`just live --record -k golden` writes them anew; the difference is then git's to show.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import asbuilt
from asbuilt._version import VERSION
from asbuilt.events.options import AgentProgram
from tests.live import tee
from tests.live.contract import over
from tests.live.stage import NEXT, LiveStage
from tests.live.starting import AGENTS
from tests.live.wire import examples, page
from tests.model import Say, Think, answer

if TYPE_CHECKING:
    from asbuilt.ports import Brief
    from tests.conftest import Golden
    from tests.model import Model

GOLDEN = Path(__file__).with_name("golden")


def heard(stage: LiveStage, brief: Brief) -> list[tuple[str, str]]:
    """Let an attempt run with somebody listening between us and the agent."""
    stage.attempts.start(brief)
    over(stage, brief)
    wire = stage.attempts.folder(brief.attempt) / "home" / tee.WIRE
    return [(who, line) for who, line in map(json.loads, wire.read_text().splitlines())]


@pytest.mark.live
@pytest.mark.parametrize(
    "agent", [pytest.param(name, marks=[pytest.mark.long] * (name == "opencode")) for name in AGENTS]
)
def test_an_agent_is_told_and_says_what_it_did_when_its_version_was_pinned(
    agent: str, room: Path, model: Model, golden: Golden, request: pytest.FixtureRequest
) -> None:
    stage = LiveStage(root=room, agent=agent, model=model)
    # A copy: the ring has no tests, and where they lie below /tmp they are not even there.
    listener = str(shutil.copy(tee.__file__, room / "tee.py"))
    command = (sys.executable, "-I", "-S", listener, str(stage.lodging.program))
    program = AgentProgram(kind=stage.speech.kind, command=command)
    working = (
        answer(Think("hm"), stage.speech.writes(stage.workspace / "made.txt", "made\n")),
        stage.makes(str(NEXT)),
        stage.runs("cat made.txt"),
        answer(Say("made it")),
    )
    lines = heard(stage, stage.playing(*working, program=program))
    verifier = {"attempt": "01J.1.1v", "role": "verify", "writable": False}
    lines += heard(stage, stage.brief("fails item 2", program=program, **verifier))
    places = {
        str(room): "<room>",
        str(AGENTS[agent].folder): "<agent>",
        model.url(""): "<model>/",
        sys.executable: "<python>",
        str(Path(asbuilt.__file__).parent): "<asbuilt>",
        VERSION: "<version>",
    }
    found = examples(lines, places)
    folder = GOLDEN / AGENTS[agent].folder.name
    if request.config.getoption("--record"):
        shutil.rmtree(folder, ignore_errors=True)
    for name, message in found.items():
        golden(folder / f"{name}.json", page(message))
    assert sorted(found) == sorted(file.stem for file in folder.glob("*.json"))
