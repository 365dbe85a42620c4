"""Find attempts and their kept files. Read-only."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.cli.shell.addresses import never_ran
from asbuilt.cli.shell.site import Site, look_at
from asbuilt.errors import NotFound
from asbuilt.git.workspace import snapshots
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.attempts import AttemptView, attempts_of

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door


class Kept(NamedTuple):
    """An attempt and the commit with its files; None if not kept yet, or deleted after landing."""

    attempt: AttemptView
    commit: str | None

    @property
    def ref(self) -> str:
        """The git ref that keeps its files."""
        return snapshots.ATTEMPTS + self.attempt.id


def every(site: Site, plan: str | None) -> list[Kept]:
    """Return the attempts of one plan or of all, newest first."""
    with site.journal.store.read() as session:
        rows = session.rows(
            "SELECT plan FROM heads WHERE org = :org AND repo = :repo", org=LOCAL, repo=site.repo
        )
        named = (
            [site.address(plan)]
            if plan is not None
            else [Address(LOCAL, site.repo, row["plan"]) for row in rows]
        )
        found = [one for address in named for one in attempts_of(session, site.journal.blobs, address)]
    found.sort(key=lambda one: one.facts.began_at, reverse=True)
    return [Kept(one, snapshots.kept(site.repository, one.id)) for one in found]


def the_kept(door: Door, name: str) -> tuple[Site, Kept, str]:
    """Find an attempt by its address, and the commit with its files."""
    _, site = look_at(door)
    if site is None:
        raise never_ran(name)
    listed = {one.attempt.name: one for one in every(site, None)}
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
