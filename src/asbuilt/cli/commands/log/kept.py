"""Find attempts and their kept files. Read-only."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET

from asbuilt.cli.shell.addresses import named, never_ran
from asbuilt.cli.shell.site import Site, look_at
from asbuilt.errors import NotFound
from asbuilt.git.forge.branches import Remote
from asbuilt.git.workspace import snapshots
from asbuilt.journal import runs
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.overview import AttemptView, attempts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.cli.shell.options import Door


class Kept(NamedTuple):
    """An attempt and the commit with its files; None if not kept yet, or deleted after landing."""

    attempt: AttemptView
    commit: str | None

    @property
    def ref(self) -> str:
        """The git ref that keeps its files."""
        return snapshots.ATTEMPTS + self.attempt.id


def every(site: Site, plan: str | None, environ: Mapping[str, str]) -> list[Kept]:
    """Return the attempts of one plan or of all, newest first."""
    with site.journal.store.read() as session:
        rows = session.rows(
            "SELECT plan FROM heads WHERE org = :org AND repo = :repo", org=LOCAL, repo=site.repo
        )
        addresses = (
            [site.address(named(plan).plan)]
            if plan is not None
            else [Address(LOCAL, site.repo, row["plan"]) for row in rows]
        )
        found = [one for address in addresses for one in attempts_of(session, site.journal.blobs, address)]
    found.sort(key=lambda one: one.facts.began_at, reverse=True)
    _fetch(site, found, environ)
    return [Kept(one, snapshots.kept(site.repository, one.id)) for one in found]


def _fetch(site: Site, attempts: list[AttemptView], environ: Mapping[str, str]) -> None:
    """Fetch what workers of the fleet have pushed and is not here; attempts of other runs are here."""
    missing = {one.id for one in attempts if snapshots.kept(site.repository, one.id) is None}
    with site.journal.store.read() as session:
        found = [runs.find(session, LOCAL, site.repo, one.partition(".")[0]) for one in missing]
    orders = {run.options.fleet for run in found if run is not None and run.options.fleet is not UNSET}
    for order in orders:
        remote = Remote.at(site.repository, order.attempts or order.remote, environ)
        refs = remote.listed(*(snapshots.ATTEMPTS + one for one in sorted(missing)))
        remote.fetch_refs(dict(zip(refs, refs, strict=True)))


def the_kept(door: Door, name: str) -> tuple[Site, Kept, str]:
    """Find an attempt by its address, and the commit with its files."""
    _, site = look_at(door, name)
    if site is None:
        raise never_ran(name)
    name = name.rpartition(":")[2]
    listed = {one.attempt.name: one for one in every(site, named(name).plan, door.environ)}
    if name not in listed:
        near = get_close_matches(name, listed, n=1)
        raise NotFound(
            f'no attempt "{name}"' + (f". Did you mean {near[0]}?" if near else ""),
            why="An attempt's address is plan, run, phase and number, with dots in between.",
            next_step="`asbuilt log --attempts` lists every attempt.",
        )
    found = listed[name]
    if found.commit is None:
        raise NotFound(
            f"nothing is kept of {name}",
            why=f"{found.ref} does not exist: the attempt is running, or was deleted after its landing.",
            next_step="`asbuilt log --attempts` lists what is kept.",
        )
    return site, found, found.commit
