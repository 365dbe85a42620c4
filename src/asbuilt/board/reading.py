"""What the board's pages read: the journal, the attempts' folders and git. Nothing is written."""

from __future__ import annotations

from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.agents import activity
from asbuilt.errors import AsbuiltError
from asbuilt.git.repository import Repository, open_repository
from asbuilt.journal import approvals, repositories, runs
from asbuilt.journal.approvals import Approval
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries.facts_cache import Folds
from asbuilt.journal.queries.overview import Marks, PlanView, plan_views
from asbuilt.journal.repositories import Known
from asbuilt.journal.runs import Run
from asbuilt.library.read_plan import marked_done

if TYPE_CHECKING:
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Transactions
    from asbuilt.journal.home import Home


class Here(NamedTuple):
    """A repository, its plans, its questions and its runs that wait for landing."""

    known: Known
    plans: list[PlanView]
    questions: list[Approval]
    to_land: list[Run]

    @property
    def name(self) -> str:
        """The name of the repository's folder."""
        return self.known.folder.name


class Reading(NamedTuple):
    """A journal and the time zone of the user."""

    home: Home
    store: Transactions
    blobs: Blobs
    zone: tzinfo | None
    folds: Folds
    """Facts that pages share, so that a page folds only events that no page has read."""

    @property
    def now(self) -> datetime:
        """The time at which a page is made."""
        return datetime.now(self.zone)

    def repositories(self) -> list[Here]:
        """Return every repository that has plans in the journal."""
        # The lock first: a snapshot older than a kept fold would have it folded again.
        with self.folds.held, self.store.read() as session:
            found = [
                Here(
                    known,
                    plan_views(session, self.blobs, LOCAL, known.repo, self.folds, marks=self.marks(known)),
                    approvals.waiting(session, LOCAL, known.repo),
                    runs.to_land(session, LOCAL, known.repo),
                )
                for known in repositories.every(session, LOCAL)
            ]
        return [place for place in found if place.plans]

    def marks(self, known: Known | None) -> Marks | None:
        """Return the reader of the marks in a repository's plan files; None if it is not on this machine."""
        return None if known is None or known.remote else partial(marked_done, Path(known.folder))

    def folder(self, attempt: str) -> Path:
        """Return the folder of an attempt; raises `ValueError` for a name that is none."""
        return activity.folder_of(self.home.path, attempt)

    def repository(self, repo: str) -> Repository | None:
        """Open a repository for reading; None if it is gone, not on this machine, or the fleet's."""
        with self.store.read() as session:
            known = repositories.find(session, LOCAL, repo)
        if known is None or known.remote is not None:
            return None
        try:
            return open_repository(Path(known.folder))
        except AsbuiltError:
            return None
