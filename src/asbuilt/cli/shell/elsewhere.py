"""Find a repository of a shared journal without a clone of it, and the workers of other machines.

Rule: a name means one plan. `rate-limit` is found if one repository has it, `shop:rate-limit` in that one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from asbuilt import wiring
from asbuilt.cli.shell.addresses import Named, recorded
from asbuilt.errors import UsageWrong
from asbuilt.journal import approvals, repositories
from asbuilt.journal.engine import fleet
from asbuilt.journal.engine.workers import earlier
from asbuilt.journal.ids import LOCAL

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session, Store

_LOST_S: Final = 60.0


def names(session: Session) -> dict[str, str]:
    """Name every repository by its folder; repositories with equal folder names get their ids."""
    folders = {known.repo: known.folder.name for known in repositories.every(session, LOCAL)}
    often = Counter(folders.values())
    named = {repo: folder if often[folder] == 1 else repo[:8] for repo, folder in folders.items()}
    return named | {repo: repo[:8] for repo in approvals.counted(session, LOCAL) if repo not in named}


def has_fleet(store: Store) -> bool:
    """Return whether a worker that takes runs of the fleet had a heartbeat within the last minute."""
    if not store.is_shared:
        return False
    with store.read() as session:
        return any(one.slots for one in fleet.members(session, LOCAL, since=earlier(session.now, _LOST_S)))


def is_served(journal: wiring.Journal) -> bool:
    """Return whether a worker is alive, here or in the fleet."""
    return wiring.worker_pid(journal.home) is not None or has_fleet(journal.store)


def repository_of(store: Store, name: Named | None) -> str | None:
    """Return the repository of a plan; without a name the only one. None if there is none, or several."""
    if not store.is_shared:
        return None
    with store.read() as session:
        known = names(session)
        if name is None:
            return next(iter(known)) if len(known) == 1 else None
        able = [repo for repo, called in known.items() if name.repo in (None, called)]
        found = [repo for repo in able if recorded(session, repo, name.plan)]
    if len(found) > 1:
        typed = [f"{known[repo]}:{name.plan}" for repo in found]
        raise UsageWrong(
            f"{len(found)} repositories have a plan {name.plan}: {', '.join(typed)}",
            why="You are in none of them.",
            next_step=f"Use one of these names, for example `asbuilt status {typed[0]}`",
        )
    return found[0] if found else None
