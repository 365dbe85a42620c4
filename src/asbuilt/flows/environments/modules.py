"""Make every Python process of a command list where it loaded the project's modules from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from asbuilt.flows.environments.files import content_of
from asbuilt.proof.trials import recorders

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.proof.trials.recorders import Loaded

_PROCESSES: Final = 1_000
_LISTED: Final = 1_000_000
"""Most bytes read of each listing; `_PROCESSES` limits the listings."""


def list_modules(modules: tuple[str, ...], out: Path, inside: str, path: str | None) -> dict[str, str]:
    """Prepare the listing in `out`, which commands see as `inside`; return the variable for it."""
    folder = out / "modules"
    folder.mkdir(mode=0o700)
    (folder / recorders.FILE).write_bytes(recorders.source_of(modules))
    return {"PYTHONPATH": os.pathsep.join([f"{inside}/modules", *([path] if path else [])])}


def loaded_in(out: Path) -> tuple[Loaded, ...]:
    """Read the lists that the processes left."""
    files = sorted((out / "modules").glob(f"*{recorders.LISTED}"))[:_PROCESSES]
    listed = (content_of(file, _LISTED) or b"" for file in files)
    return recorders.read_loaded(b"\n".join(listed).decode("utf-8", "replace"))
