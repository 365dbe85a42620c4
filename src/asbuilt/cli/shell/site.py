"""What every command about runs starts from: the repository, its journal, and what was named.

The one rule: looking makes nothing. Only a command that asks for something opens a journal that is not there.
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
    """What stands before the names of questions of another repository: `shop-api:`."""

    def address(self, name: str) -> Address:
        """Find a plan by what was typed: one that has a journal, also when its file is gone, else a file."""
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
        """Find a plan and its runs, the newest first; by `rate-limit.2`, only that one."""
        numbered = _RUN.fullmatch(name)
        address = self.address(numbered["plan"] if numbered else name)
        with self.journal.store.read() as session:
            found = runs.of_plan(session, address)
        return address, [run for run in found if numbered is None or run.number == int(numbered["number"])]

    def run(self, name: str) -> Run:
        """Find a run: `rate-limit.2`, or the newest one of `rate-limit`."""
        _, listed = self.listed(name)
        if not listed:
            raise never_ran(name)
        return listed[0]

    def open_runs(self) -> list[Run]:
        """List the runs that are not over."""
        with self.journal.store.read() as session:
            return runs.open_of(session, LOCAL, self.repo)

    def view(self, run: Run) -> RunView:
        """Tell how a run stands now."""
        with self.journal.store.read() as session:
            found = runs.find(session, run.org, run.repo, run.run)
            return run_view(session, self.journal.blobs, found or run)


def the_only(able: Sequence[Run], verb: str) -> Run | None:
    """Tell which run is meant when none is named: the only one it can be. Of two, none is picked."""
    if len(able) > 1:
        slugs = sorted(run.options.slug for run in able)
        raise UsageWrong(
            f"{len(able)} runs can be meant: {', '.join(slugs)}",
            why="Which one cannot be told.",
            next_step=f"Name it: `asbuilt {verb} {slugs[0]}`",
        )
    return able[0] if able else None


def look_at(door: Door) -> tuple[Desk, Site | None]:
    """Open what there is to look at; no site when nothing was ever written about this repository."""
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
    """Open the site of a command about something that has run."""
    _, site = look_at(door)
    if site is None:
        raise never_ran(name)
    return site


def open_site(door: Door) -> Site:
    """Open the site of a command that asks for something; now the repository gets its id, if it has none."""
    desk = desk_for(door)
    repository = open_repository(door.start)
    need_writable(repository)
    journal = wiring.open_journal(desk.settings, door.environ)
    return Site(desk, repository, journal, enrol(journal.store, repository))


def asker(door: Door) -> Asker:
    """Say who asks."""
    return Asker(getpass.getuser(), machine(), door.environ)
