"""A worker's share in a fleet: its labels, the variables that it has values for, and what it serves.

Rule: values stay in a file of the worker's state folder that only its user can read. The database gets the
names.

To open a run of the fleet, a worker needs its repository, its shared refs and an environment. Rule: the run
builds on commits that the remote has. A branch with commits that were not pushed is refused.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import structs

from asbuilt.errors import GateStopped
from asbuilt.events.options import FleetOrder, RunOptions, TeamMember
from asbuilt.flows.engine.fleet_claims import Taking
from asbuilt.flows.registration import shared_name
from asbuilt.flows.run import environment
from asbuilt.git import commits
from asbuilt.git.fleet import SharedRefs, evict
from asbuilt.git.forge.branches import Remote
from asbuilt.git.repository import Repository, tip
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.home import Home, machine
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.runs import Run
from asbuilt.journal.shared_blobs import Large, open_large
from asbuilt.library.repository_discovery import remote_of
from asbuilt.lifecycle.fleet import Offer, without_login
from asbuilt.session.conversation import put
from asbuilt.settings import Settings

if TYPE_CHECKING:
    from asbuilt.flows.engine.dbos import Engine
    from asbuilt.flows.engine.fence import Fenced
    from asbuilt.journal.database.store import Store

_JOINED: Final = "fleet.json"
_SECRETS: Final = "fleet-secrets.json"
_GIGABYTE: Final = 1_000_000_000
_OPEN: Final = 200
"""Most executions whose shared refs are remembered; one that is forgotten reads them again."""
_KINDS: Final = ("run", "land", "undo")


def join(home: Home, labels: Iterable[str]) -> None:
    """Record that the worker of this state folder takes runs of the fleet, with these labels."""
    put(str(home.path), _JOINED, json.dumps({"labels": sorted(set(labels))}))


def leave(home: Home) -> bool:
    """Record that the worker takes no runs of the fleet; return False if it took none."""
    is_joined = (home.path / _JOINED).exists()
    (home.path / _JOINED).unlink(missing_ok=True)
    return is_joined


def labels_of(home: Home) -> frozenset[str] | None:
    """Return the labels of this folder's worker; None if it has not joined the fleet."""
    joined = _read(home.path / _JOINED)
    return None if joined is None else frozenset(joined["labels"])


def offer(home: Home, environ: Mapping[str, str]) -> Offer | None:
    """Return what the worker offers now: its labels, and the names of its variables; None if it has left."""
    labels = labels_of(home)
    return None if labels is None else Offer(labels, frozenset({*environ, *secrets(home)}))


def secrets(home: Home) -> dict[str, str]:
    """Return the secrets of this worker by name."""
    return dict(_read(home.path / _SECRETS) or {})


def set_secret(home: Home, name: str, value: str | None) -> bool:
    """Set a secret, or remove it; return whether there was one."""
    known = secrets(home)
    was = name in known
    if value is not None:
        known[name] = value
    else:
        known.pop(name, None)
    put(str(home.path), _SECRETS, json.dumps(known))
    return was


def _read(file: Path) -> dict[str, Any] | None:
    try:
        values: dict[str, Any] = json.loads(file.read_bytes())
    except FileNotFoundError:
        return None
    return values


def large_blobs(home: Home, settings: Settings, environ: Mapping[str, str]) -> Large | None:
    """Open the shared place for large blobs; None if there is none. Its login may be a worker's secret."""
    place = settings.text("store.blobs") if settings.text("store.url") else ""
    return open_large(place, {**environ, **secrets(home)}) if place else None


def taking_of(home: Home, store: Store, engine: Engine, settings: Settings, lost_s: float) -> Taking | None:
    """Return what takes runs of the fleet, after old mirrors were deleted; None if it has not joined."""
    if not store.is_shared or labels_of(home) is None:
        return None
    evict(home.path / "mirrors", budget=settings.number("fleet.mirrors_gb") * _GIGABYTE)
    return Taking(store, engine, lambda: offer(home, os.environ), org=LOCAL, lost_s=lost_s)


class Openings:
    """The runs of the fleet that this worker has open."""

    def __init__(self, home: Home, environ: Mapping[str, str]) -> None:
        self._home = home
        self._environ = environ
        self._shared: dict[tuple[str, int], SharedRefs] = {}

    def open(self, run: Run, order: FleetOrder, mirror: Repository, fenced: Fenced) -> tuple[Run, SharedRefs]:
        """Open a run in the mirror; the first move of each execution reads what other workers have pushed."""
        environ = {**self._environ, **secrets(self._home)}
        agents = {role: _member(member, environ) for role, member in run.options.agents.items()}
        options = structs.replace(run.options, checkout=str(mirror.root), agents=agents)
        key = (fenced.segment.workflow, fenced.token)
        if key not in self._shared:
            environment.keep_own(self._home.runs / run.run, environ, options)
            shared = SharedRefs(
                remote=Remote.at(mirror, order.remote, environ),
                attempts=Remote.at(mirror, order.attempts or order.remote, environ),
                run=run.run,
                slug=options.slug,
                branch=options.branch,
            )
            # Only the run's own chain of segments moves the plan's branch, and lanes work beside it.
            is_first = not any(shared_refs.run == run.run for shared_refs in self._shared.values())
            earlier = [options.continues] if isinstance(options.continues, str) else ()
            shared.fetch(earlier, with_plan=is_first or not fenced.segment.lane)
            self._shared[key] = shared
            while len(self._shared) > _OPEN:
                del self._shared[next(iter(self._shared))]
        return run._replace(options=options), self._shared[key]


def _member(member: TeamMember, environ: Mapping[str, str]) -> TeamMember:
    """Return an agent with its program as this machine has it."""
    # By name only: a path of the machine that asked would start whatever is there on this one.
    command = member.program.command
    found = shutil.which(Path(command[0]).name, path=environ.get("PATH")) if command else None
    if not command:
        return member
    if found is None:
        raise GateStopped(
            f"{Path(command[0]).name}, the agent {member.name}, is not installed on the worker {machine()}",
            why="A run of the fleet starts agents that its worker finds on its PATH.",
            next_step=f"Install {Path(command[0]).name} there, then: `asbuilt run`",
        )
    return structs.replace(member, program=structs.replace(member.program, command=(found, *command[1:])))


def is_fleets(store: Store, repository: Repository, options: RunOptions) -> bool:
    """Return whether any machine may work on a run; other runs stay on the machine that asks."""
    return options.kind in _KINDS and shared_name(store, repository.common) is not None


def ordered(  # noqa: PLR0913 - an order has these parts
    store: Store,
    blobs: Blobs,
    repository: Repository,
    options: RunOptions,
    *,
    plan: bytes,
    environ: Mapping[str, str],
    attempts: str = "",
    labels: tuple[str, ...] = (),
) -> RunOptions:
    """Return the options of a run as the fleet needs them; as they are, where a run stays on its machine."""
    if not is_fleets(store, repository, options):
        return options
    url = without_login(remote_of(repository.common) or "")
    _need_pushed(repository, url, options.branch, environ)
    author = commits.author_of(repository)
    order = FleetOrder(
        remote=url,
        plan=blobs.put(plan),
        author=(author.name, author.email),
        attempts=without_login(attempts),
        labels=labels,
    )
    return structs.replace(options, checkout="", fleet=order)


def _need_pushed(repository: Repository, url: str, branch: str, environ: Mapping[str, str]) -> None:
    pushed = Remote.at(repository, url, environ).fetch(branch)
    here = tip(repository, f"refs/heads/{branch}")
    if pushed is not None and (here is None or commits.contains(repository, pushed, here)):
        return
    missing = "it has no such branch" if pushed is None else f"{(here or '')[:10]} is only in this clone"
    raise GateStopped(
        f"the remote does not have all of {branch}: {missing}",
        why="Workers on other machines build on what the remote has.",
        next_step=f"`git push origin {branch}`, then run again.",
    )
