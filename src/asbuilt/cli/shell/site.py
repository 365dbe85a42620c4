"""Common setup of the commands about runs: the repository, its journal, and the named run.

Rule: reading creates nothing. Only a command that requests something creates a missing journal.
"""

from __future__ import annotations

import getpass
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt import wiring
from asbuilt.cli.shell.addresses import never_ran, several
from asbuilt.cli.shell.desk import Desk, desk_for
from asbuilt.errors import UsageWrong
from asbuilt.flows.enroll import enrol, known
from asbuilt.flows.requests import Asker
from asbuilt.git.locks import need_writable
from asbuilt.git.repository import open_repository
from asbuilt.journal import runs
from asbuilt.journal.home import machine
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries import plan_names
from asbuilt.journal.queries.overview import run_view
from asbuilt.library.finding import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.cli.shell.options import Door
    from asbuilt.git.repository import Repository
    from asbuilt.journal.queries.overview import RunView
    from asbuilt.journal.runs import Run

_RUN: Final = re.compile(r"(?P<plan>.+)\.(?P<number>[1-9][0-9]*)")


class Site(NamedTuple):
    """A repository and its journal."""

    desk: Desk
    repository: Repository
    journal: wiring.Journal
    repo: str
    lead: str = ""
    """Prefix of question names of another repository: `shop-api:`."""

    def address(self, name: str) -> Address:
        """Find a plan by name: one with a journal, even if its file was deleted, else a file."""
        with self.journal.store.read() as session:
            found = plan_names.called(session, LOCAL, self.repo, path=name, slug=name)
            if not found and name:
                found = [one for one in plan_names.recent(session, LOCAL, self.repo) if name in one.slug]
        parts = [one.plan for one in found]
        if len(parts) == 1:
            return Address(LOCAL, self.repo, parts[0])
        if parts:
            raise several(name, parts)
        return Address(LOCAL, self.repo, find(self.desk.library, name).shown)

    def listed(self, name: str) -> tuple[Address, list[Run]]:
        """Find a plan and its runs, newest first; `rate-limit.2` selects one run."""
        numbered = _RUN.fullmatch(name)
        address = self.address(numbered["plan"] if numbered else name)
        with self.journal.store.read() as session:
            found = runs.of_plan(session, address)
        return address, [run for run in found if numbered is None or run.number == int(numbered["number"])]

    def run(self, name: str) -> Run:
        """Find a run: `rate-limit.2`, or the newest of `rate-limit`."""
        _, listed = self.listed(name)
        if not listed:
            raise never_ran(name)
        return listed[0]

    def open_runs(self) -> list[Run]:
        """Return the runs that are not over."""
        with self.journal.store.read() as session:
            return runs.open_of(session, LOCAL, self.repo)

    def view(self, run: Run) -> RunView:
        """Return the current view of a run."""
        with self.journal.store.read() as session:
            found = runs.find(session, run.org, run.repo, run.run)
            return run_view(session, self.journal.blobs, found or run)


def the_only(able: Sequence[Run], verb: str) -> Run | None:
    """Return the only run that a command can mean, or None. Raise if there are several."""
    if len(able) > 1:
        slugs = sorted(run.options.slug for run in able)
        raise UsageWrong(
            f"{len(able)} runs can be meant: {', '.join(slugs)}",
            why="Which one cannot be told.",
            next_step=f"Name it: `asbuilt {verb} {slugs[0]}`",
        )
    return able[0] if able else None


def look_at(door: Door) -> tuple[Desk, Site | None]:
    """Open the journal for reading. No site if the journal has nothing about this repository."""
    desk = desk_for(door)
    if desk.library.repository is None:
        return desk, None
    journal = wiring.find_journal(desk.settings, door.environ)
    if journal is None:
        return desk, None
    repository = open_repository(desk.library.repository.root)
    repo = known(journal.store, repository)
    return desk, None if repo is None else Site(desk, repository, journal, repo)


def site_of(door: Door, name: str) -> Site:
    """Open the site for a command about something that has run; raise if nothing has."""
    _, site = look_at(door)
    if site is None:
        raise never_ran(name)
    return site


def open_site(door: Door) -> Site:
    """Open the site for a command that requests something. Creates the journal and the repository's id."""
    desk = desk_for(door)
    repository = open_repository(door.start)
    need_writable(repository)
    journal = wiring.open_journal(desk.settings, door.environ)
    return Site(desk, repository, journal, enrol(journal.store, repository))


def asker(door: Door) -> Asker:
    """Return who sends the request."""
    return Asker(getpass.getuser(), machine(), door.environ)
