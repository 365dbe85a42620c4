"""How long an agent's first request takes through our host, gate and ring, beside the bare program's own."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.contracts.attempts import ended
from tests.live.stage import SCRIPT, LiveStage
from tests.live.starting import AGENTS, NODE
from tests.model import Say, answer, serving

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.ports import Brief


class Dispatched(NamedTuple):
    """Seconds until the model was asked."""

    ours_s: float
    bare_s: float


def claude_is_here() -> bool:
    """Tell whether there is anything to measure; `just agents` installs it."""
    return AGENTS["claude"].path.exists()


def dispatched() -> Dispatched:
    """Start claude by hand, then through an attempt, each in a workspace and a HOME that are new."""
    return Dispatched(bare_s=_until_asked(_bare), ours_s=_until_asked(_ours))


def _until_asked(start: Callable[[LiveStage, Brief], None]) -> float:
    room = Path(tempfile.mkdtemp(dir=NODE.folder.parent, prefix="bench-"))
    try:
        with serving() as model:
            stage = LiveStage(root=room, agent="claude", model=model)
            brief = stage.playing(answer(Say("done")))
            began = time.monotonic()
            start(stage, brief)
            return model.requests(SCRIPT)[0].at - began
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _bare(stage: LiveStage, brief: Brief) -> None:
    arguments = ("-p", brief.text, "--output-format", "stream-json", "--verbose")
    stage.lodging.start(*arguments, cwd=stage.workspace).communicate(timeout=120)


def _ours(stage: LiveStage, brief: Brief) -> None:
    stage.attempts.start(brief)
    ended(stage, brief)
