"""Common setup of the read-only commands: the journal, the repository in it, and the time.

Rule: these commands create nothing, start nothing, and do not import the plan parser.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from click.shell_completion import CompletionItem

from asbuilt import wiring
from asbuilt.agents import activity
from asbuilt.agents.activity import Signs
from asbuilt.cli.shell.addresses import (
    Named,
    is_served,
    located,
    matching,
    missing,
    named,
    never_ran,
    the_recorded,
)
from asbuilt.cli.shell.checkout import Checkout
from asbuilt.cli.shell.options import Door, door_of
from asbuilt.cli.ui.clock import now_in
from asbuilt.errors import AsbuiltError, NotFound
from asbuilt.events.attempts import AttemptBegun
from asbuilt.journal import runs
from asbuilt.journal.home import is_full
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries import plan_names
from asbuilt.journal.runs import Run
from asbuilt.library.name_resolution import refuse_unusable
from asbuilt.library.search_path import Library, library_around
from asbuilt.library.search_path import plans as shelved
from asbuilt.settings import Settings

if TYPE_CHECKING:
    from asbuilt.journal.queries.overview import RunView


class Seen(NamedTuple):
    """Facts about a run that the journal does not hold."""

    now: datetime
    last_activity_at: str | None = None
    """When the awaited agent last gave a sign."""
    is_served: bool = True
    """False: no worker is alive."""
    is_full: bool = False
    """True: the disk of the state folder is full."""


class Moment(NamedTuple):
    """The time of a query, and whether a worker is alive."""

    now: datetime
    is_served: bool
    """Whether a worker is alive, here or in the fleet."""
    state: Path
    """The state folder, which holds the folders of attempts."""
    checkout: Checkout | None = None
    """The checkout in which plan files are; None outside a repository."""

    @property
    def root(self) -> Path | None:
        """The folder of the checkout."""
        return None if self.checkout is None else self.checkout.root

    def seen(self, run: RunView | None) -> Seen:
        """Collect what the journal does not hold: the agent's last sign, the worker, and a full disk."""
        attempt = run.attempt if run else None
        active_at = activity.last_activity(activity.folder_of(self.state, attempt)) if attempt else None
        return Seen(
            self.now,
            None if active_at is None else active_at.isoformat(),
            is_served=self.is_served,
            is_full=is_full(self.state),
        )

    def signs(self, attempt: str | None) -> Signs:
        """Return the signs of life of an attempt."""
        return activity.signs_of(activity.folder_of(self.state, attempt)) if attempt else activity.Signs()


class Looking(NamedTuple):
    """A journal, and the current repository in it."""

    journal: wiring.Journal
    repo: str | None
    """None: the journal has nothing about the current repository."""
    library: Library
    moment: Moment

    def find(self, text: str) -> tuple[Address, Named]:
        """Find a plan in the journal by a typed address of it, or of a run, phase or attempt."""
        name = named(text)
        plan = the_recorded(self.journal.store, self.repo or "", name.plan, self.library)
        if plan is None:
            raise self._missing(name)
        return Address(LOCAL, self.repo or "", plan), name

    def run(self, text: str) -> Run:
        """Find a run: the named one, else the one that determines the state of its plan."""
        address, name = self.find(text)
        with self.journal.store.read() as session:
            listed = runs.of_plan(session, address)
        found = runs.standing([run for run in listed if name.run in (None, run.number)])
        if found is not None:
            return found
        if listed:
            raise NotFound(
                f"{name.plan} has no run {name.run}; the newest is {listed[0].number}",
                why="Runs of a plan are numbered from 1.",
                next_step=f"`asbuilt status {listed[0].options.slug}`",
            )
        raise never_ran(name.plan)

    def _missing(self, name: Named) -> NotFound:
        shelf = _names_on_shelf(self.library, name.plan)
        on_shelf = matching(name.plan, shelf)
        if on_shelf:
            return never_ran(on_shelf[0])
        with self.journal.store.read() as session:
            known = plan_names.recent(session, LOCAL, self.repo or "")
        return missing(name.plan, [known_plan.slug for known_plan in known], shelf)


def survey(door: Door, text: str | None = None) -> tuple[Library, Settings, Looking | None]:
    """Open library, settings and journal; the journal is None if nothing was ever run on this machine."""
    library, settings = library_around(door.start, door.environ)
    repository = library.repository
    journal = wiring.find_journal(settings, door.environ)
    if journal is None:
        return library, settings, None
    repo, _ = located(journal, repository, text)
    checkout = Checkout(repository.root, settings) if repository is not None else None
    moment = Moment(now_in(wiring.zone(settings)), is_served(journal), journal.home.path, checkout)
    return library, settings, Looking(journal, repo, library, moment)


def look(door: Door, text: str | None = None) -> tuple[Library, Looking | None]:
    """Open the library and the journal."""
    library, _, looking = survey(door, text)
    return library, looking


def look_for(door: Door, text: str) -> Looking:
    """Open the journal to find something that was named; raise `NotFound` if it has nothing here."""
    library, looking = look(door, text)
    if looking is None or looking.repo is None:
        plan = named(text).plan
        shelf = _names_on_shelf(library, plan)
        if any(plan_file.shown == plan for plan_file in shelved(library)) or len(matching(plan, shelf)) == 1:
            raise never_ran(plan)
        raise missing(plan, [], shelf)
    return looking


def _names_on_shelf(library: Library, typed: str) -> list[str]:
    """Return the names of the plan files. Raise if a file with no valid plan name was typed."""
    there = shelved(library)
    refuse_unusable(there, typed)
    return [plan.slug for plan in there if plan.slug]


def complete_address(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete addresses, newest first: plans, then runs, phases and attempts after their dots."""
    del parameter
    try:
        library, looking = look(door_of(context, json=True))
        known = [] if looking is None or looking.repo is None else _known(looking, incomplete)
    except AsbuiltError:  # completion cannot report errors
        return []
    shelf = [plan.slug for plan in shelved(library) if plan.slug]
    names = dict.fromkeys(name for name in (*known, *shelf) if name.startswith(incomplete))
    return [CompletionItem(name) for name in names]


def _known(looking: Looking, incomplete: str) -> list[str]:
    with looking.journal.store.read() as session:
        if "." not in incomplete:
            return [known.slug for known in plan_names.recent(session, LOCAL, looking.repo or "")]
        address, name = looking.find(incomplete.partition(".")[0])
        slug, listed = name.plan, runs.of_plan(session, address)
        rows = session.rows(
            "SELECT key FROM events WHERE org = :org AND repo = :repo AND plan = :plan AND kind = :kind"
            " ORDER BY seq DESC",
            **address._asdict(),
            kind=AttemptBegun.kind,
        )
    numbers = {run.run: run.number for run in listed}
    names = [f"{slug}.{run.number}" for run in listed]
    # The key of an attempt is `run/phase/number/begun/start`.
    for run, phase, number, *_ in (str(row["key"]).split("/") for row in rows):
        names += [f"{slug}.{numbers[run]}.{phase}", f"{slug}.{numbers[run]}.{phase}.{number}"]
    depth = incomplete.count(".")
    return [name for name in names if name.count(".") == depth]
