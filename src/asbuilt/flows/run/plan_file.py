"""The plan file of a run: on the target, to be committed with a landing, or in the checkout.

Rule: a file that is untracked or has uncommitted edits is edited in place and never committed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from asbuilt.errors import NotFound
from asbuilt.git import commits
from asbuilt.git.landing.candidates import Edit
from asbuilt.git.repository import Repository, checkouts, path_state
from asbuilt.git.trees import file_in
from asbuilt.journal.queries.recorded_text import recorded_text
from asbuilt.library.atomic_files import clear_away, replace
from asbuilt.library.bounded_read import read_bytes
from asbuilt.library.read_plan import marked_done
from asbuilt.plan.markdown.source import digest
from asbuilt.plan.model import Plan
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.flows.run.record import Record


_OF_PROVEN_WORK: Final = ("land", "undo")
"""Kinds of run that need the plan's text only to compare and to mark it."""


class Document:
    """The plan of one run."""

    def __init__(self, record: Record, repository: Repository) -> None:
        self._record = record
        self._run = record.run
        self._repository = repository
        self._order = self._run.options.fleet
        self._file = Path(self._run.options.checkout) / Path(self._run.plan).expanduser()

    def read(self) -> bytes:
        """Return its bytes in the checkout that the run was started from; of a fleet's run, as ordered.

        A landing or an undo of a plan whose file is gone reads the text that its last run recorded.
        """
        if self._order is not UNSET:
            return self._record.blobs.get(self._order.plan)
        try:
            return read_bytes(self._file, name=self._run.plan)
        except NotFound as error:
            recorded = self._recorded()
            if recorded and self._run.options.kind in _OF_PROVEN_WORK:
                return self._record.blobs.get(recorded)
            back = (
                f"asbuilt plan open {self._run.options.slug} --restore" if recorded else "asbuilt plan list"
            )
            raise NotFound(
                f"the plan's file {self._run.plan} is gone",
                why="It was moved or deleted since the run was requested, and a run reads it at each phase.",
                next_step=f"`{back}`",
            ) from error

    def _recorded(self) -> str:
        with self._record.store.read() as session:
            return recorded_text(session, self._run.address)

    def marked(self, plan: Plan) -> frozenset[str]:
        """Return the phases that it, or the progress document that it names, marks as done."""
        marked = marked_done(self._file.parent, str(self._file)) if self._order is UNSET else None
        return plan.marked_done if marked is None else marked

    def committed(self, at: str) -> bytes | None:
        """Return its bytes at a commit if a change may be committed there; else None."""
        if self._order is UNSET and self._state() != "clean":
            return None
        there = file_in(self._repository, at, self._run.plan)
        if self._order is UNSET or there is None:
            return there
        return there if read(there).intent == read(self.read()).intent else None

    def edit(self, after: bytes, subject: str, also: Mapping[str, bytes] = MappingProxyType({})) -> Edit:
        """Return the commit that changes it, and `also` other files."""
        message = commits.message_for(subject, Asbuilt_Run=self._run.run)
        return Edit(files={self._run.plan: after, **also}, message=message, by=self._record.author())

    def splice(self, change: Callable[[bytes], bytes]) -> None:
        """Change it in place; a file that is gone stays so."""
        if self._order is not UNSET or not self._file.is_file():
            return
        before = self.read()
        after = change(before)
        if after != before:
            replace(self._file, after, expected=digest(before))
        # A worker killed here leaves a hidden file: a part of the new contents, or the old contents.
        clear_away(self._file, is_known=lambda left: after.startswith(left) or change(left) == after)

    def _state(self) -> str:
        if not self._run.is_in_repository:
            return "untracked"
        here = Path(self._run.options.checkout).resolve()
        checkout = next(
            (candidate for candidate in checkouts(self._repository) if candidate.path.resolve() == here), None
        )
        return "missing" if checkout is None else path_state(checkout, self._run.plan)
