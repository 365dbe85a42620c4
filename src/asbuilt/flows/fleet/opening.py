"""Open a run of the fleet on this worker: its repository, its shared refs, and the worker's environment.

Rule: a run of the fleet builds on commits that the remote has. A branch with commits that were not pushed is
refused.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import structs

from asbuilt.errors import GateStopped
from asbuilt.events.options import FleetOrder, RunOptions, TeamMember
from asbuilt.flows.enroll import shared_name
from asbuilt.flows.fleet.membership import secrets
from asbuilt.flows.run import environment
from asbuilt.git import commits
from asbuilt.git.fleet import SharedRefs
from asbuilt.git.forge.branches import Remote
from asbuilt.git.repository import Repository, tip
from asbuilt.journal.home import Home, machine
from asbuilt.library.repository import remote_of
from asbuilt.lifecycle.fleet import without_login

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.flows.engine.fence import Fenced
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Store
    from asbuilt.journal.runs import Run

_OPEN: Final = 200
"""Most executions whose shared refs are remembered; one that is forgotten reads them again."""
_KINDS: Final = ("run", "land", "undo")


class Opened(NamedTuple):
    """A run as this worker performs it; its checkout is the mirror."""

    run: Run
    shared: SharedRefs


class Openings:
    """The runs of the fleet that this worker has open."""

    def __init__(self, home: Home, environ: Mapping[str, str]) -> None:
        self._home = home
        self._environ = environ
        self._shared: dict[tuple[str, int], SharedRefs] = {}

    def open(self, run: Run, order: FleetOrder, mirror: Repository, fenced: Fenced) -> Opened:
        """Open a run; the first move of each execution reads what other workers have pushed."""
        environ = {**self._environ, **secrets(self._home)}
        options = structs.replace(run.options, checkout=str(mirror.root), agents=_here(run.options, environ))
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
            is_first = not any(one.run == run.run for one in self._shared.values())
            earlier = [options.continues] if isinstance(options.continues, str) else ()
            shared.fetch(earlier, with_plan=is_first or not fenced.segment.lane)
            self._shared[key] = shared
            while len(self._shared) > _OPEN:
                del self._shared[next(iter(self._shared))]
        return Opened(run._replace(options=options), self._shared[key])


def _here(options: RunOptions, environ: Mapping[str, str]) -> dict[str, TeamMember]:
    """Return the agents of a run with their programs as this machine has them."""
    return {role: _member(member, environ) for role, member in options.agents.items()}


def _member(member: TeamMember, environ: Mapping[str, str]) -> TeamMember:
    # By name only: a path of the machine that asked would start whatever is there on this one.
    command = member.program.command
    found = shutil.which(Path(command[0]).name, path=environ.get("PATH")) if command else None
    if not command:
        return member
    if found is None:
        raise GateStopped(
            f"{Path(command[0]).name}, the agent {member.name}, is not installed on the worker {machine()}",
            why="A run of the fleet starts agents that its worker finds on its PATH.",
            next_step=f"Install {Path(command[0]).name} there, then run again.",
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
