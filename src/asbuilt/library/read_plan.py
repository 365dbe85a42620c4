"""Read a plan, and the progress document that it names."""

from __future__ import annotations

from collections.abc import Sequence
from os import path
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.errors import NotFound, PlanUnreadable
from asbuilt.library.bounded_read import read_bytes
from asbuilt.library.repository import real
from asbuilt.library.search_path import Library, PlanFile, describe, is_inside, open_library
from asbuilt.plan.lint import Length
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.plan.model import Plan


class Opened(NamedTuple):
    """A parsed plan, its file, and the progress document that it names, if there is one."""

    at: PlanFile
    plan: Plan
    companion: tuple[PlanFile, Plan] | None


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
    companion = _companion(library, at, plan)
    if companion is None:
        return Opened(at, plan, None)
    other = read(read_bytes(companion.file, name=companion.shown))
    plan = read(data, companion=other, ui_patterns=ui_patterns, length=length)
    return Opened(at, plan, (companion, other))


def marked_done(folder: Path, plan: str) -> frozenset[str] | None:
    """Return the phases that a plan's file or its progress document marks as done; None if unreadable."""
    library = open_library(folder, home=Path.home())
    try:
        return open_plan(library, describe(library, Path(plan).expanduser())).plan.marked_done
    except (NotFound, PlanUnreadable):
        return None


def _companion(library: Library, at: PlanFile, plan: Plan) -> PlanFile | None:
    if plan.companion is None:
        return None
    root = library.repository.root if at.repository and library.repository is not None else at.file.parent
    # A name with spaces can be a command that ends with the document's name.
    names = dict.fromkeys((plan.companion, plan.companion.rpartition(" ")[2]))
    for file in (folder / name for name in names for folder in (at.file.parent, root)):
        # The name comes from an untrusted text: it must not lead out of the root.
        is_file = path.isfile(file)  # noqa: PTH113 - Path.is_file raises for a name that is too long
        if is_inside(file, root) and is_file and real(file) != real(at.file):
            return describe(library, file)
    return None
