"""How long an agent's first request takes through our host, gate and ring, beside the bare program's own."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.contracts.attempts import ended
from tests.live.stage import SCRIPT, LiveStage
from tests.live.starting import AGENTS, NODE, lodged
from tests.model import Say, answer, serving


class Dispatched(NamedTuple):
    """Seconds until the model was asked."""

    ours_s: float
    bare_s: float


def claude_is_here() -> bool:
    """Tell whether there is anything to measure; `just agents` installs it."""
    return AGENTS["claude"].path.exists()


def dispatched() -> Dispatched:
    """Start claude by hand, then through an attempt."""
    room = Path(tempfile.mkdtemp(dir=NODE.folder.parent, prefix="bench-"))
    try:
        return Dispatched(bare_s=_bare(room / "bare"), ours_s=_ours(room / "ours"))
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _bare(room: Path) -> float:
    with serving() as model:
        model.play("bare", answer(Say("done")))
        lodging = lodged("claude", room / "home", model.url("bare"))
        began = time.monotonic()
        process = lodging.start("-p", "go", "--output-format", "stream-json", "--verbose", cwd=room)
        process.communicate(timeout=120)
        return model.requests("bare")[0].at - began


def _ours(room: Path) -> float:
    with serving() as model:
        room.mkdir()
        stage = LiveStage(root=room, agent="claude", model=model)
        brief = stage.playing(answer(Say("done")))
        began = time.monotonic()
        stage.attempts.start(brief)
        ended(stage, brief, seconds=120)
        return model.requests(SCRIPT)[0].at - began
