"""Have every Python process of a command list from where it has loaded the modules of a project."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from asbuilt.flows.environments.files import content_of
from asbuilt.proof.trials import origins

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.proof.trials.origins import Loaded

_PROCESSES: Final = 1_000
_LISTED: Final = 1_000_000
"""Processes of a command whose modules are read, and bytes of each listing."""


def list_modules(modules: tuple[str, ...], out: Path, inside: str, path: str | None) -> dict[str, str]:
    """Make ready to list modules in `out`, which is `inside` for the command; return the variable for it."""
    folder = out / "modules"
    folder.mkdir(mode=0o700)
    (folder / origins.FILE).write_bytes(origins.source_of(modules))
    return {"PYTHONPATH": os.pathsep.join([f"{inside}/modules", *([path] if path else [])])}


def loaded_in(out: Path) -> tuple[Loaded, ...]:
    """Read the lists that processes have left."""
    files = sorted((out / "modules").glob(f"*{origins.LISTED}"))[:_PROCESSES]
    listed = (content_of(file, _LISTED) or b"" for file in files)
    return origins.read_loaded(b"\n".join(listed).decode("utf-8", "replace"))
