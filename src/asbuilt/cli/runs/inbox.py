"""Find questions that wait for the user, in this repository or in all repositories of a shared journal.

Rule: a name means one question. `a7` is in this repository, `shop-api:a7` in another.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from asbuilt import wiring
from asbuilt.cli.shell.addresses import named, names, recorded
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.plan_context import desk_for
from asbuilt.cli.shell.run_context import Site, look_at, site_elsewhere
from asbuilt.errors import NotFound, UsageWrong
from asbuilt.git.repository import open_repository
from asbuilt.journal import approvals, repositories, runs
from asbuilt.journal.approvals import Approval
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.runs import Run

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session


class Waits(NamedTuple):
    """An unanswered question, and the name to type for it."""

    name: str
    run: str
    """Name of the run that asks."""
    asked: Approval
    is_open: bool = True
    """The run that asks waits for the answer; False: that run is over, and the next one takes the answer."""


def waiting_here(door: Door) -> list[Waits]:
    """Return the unanswered questions of this repository, oldest first."""
    desk, site = look_at(door)
    if site is None:
        is_outside = desk.library.repository is None and desk.settings.text("store.url")
        return waiting_everywhere(door) if is_outside else []
    with site.journal.store.read() as session:
        return _waiting(session, site.repo, "")


def waiting_everywhere(door: Door) -> list[Waits]:
    """Return the unanswered questions of every repository in the journal."""
    journal = wiring.find_journal(desk_for(door).settings, door.environ)
    if journal is None:
        return []
    with journal.store.read() as session:
        known = names(session)
        return [
            wait
            for repo in approvals.counted(session, LOCAL)
            for wait in _waiting(session, repo, known[repo])
        ]


def landing_here(door: Door) -> list[Run]:
    """Return the runs of this repository whose proven work waits for landing, newest first."""
    _, site = look_at(door)
    if site is None:
        return []
    with site.journal.store.read() as session:
        return runs.to_land(session, LOCAL, site.repo)


def _waiting(session: Session, repo: str, name: str) -> list[Waits]:
    lead = f"{name}:" if name else ""
    found = []
    for approval in approvals.waiting(session, LOCAL, repo):
        run = runs.find(session, LOCAL, repo, approval.run)
        asker, is_open = (run.name, not run.is_over) if run else (approval.run, True)
        found.append(Waits(f"{lead}{approval.name}", asker, approval, is_open))
    return found


def asker_of(site: Site, asked: Approval) -> str:
    """Return the name of the run that asks."""
    with site.journal.store.read() as session:
        return runs.name_of(session, LOCAL, site.repo, asked.run)


def question_at(door: Door, name: str) -> tuple[Site, int]:
    """Find the repository of a question, and its number there."""
    place, _, text = name.rpartition(":")
    digits = text.removeprefix("a")
    is_number = digits.isascii() and digits.isdigit()
    # A plan may be called 7, and none a7.
    is_plan = not (place or (is_number and text.startswith("a")))
    if is_plan and (found := _of_plan(door, name, is_number=is_number)) is not None:
        return found
    if not is_number:
        raise UsageWrong(
            f"{name} is not the name of a question",
            why="Questions are called a1, a2 and so on; in another repository shop-api:a1.",
            next_step="`asbuilt approve` lists what waits for you.",
        )
    return (_elsewhere(door, place) if place else here(door, name)), int(digits)


def _of_plan(door: Door, name: str, *, is_number: bool) -> tuple[Site, int] | None:
    """Find the only unanswered question of a plan or a run; None if there is none.

    `is_number`: it may be a question's number, so only the whole name of a plan counts.
    """
    _, site = look_at(door)
    if site is None:
        return None
    with site.journal.store.read() as session:
        known = recorded(session, site.repo, named(name).plan, site.desk.library)
        known = [known_plan for known_plan in known if not is_number or known_plan.slug == name]
        plans = [known_plan.plan for known_plan in known] if len(known) == 1 else []
        waits = [wait for wait in _waiting(session, site.repo, "") if wait.asked.plan in plans]
    number = named(name).run
    if plans and not waits and number is None and not any(run.plan in plans for run in landing_here(door)):
        raise NotFound(
            f"{name} asks nothing",
            why="No run of this plan waits for an answer.",
            next_step=f"`asbuilt status {name}`",
        )
    asked = [wait.asked for wait in waits if number is None or wait.run.endswith(f".{number}")]
    proven = [run.name for run in landing_here(door) if number is None and run.plan in plans]
    if len(asked) + len(proven) > 1:
        ids = [*(approval.name for approval in asked), *proven]
        raise UsageWrong(
            f"{name} has {len(ids)} open questions: {', '.join(ids)}",
            why="An answer is for one question.",
            next_step=f"`asbuilt approve show {ids[0]}`",
        )
    return (site, asked[0].number) if asked else None


def here(door: Door, name: str) -> Site:
    """Return the journal of this repository; raise if it has no question or run with a name."""
    _, site = look_at(door)
    if site is None:
        raise NotFound(
            f"there is no question {name} here",
            why="Nothing has been run in this repository.",
            next_step="`asbuilt approve --all` lists what waits in every repository.",
        )
    return site


def _elsewhere(door: Door, place: str) -> Site:
    desk = desk_for(door)
    journal = wiring.find_journal(desk.settings, door.environ)
    repo = None
    if journal is not None:
        with journal.store.read() as session:
            repo = next((repo for repo, name in names(session).items() if name == place), None)
    if journal is None or repo is None:
        raise NotFound(
            f"the journal knows no repository {place}",
            why="A repository is named by its folder, or by its id if two folders have the same name.",
            next_step="`asbuilt approve --all` lists what waits in every repository.",
        )
    with journal.store.read() as session:
        known = repositories.find(session, LOCAL, repo)
    folder = None if known is None or journal.store.is_shared else Path(known.folder)
    if folder is None or not folder.is_dir():
        return site_elsewhere(desk, journal, repo, f"{place}:")
    return Site(desk_for(door._replace(start=folder)), open_repository(folder), journal, repo, f"{place}:")


def question_in(site: Site, number: int) -> Approval:
    """Return a question by its number."""
    with site.journal.store.read() as session:
        found = approvals.named(session, LOCAL, site.repo, number)
    if found is None:
        raise NotFound(
            f"there is no question {site.lead}a{number} here",
            why="Questions are numbered in each repository.",
            next_step="`asbuilt approve` lists what waits for you.",
        )
    return found
