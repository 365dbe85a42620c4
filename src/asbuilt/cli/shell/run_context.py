"""Common setup of the commands about runs: the repository, its journal, and the named run.

Rule: reading creates nothing. Only a command that requests something creates a missing journal.
"""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from asbuilt import wiring
from asbuilt.cli.shell.addresses import located, named, never_ran, the_recorded
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.plan_context import Desk, desk_for
from asbuilt.errors import UsageWrong
from asbuilt.flows.registration import enrol
from asbuilt.flows.requests import Asker
from asbuilt.git.fleet import open_mirror
from asbuilt.git.locks import need_writable
from asbuilt.git.repository import Repository, open_repository
from asbuilt.journal import runs
from asbuilt.journal.home import machine
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.overview import RunView, events_of, run_view
from asbuilt.journal.runs import Run
from asbuilt.library.name_resolution import find
from asbuilt.lifecycle.status.plan_state import Standing, fold_plan

Found = TypeVar("Found")


class Site(NamedTuple):
    """A repository and its journal."""

    desk: Desk
    repository: Repository
    journal: wiring.Journal
    repo: str
    lead: str = ""
    """Prefix of question names of another repository: `shop-api:`."""
    has_clone: bool = True
    """False: nothing of the repository is on this machine but an empty mirror."""

    def address(self, name: str) -> Address:
        """Find a plan by name: one with a journal, even if its file was deleted, else a file."""
        name = name.rpartition(":")[2]
        plan = the_recorded(self.journal.store, self.repo, name, self.desk.library)
        return Address(LOCAL, self.repo, plan or find(self.desk.library, name).shown)

    def listed(self, name: str) -> tuple[Address, list[Run]]:
        """Find a plan and its runs, newest first; `rate-limit.2` selects one run."""
        wanted = named(name)
        address = self.address(wanted.plan)
        with self.journal.store.read() as session:
            found = runs.of_plan(session, address)
        return address, [run for run in found if wanted.run in (None, run.number)]

    def run(self, name: str, *, ends: bool = False) -> Run:
        """Find a run: `rate-limit.2`, or the newest of `rate-limit`. `ends`: the command ends it."""
        _, listed = self.listed(name)
        if not listed:
            raise never_ran(name, ends=ends)
        return listed[0]

    def standing(self, address: Address) -> Standing:
        """Return what of a plan is proven, landed and reverted."""
        with self.journal.store.read() as session:
            return fold_plan(events_of(session, self.journal.blobs, address))

    def open_runs(self) -> list[Run]:
        """Return the runs that are not over."""
        with self.journal.store.read() as session:
            return runs.open_of(session, LOCAL, self.repo)

    def found(self, run: str) -> Run | None:
        """Find a run by its id."""
        with self.journal.store.read() as session:
            return runs.find(session, LOCAL, self.repo, run)

    def view(self, run: Run) -> RunView:
        """Return the current view of a run."""
        with self.journal.store.read() as session:
            found = runs.find(session, run.org, run.repo, run.run)
            return run_view(session, self.journal.blobs, found or run)


def the_only(able: Sequence[Found], slugs: Sequence[str], command: str) -> Found | None:
    """Return the only run or schedule that a command can mean, or None. Raise if there are several."""
    if len(able) > 1:
        names = sorted(slugs)
        raise UsageWrong(
            f"several plans match: {', '.join(names)}",
            why=f"asbuilt {command} works without a name only if one plan matches.",
            next_step=f"`asbuilt {command} {names[0]}`",
        )
    return able[0] if able else None


def look_at(door: Door, text: str | None = None) -> tuple[Desk, Site | None]:
    """Open the journal for reading. No site if the journal has nothing about this repository."""
    desk = desk_for(door)
    journal = wiring.find_journal(desk.settings, door.environ)
    repo, checkout = (None, None) if journal is None else located(journal, desk.library.repository, text)
    if journal is None or repo is None:
        return desk, None
    if checkout is None:
        return desk, site_elsewhere(desk, journal, repo, "")
    return desk, Site(desk, open_repository(checkout.root), journal, repo)


def site_elsewhere(desk: Desk, journal: wiring.Journal, repo: str, lead: str) -> Site:
    """Open a repository without a clone: its git is a mirror in the state folder, empty at first."""
    mirror = open_mirror(journal.home.path / "views", repo, "")
    return Site(desk, mirror, journal, repo, lead, has_clone=False)


def site_of(door: Door, name: str, *, ends: bool = False) -> Site:
    """Open the site for a command about something that has run; raise if nothing has.

    `ends`: the command ends or reverts it.
    """
    desk, site = look_at(door, name)
    if site is None:
        desk.open(named(name).plan)  # raises for an unknown plan
        if desk.library.repository is None:
            open_repository(door.start)  # raises with the way to a repository
        raise never_ran(name, ends=ends)
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
