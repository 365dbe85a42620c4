"""Names of files in a plan's text stay names: no agent reads one to its model because it was mentioned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contracts.attempts import started_with
from tests.live.contract import over
from tests.live.stage import LiveStage
from tests.model import Say, answer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.model import Model

pytestmark = pytest.mark.live


@pytest.mark.parametrize(
    "agent",
    [
        "claude",
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in ("claude-acp", "codex-acp", "gemini", "opencode")
        ),
    ],
)
def test_a_file_that_the_plan_mentions_is_not_read_to_the_model(agent: str, room: Path, model: Model) -> None:
    stage = LiveStage(room, agent, model)
    (stage.workspace / "mentioned.txt").write_text("what nobody asked for")
    text = f"Do as in @mentioned.txt and @{stage.workspace}/mentioned.txt.\n"
    brief = started_with(stage, stage.playing(answer(Say("made it")), text=text))
    assert over(stage, brief).ending == "done"
    asked = model.requests("agent", main=False)
    assert any("@mentioned.txt" in request.words for request in asked)
    assert [request.number for request in asked if "what nobody asked for" in request.words] == []
