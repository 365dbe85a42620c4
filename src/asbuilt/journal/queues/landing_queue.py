"""The queue of runs that land on one branch of a repository, over all workers of the database.

Rule: the first in the queue lands, and only it. The transaction in which the first leaves writes the event of
the next run and makes it due. A row without a run serializes changes of the queue. It is locked before the
head row of any plan, or two runs that leave at once wait for each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.events.landings import LandingTurn
from asbuilt.journal.events import append
from asbuilt.journal.runs import Run, find, wake

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

_THIS: Final = "org = :org AND repo = :repo AND branch = :branch AND run <> ''"


def join(session: Session, run: Run, *, is_urgent: bool = False) -> tuple[str, ...]:
    """Put a run into its branch's queue, behind the first if urgent; return the plans ahead, in order."""
    _lock(session, run)
    key = _key(run)
    rows = session.rows(f"SELECT run, place FROM landing_line WHERE {_THIS} ORDER BY place", **key)
    if run.run not in {row["run"] for row in rows}:
        session.run(
            "INSERT INTO landing_line (org, repo, branch, run, slug, place)"
            " VALUES (:org, :repo, :branch, :run, :slug, :place)",
            **key,
            run=run.run,
            slug=run.options.slug,
            place=int(rows[-1]["place"]) + 1 if rows else 1,
        )
        if is_urgent:
            _advance(session, run)
    return ahead_of(session, run)


def ahead_of(session: Session, run: Run) -> tuple[str, ...]:
    """Return the plans ahead of a run in the queue of its branch, in order."""
    rows = session.rows(
        f"SELECT slug FROM landing_line WHERE {_THIS} AND place <"
        f" (SELECT place FROM landing_line WHERE {_THIS} AND run = :run) ORDER BY place",
        **_key(run),
        run=run.run,
    )
    return tuple(str(row["slug"]) for row in rows)


def leave(session: Session, run: Run) -> None:
    """Take a run out of its queue. If it was the first, the next gets the turn, and the second wakes."""
    key = _key(run)
    if not session.rows(f"SELECT 1 FROM landing_line WHERE {_THIS} AND run = :run", **key, run=run.run):
        return
    _lock(session, run)
    was_first = not ahead_of(session, run)
    session.run(f"DELETE FROM landing_line WHERE {_THIS} AND run = :run", **key, run=run.run)
    if not was_first:
        return
    # The second is woken too: it is at the branch by the time that the first has landed.
    rows = session.rows(f"SELECT run FROM landing_line WHERE {_THIS} ORDER BY place LIMIT 2", **key)
    for ahead, row in enumerate(rows):
        following = find(session, run.org, run.repo, row["run"])
        if following is not None:
            turn = LandingTurn(branch=run.options.branch, ahead=ahead)
            name = f"{following.run}/turn/{ahead}/{session.now}"
            append(session, following.address, turn, key=name, actor="asbuilt", run=following.run)
            wake(session, run.org, run.repo, following.run, lane="")


def to_front(session: Session, run: Run) -> tuple[str, ...] | None:
    """Move a waiting run directly behind the first; return who is ahead then, None if it is not queued."""
    _lock(session, run)
    key = _key(run)
    if not session.rows(f"SELECT 1 FROM landing_line WHERE {_THIS} AND run = :run", **key, run=run.run):
        return None
    if len(ahead_of(session, run)) > 1:
        _advance(session, run)
    return ahead_of(session, run)


def _advance(session: Session, run: Run) -> None:
    key = _key(run)
    rows = session.rows(f"SELECT run FROM landing_line WHERE {_THIS} ORDER BY place", **key)
    first, *others = [str(row["run"]) for row in rows]
    order = [
        first,
        *([run.run] if first != run.run else []),
        *(other for other in others if other != run.run),
    ]
    for place, name in enumerate(order, 1):
        change = f"UPDATE landing_line SET place = :place WHERE {_THIS} AND run = :run"
        session.run(change, **key, run=name, place=place)


def _lock(session: Session, run: Run) -> None:
    session.run(
        "INSERT INTO landing_line (org, repo, branch, run, slug, place)"
        " VALUES (:org, :repo, :branch, '', '', 0)"
        " ON CONFLICT (org, repo, branch, run) DO UPDATE SET place = 0",
        **_key(run),
    )


def _key(run: Run) -> dict[str, str]:
    return {"org": run.org, "repo": run.repo, "branch": run.options.branch}
