"""Read a plan, with the statuses of the progress document that it names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from asbuilt.errors import NotFound, PlanUnreadable
from asbuilt.library.bounded_read import read_bytes
from asbuilt.library.progress_document import find_progress_document
from asbuilt.library.search_path import Library, PlanFile, describe, open_library
from asbuilt.plan.lint import Length
from asbuilt.plan.model import Plan
from asbuilt.plan.reader import read


class Opened(NamedTuple):
    """A parsed plan, its file, and the progress document that it names, if there is one."""

    at: PlanFile
    plan: Plan
    progress_document: tuple[PlanFile, Plan] | None


def open_plan(
    library: Library,
    at: PlanFile,
    *,
    ui_patterns: Sequence[str] = (),
    length: Length = Length.CONTROL,
) -> Opened:
    """Read a plan, and the progress document it names if that is in the same repository or folder."""
    data = read_bytes(at.file, name=at.shown)
    plan = read(data, ui_patterns=ui_patterns, length=length)
    beside = find_progress_document(library, at, plan)
    if beside is None:
        return Opened(at, plan, None)
    progress = read(read_bytes(beside.file, name=beside.shown))
    plan = read(data, progress_document=progress, ui_patterns=ui_patterns, length=length)
    return Opened(at, plan, (beside, progress))


def marked_done(folder: Path, plan: str) -> frozenset[str] | None:
    """Return the phases that a plan's file or its progress document marks as done; None if unreadable."""
    library = open_library(folder, home=Path.home())
    try:
        return open_plan(library, describe(library, Path(plan).expanduser())).plan.marked_done
    except (NotFound, PlanUnreadable):
        return None
