"""Order a run of the fleet: everything that another machine needs, in place of this checkout.

Rule: the run builds on commits that the remote has. A branch with commits that were not pushed is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import structs

from asbuilt.errors import GateStopped
from asbuilt.events.options import FleetOrder, RunOptions
from asbuilt.flows.enroll import shared_name
from asbuilt.git import commits
from asbuilt.git.forge.branches import Remote
from asbuilt.git.repository import Repository, tip
from asbuilt.library.repository import remote_of
from asbuilt.lifecycle.fleet import without_login

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Store

_KINDS: Final = ("run", "land", "undo")


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
