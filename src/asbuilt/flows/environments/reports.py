"""Read the reports that a runner writes into its checkout, if no option sets another path.

Rule: no link is followed. The tree and the code that ran in it may be hostile.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from asbuilt.flows.environments.files import content_of
from asbuilt.proof.counts import MAX_XML, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST: Final = 20_000


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
