"""The screen of bare `asbuilt`: the current place, the state of plans, and next commands. Read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt._version import VERSION
from asbuilt.cli.commands.status import show_here, views_here
from asbuilt.cli.runs.standing import doing
from asbuilt.cli.runs.waiting import is_cut_off, run_waiting
from asbuilt.cli.shell.reading import look
from asbuilt.cli.ui.clock import at
from asbuilt.cli.ui.messages import answer, headline, next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted, listed
from asbuilt.errors import DONE
from asbuilt.library.repository import branch_of
from asbuilt.library.shelves import plans
from asbuilt.lifecycle.status.progress import IN_WORK

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door
    from asbuilt.cli.shell.reading import Looking
    from asbuilt.cli.ui.screen import Screen
    from asbuilt.journal.queries.overview import PlanView, RunView
    from asbuilt.library.repository import Repository


def run(door: Door) -> int:
    """Show the screen for the start folder."""
    library, looking = look(door)
    views = [] if looking is None else views_here(looking)
    if looking is None or not views:
        show_start(door.screen, repository=library.repository, plans=len(plans(library)))
        return DONE
    moment = looking.moment
    cut_off = [(view, one) for view in views if (one := view.run) and is_cut_off(one, moment.seen(one))]
    for view, one in cut_off:
        _show_cut_off(door, looking, view, one)
    if len(views) > len(cut_off):
        if cut_off:
            door.screen.answer()
        show_here(door, looking, views)
    return DONE


def _show_cut_off(door: Door, looking: Looking, view: PlanView, cut_off: RunView) -> None:
    """Show an interrupted run: what is kept, and how to resume it."""
    told = run_waiting(cut_off, looking.moment.seen(cut_off))
    phase = next((one for one in view.phases if one.state in IN_WORK), None)
    where = f" in phase {phase.id}, {doing(phase)}" if phase else ""
    when = at(told.since or cut_off.run.at, looking.moment.now)
    headline(door, cut_off.name, f"was cut off at {when}{where}.")
    proven = [one.id for one in view.phases if one.state in ("proven", "landed")]
    kept = [f"phase{'s' * (len(proven) > 1)} {listed(proven)}"] if proven else []
    if phase is not None and phase.attempt:
        kept.append(f"the files of attempt {phase.id}.{phase.attempt}")
    if phase is not None and phase.cycle:
        kept.append(f"{counted(phase.cycle, 'fix', 'fixes')} counted")
    kept += [f"{view.spent.words} spent"] if view.spent.brief else []
    answer(door, "  kept   ", ", ".join(kept) or "everything that was asked for")
    answer(door, "  lost   ", "nothing; it goes on where it was")
    next_command(door, told.command or f"asbuilt resume {view.slug}")


def show_start(screen: Screen, *, repository: Repository | None, plans: int) -> None:
    """Draw the first screen of a repository in which nothing has run."""
    screen.answer(f"{screen.out.bold('asbuilt')} {VERSION}   {_place(repository)}")
    for row in screen.out.hanging("", _shelf(repository, plans)):
        screen.answer(row)
    screen.answer()
    for command, meaning in _next_commands(plans):
        first, *rest = screen.out.hanging(f"  {command:<35}", meaning, commands=False)
        for row in (first.replace(command, screen.out.bold(command), 1), *rest):
            screen.answer(row)


def _shelf(repository: Repository | None, plans: int) -> str:
    if plans:
        return f"{counted(plans, 'plan')} here."
    written = "" if repository is None else " Nothing has been written to this repository."
    return f"No plans here yet.{written}"


def _place(repository: Repository | None) -> str:
    if repository is None:
        return "not in a Git repository"
    branch = branch_of(repository)
    return printable(
        f"{repository.name} on {branch}" if branch else f"{repository.name}, no branch checked out"
    )


def _next_commands(plans: int) -> list[tuple[str, str]]:
    look = [] if plans == 0 else [("asbuilt plan list", "every plan here, and how far it is")]
    return [
        *look,
        ('asbuilt author "what you want"', "agents plan it, you approve it"),
        ("asbuilt plan show PATH", "read a plan you already have"),
        ("asbuilt demo", "see a small plan run: 30 s, no model"),
        ("asbuilt -h", "everything this version can do"),
    ]
