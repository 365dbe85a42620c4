"""Run every probe once, and probe the forge and the state folder: its disk, the journal, the worker.

Rule: probes change nothing.
"""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from asbuilt.cli.commands.doctor.facts import (
    Facts,
    FleetFacts,
    ForgeFacts,
    LooseFacts,
    StoreFacts,
    Tried,
    Trouble,
    WorkerFacts,
)
from asbuilt.cli.commands.doctor.gate import look_at_gate
from asbuilt.cli.commands.doctor.machine import (
    look_at_clock,
    look_at_power,
    look_at_reach,
    look_at_sandbox,
    moment,
)
from asbuilt.cli.commands.doctor.programs import look_for_agents, version_of
from asbuilt.cli.commands.doctor.repository import look_at_git, look_at_tests, trouble_of, try_tests
from asbuilt.errors import ForgeFailed, GitFailed, NotFound, StoreFailed
from asbuilt.flows.fleet import labels_of, large_blobs
from asbuilt.git.forge.branches import Remote
from asbuilt.git.forge.gh import Gh
from asbuilt.git.forge.github import open_forge
from asbuilt.git.repository import open_repository
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.home import Home, refuse_network
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.notices import unheard
from asbuilt.library.repository import find_repository, remote_of
from asbuilt.lifecycle.fleet import canonical, without_login
from asbuilt.settings import state_folder, survey
from asbuilt.settings.places import loose
from asbuilt.settings.running import command_in
from asbuilt.wiring import open_store, worker_pid

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from asbuilt.cli.shell.options import Door
    from asbuilt.flows.environments.terms import Given
    from asbuilt.journal.notices import Unheard
    from asbuilt.settings import Settings


_KNOWN_SCHEMA: Final = STEPS[-1].number


def look_at_store(home: Home, settings: Settings) -> StoreFacts:
    """Return where the journal is, its schema or error, and the free disk space."""
    schema, trouble = None, None
    try:
        refuse_network(home.path)
        schema = _schema(home, settings)
    except StoreFailed as error:
        trouble = trouble_of(error)
    return StoreFacts(
        database="Postgres" if settings.text("store.url") else "SQLite",
        free_bytes=_free(home.path),
        schema=schema,
        known_schema=_KNOWN_SCHEMA,
        trouble=trouble,
    )


def look_at_notices(home: Home, settings: Settings) -> tuple[Unheard, ...]:
    """Return notification channels whose last message failed; empty without a readable journal."""
    try:
        if _schema(home, settings) != _KNOWN_SCHEMA:
            return ()
        with closing(open_store(home, settings)) as store, store.read() as session:
            return tuple(unheard(session, LOCAL))
    except StoreFailed:
        return ()


def look_at_worker(home: Home) -> WorkerFacts:
    """Return whether a process holds the worker's lock, and its id."""
    pid = worker_pid(home)
    return WorkerFacts(running=pid is not None, pid=pid or None)


def _schema(home: Home, settings: Settings) -> int | None:
    if not settings.text("store.url") and not home.journal.exists():
        return None
    with closing(open_store(home, settings)) as store:
        return store.version()


def _free(folder: Path) -> int | None:
    there = next((one for one in (folder, *folder.parents) if one.exists()), None)
    try:
        return shutil.disk_usage(there).free if there else None
    except OSError:
        return None


def look(door: Door, *, tests: Given | None = None) -> Facts:
    """Collect the facts. With `tests`, what checks get besides a checkout, the tests run, too."""
    began = moment()
    repository = find_repository(door.start)
    settings, problems = survey(repository=repository.root if repository else None, environ=door.environ)
    home = Home(state_folder(door.environ))
    git = look_at_git(door.start, door.environ)
    sandbox = look_at_sandbox(required=settings.flag("sandbox.required"))
    suite = look_at_tests(settings)
    if tests is not None and git.has_commits:
        setup = command_in(settings, "checks.setup")
        suite = (
            try_tests(suite, door.start, setup=setup, hidden=home.path, given=tests)
            if sandbox.holds or not sandbox.required
            else replace(suite, tried=Tried(outcome="NOT_RUN", why="no sandbox holds them"))
        )
    agents = look_for_agents(door.environ)
    gate = look_at_gate(door.environ)
    uses_claude = any(agent.name == "claude" for agent in agents.found)
    return Facts(
        git=git,
        settings=tuple(trouble_of(problem) for problem in problems),
        agents=agents,
        sandbox=sandbox,
        reach=look_at_reach(door.environ, settings) if sandbox.level == "bwrap" else None,
        gate=gate if gate.installed or uses_claude else None,
        tests=suite,
        store=look_at_store(home, settings),
        worker=look_at_worker(home),
        power=look_at_power(inhibit=settings.flag("power.inhibit")),
        clock=look_at_clock(began),
        forge=look_at_forge(door.start, door.environ, wanted=settings.text("landing.mode") == "pr"),
        fleet=look_at_fleet(home, settings, door.start, door.environ),
        loose=LooseFacts(paths=tuple(map(str, paths))) if (paths := loose(door.environ)) else None,
        unheard=look_at_notices(home, settings),
    )


def look_at_fleet(
    home: Home, settings: Settings, start: Path, environ: Mapping[str, str]
) -> FleetFacts | None:
    """Return what a fleet shares, and what of it cannot be reached; None on a journal of one machine."""
    if not settings.text("store.url"):
        return None
    joined, place = labels_of(home), settings.text("store.blobs")
    seen = FleetFacts(labels=None if joined is None else tuple(sorted(joined)), large=place)
    troubles: list[Trouble] = []
    try:
        large = large_blobs(home, settings, environ)
        if large is not None:
            large.check()
    except StoreFailed as error:
        troubles.append(trouble_of(error))
    try:
        repository = open_repository(start)
    except (NotFound, GitFailed):
        return replace(seen, troubles=tuple(troubles))
    url = remote_of(repository.common) or ""
    remote = canonical(url)
    for address in filter(None, (url, settings.text("fleet.attempts"))) if remote else ():
        try:
            Remote.at(repository, without_login(address), environ).listed("HEAD")
        except ForgeFailed as error:
            troubles.append(trouble_of(error))
    return replace(seen, has_repository=True, remote=remote, troubles=tuple(troubles))


def look_at_forge(start: Path, environ: Mapping[str, str], *, wanted: bool) -> ForgeFacts | None:
    """Return where pull requests would be opened; None if there is no forge and none is `wanted`.

    Rule: gh's login is checked offline, and its token is not read.
    """
    if shutil.which("git") is None:
        return None
    try:
        address = open_forge(open_repository(start), environ).address
    except (NotFound, GitFailed):
        return None
    except ForgeFailed as error:
        return ForgeFacts(wanted=wanted, trouble=trouble_of(error)) if wanted else None
    host = address.partition("/")[0]
    path = environ.get("PATH", os.defpath)
    program = shutil.which("gh", path=path)
    if program is None and not wanted:
        return None
    seen = ForgeFacts(wanted=wanted, host=host, version=version_of(program, path) if program else None)
    try:
        Gh(host=host, environment=environ).require_login()
    except ForgeFailed as error:
        return replace(seen, trouble=trouble_of(error))
    return seen
