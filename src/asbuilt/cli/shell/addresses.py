"""Typed addresses: `rate-limit`, `rate-limit.1`, `rate-limit.1.2a`, `rate-limit.1.2a.2`, `shop:rate-limit`.

Rule: a name means one plan. In a shared journal, `rate-limit` is found if one repository has it, also without
a clone of it, and `shop:rate-limit` in that one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt import wiring
from asbuilt.errors import NameMisspelt, NotFound, UsageWrong
from asbuilt.journal import approvals, repositories
from asbuilt.journal.engine import fleet
from asbuilt.journal.engine.workers import earlier
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries import plan_names
from asbuilt.journal.queries.plan_names import Known
from asbuilt.library.repository_discovery import Repository
from asbuilt.library.search_path import Library, plans
from asbuilt.similar_names import nearest

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session, Store

_LOST_S: Final = 60.0
_NOWHERE: Final = "Neither the journal nor the plan folders have a plan of that name."


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
        return any(
            member.slots for member in fleet.members(session, LOCAL, since=earlier(session.now, _LOST_S))
        )


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
            next_step=f"`asbuilt status {typed[0]}`",
        )
    return found[0] if found else None


def located(
    journal: wiring.Journal, checkout: Repository | None, text: str | None
) -> tuple[str | None, Repository | None]:
    """Return the journal's ID of a repository, and its checkout.

    Outside a checkout, and for `shop:rate-limit`, a shared journal finds it by `text`, without a checkout.
    """
    name = named(text) if text else None
    if checkout is None or (name is not None and name.repo):
        return repository_of(journal.store, name), None
    return wiring.known_repository(journal, checkout), checkout


# A plan's name has no dot. A path has a dot before its suffix, and no number after it.
_DOTTED: Final = re.compile(
    r"(?P<plan>.+?)\.(?P<run>[1-9][0-9]*)(\.(?P<phase>[^.]+)(\.(?P<attempt>[1-9][0-9]*v?))?)?"
)


class Named(NamedTuple):
    """The parts of a dotted address."""

    plan: str
    run: int | None = None
    phase: str | None = None
    attempt: str | None = None
    """The number of the attempt; a verifier's ends with `v`."""
    repo: str | None = None
    """The name of another repository: `shop:rate-limit`."""


def named(text: str) -> Named:
    """Split an address into its parts."""
    lead, _, below = text.rpartition(":")
    repo, below = (lead, below) if lead else (None, text)
    found = _DOTTED.fullmatch(below)
    if found is None:
        return Named(below, repo=repo)
    return Named(found["plan"], int(found["run"]), found["phase"], found["attempt"], repo)


def slug_of(text: str) -> str:
    """Normalize typed text to the spelling of plan names."""
    return text.removesuffix(".md").casefold().replace("_", "-")


def matching(text: str, names: Sequence[str]) -> list[str]:
    """Return the names that a text selects: the exact match, else every name that contains it."""
    wanted = slug_of(text)
    return [name for name in names if name == wanted] or [name for name in names if wanted and wanted in name]


def recorded(session: Session, repo: str, text: str, library: Library | None = None) -> list[Known]:
    """Return the plans of a journal that a text selects: by path or name, else by a part of the name.

    A plan of the library with exactly this name, which has not run, goes before a part of another name.
    """
    found = plan_names.called(session, LOCAL, repo, path=text, slug=slug_of(text))
    if found or (library is not None and any(plan.slug == slug_of(text) for plan in plans(library))):
        return found
    known = plan_names.recent(session, LOCAL, repo)
    slugs = matching(text, [known_plan.slug for known_plan in known])
    return [known_plan for known_plan in known if known_plan.slug in slugs]


def the_recorded(store: Store, repo: str, text: str, library: Library | None = None) -> str | None:
    """Return the only plan of a journal that a text selects; None if there is none."""
    with store.read() as session:
        found = recorded(session, repo, text, library)
    if len(found) > 1:
        raise several(text, [known_plan.plan for known_plan in found])
    return found[0].plan if found else None


def several(text: str, plans: Sequence[str]) -> UsageWrong:
    """Build the error for a name that is part of several plans."""
    return UsageWrong(
        f'"{text}" is part of {len(plans)} plans: {", ".join(plans)}',
        why="Several plans match.",
        next_step=f"`asbuilt status {plans[0]}`",
    )


def missing(text: str, known: Sequence[str], shelf: Sequence[str]) -> NotFound:
    """Build the error for a name that neither the journal nor the plan folders have."""
    close = nearest(text, known) or nearest(text, shelf)
    if not close:
        return NotFound(
            f'no plan "{text}"',
            why=_NOWHERE,
            next_step="`asbuilt plan list`",
        )
    look = "status" if close in known else "plan show"
    return NameMisspelt(
        f'no plan "{text}". Did you mean {close}?',
        typed=text,
        meant=close,
        why=_NOWHERE,
        next_step=f"`asbuilt {look} {close}`",
    )


def never_ran(text: str, *, ends: bool = False) -> NotFound:
    """Build the error for a plan or run that the journal does not know.

    `ends`: the user wants to end or revert it, so starting it is only the alternative.
    """
    run = f"`asbuilt run {named(text).plan}`"
    return NotFound(
        f"{text} has not been run here",
        why="There is no run of it to show, stop or land.",
        next_step=f"`asbuilt status {named(text).plan}`, or start it: {run}" if ends else run,
    )
