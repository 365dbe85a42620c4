"""Read runners' reports, and the modules that Python loaded. Rule: follow no link, it may be hostile."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from asbuilt.flows.environments.results import content_of
from asbuilt.proof.counts import MAX_XML, joined
from asbuilt.proof.trials import recorders
from asbuilt.proof.trials.recorders import Loaded

_MOST: Final = 20_000
_PROCESSES: Final = 1_000
_LISTED: Final = 1_000_000
"""Most bytes read of each listing; `_PROCESSES` limits the listings."""


def delete_reports(checkout: Path, patterns: Sequence[str]) -> None:
    """Delete files that look like reports before a command starts: the tree or the setup may contain some."""
    for report in _found(checkout, patterns):
        report.unlink()


def collect_reports(checkout: Path, patterns: Sequence[str]) -> bytes | None:
    """Return all reports as one; None if there is none, or if they are too large together."""
    contents = []
    size = 0
    for report in _found(checkout, patterns):
        content = content_of(report)
        size += len(content or b"")
        if content is None or size > MAX_XML:
            return None
        contents.append(content)
    return joined(contents)


def _found(checkout: Path, patterns: Sequence[str]) -> list[Path]:
    if not patterns:
        return []
    found = []
    for folder, folders, files in os.walk(checkout):
        folders[:] = sorted({*folders} - {".git", "node_modules"})
        paths = (PurePosixPath(folder, file) for file in sorted(files))
        found += [Path(path) for path in paths if any(path.match(pattern) for pattern in patterns)]
    return found[:_MOST]


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
