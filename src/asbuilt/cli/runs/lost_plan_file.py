"""The way back to a plan whose file is gone: git has it, or the journal has its text.

Rule: nothing is ever overwritten.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

from asbuilt.errors import AsbuiltError, NotFound
from asbuilt.journal.home import machine
from asbuilt.journal.queries.recorded_text import recorded_text

if TYPE_CHECKING:
    from asbuilt.cli.shell.run_context import Site
    from asbuilt.journal.queries.overview import RunView
    from asbuilt.journal.runs import Run


_OF_PLANS: Final = ("run", "land", "undo")
"""Kinds of run that a plan has after it was written."""


def file_of(root: Path, plan: str) -> Path:
    """Return the path of a plan's file in a checkout, or in the user's own folder."""
    return root / Path(plan).expanduser()


def is_lost(root: Path | None, plan: str) -> bool:
    """Return whether a plan's file is gone, as far as it can be known from here."""
    return root is not None and root.is_dir() and not file_of(root, plan).is_file()


def root_of(view: RunView) -> Path | None:
    """Return the checkout that has the plan's file of a run; None if it is on another machine."""
    return Path(view.run.options.checkout) if view.run.options.host in ("", machine()) else None


def bringing_back(root: Path | None, plan: str, slug: str, *, otherwise: str = "") -> str:
    """Return the command that brings the file back: from HEAD, else from the text that runs recorded.

    `otherwise`: the command where no text is recorded, as after an authoring that gave up.
    """
    if root is not None and _is_committed(root, plan):
        # The pathspec is that of the root, so that the command works in every folder.
        return f"git checkout HEAD -- {quote(f':/{plan}')}"
    return otherwise or restoring(slug)


def restoring(slug: str) -> str:
    """Return the command that writes the text which runs recorded."""
    return f"asbuilt plan open {slug} --restore"


def _is_committed(root: Path, plan: str) -> bool:
    from asbuilt.git.repository import open_repository, resolve  # noqa: PLC0415  it starts git
    from asbuilt.git.trees import file_in  # noqa: PLC0415

    try:
        repository = open_repository(root)
        head = None if file_of(Path(), plan).is_absolute() else resolve(repository, "HEAD")
        return head is not None and file_in(repository, head, plan) is not None
    except AsbuiltError:  # without git, or with a damaged repository, the journal still has the text
        return False


def refuse_without_file(site: Site, run: Run) -> None:
    """Raise if a plan's newest run is over or paused, its file is gone, and its text is recorded."""
    waits = run.is_over or run.state == "paused"
    root = site.repository.root if site.has_clone else None
    if run.options.kind not in _OF_PLANS or not waits or not is_lost(root, run.plan):
        return
    with site.journal.store.read() as session:
        recorded = recorded_text(session, run.address)
    if recorded:
        raise NotFound(
            f"the plan's file {run.plan} is gone",
            why="A run reads its plan's file. asbuilt or git still has the text.",
            next_step=f"`{bringing_back(root, run.plan, run.options.slug)}`",
        )
