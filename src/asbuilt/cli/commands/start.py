"""The screen of bare `asbuilt`: agent, tests, sandbox, plans, and the one next command. Read-only."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from asbuilt.cli.commands.status import show_here, views_here
from asbuilt.cli.runs.next_step import Next
from asbuilt.cli.runs.standing import doing
from asbuilt.cli.runs.waiting import is_cut_off, next_of, run_waiting
from asbuilt.cli.shell.reading import Looking, survey
from asbuilt.cli.ui.clock import at
from asbuilt.cli.ui.messages import answer, headline
from asbuilt.cli.ui.words import counted, listed
from asbuilt.errors import DONE
from asbuilt.library.repository import Repository, branch_of
from asbuilt.library.shelves import Library, plans
from asbuilt.lifecycle.status.progress import IN_WORK
from asbuilt.policy.kinds import KINDS

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door
    from asbuilt.journal.queries.overview import PlanView, RunView
    from asbuilt.settings import Settings

_SANDBOXES = {"bwrap": "bubblewrap", "sandbox-exec": "Seatbelt"}


def run(door: Door) -> int:
    """Show the screen for the start folder."""
    library, settings, looking = survey(door)
    agents = [kind.name for kind in KINDS.values() if kind.program and _has(door, kind.program)]
    _show_place(door, library, settings, agents)
    views = [] if looking is None else views_here(looking)
    if looking is None or not views:
        _first_step(library, agents).show(door)
        return DONE
    moment = looking.moment
    cut_off = [(view, one) for view in views if (one := view.run) and is_cut_off(one, moment.seen(one))]
    for view, one in cut_off:
        door.screen.answer()
        _show_cut_off(door, looking, view, one)
    if len(views) > len(cut_off):
        door.screen.answer()
        show_here(door, looking, views)
    next_of(views, looking.moment).show(door)
    return DONE


def _show_cut_off(door: Door, looking: Looking, view: PlanView, cut_off: RunView) -> None:
    """Show an interrupted run: what is kept, and what is lost."""
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
    answer(door, "  kept   ", ", ".join(kept) or "the request")
    answer(door, "  lost   ", "nothing; it continues where it was")


def _show_place(door: Door, library: Library, settings: Settings, agents: list[str]) -> None:
    """Show the repository, and what a run would use."""
    headline(door, *_place(library.repository))
    answer(door, "  agent    ", ", ".join(agents) or "none found: install claude, codex, gemini or opencode")
    if library.repository is not None:
        chosen = settings.text("checks.tests") or ("set" if settings.chosen["checks.suites"].value else "")
        answer(door, "  tests    ", chosen or "not set yet; asbuilt doctor --tests finds the command")
    sandbox = next((name for program, name in _SANDBOXES.items() if _has(door, program)), "")
    answer(door, "  sandbox  ", f"{sandbox}; asbuilt doctor tests it" if sandbox else "see asbuilt doctor")
    here = plans(library)
    answer(door, "  plans    ", counted(len(here), "plan") if here else "none yet")


def _first_step(library: Library, agents: list[str]) -> Next:
    here = [plan for plan in plans(library) if plan.slug]
    demo = "see a small plan run: `asbuilt demo`"
    if library.repository is None:
        return Next("asbuilt demo", other="go to a Git repository first: `cd your-repo`")
    if not agents:
        return Next("asbuilt demo", other="check this machine: `asbuilt doctor`")
    if here:
        return Next(f"asbuilt run {here[0].slug}", other="list the plans: `asbuilt plan list`")
    return Next('asbuilt author "what you want to build"', other=demo)


def _place(repository: Repository | None) -> tuple[str, str]:
    if repository is None:
        return "asbuilt", "not in a Git repository"
    branch = branch_of(repository)
    return repository.name, f"on {branch}" if branch else "no branch checked out"


def _has(door: Door, program: str) -> bool:
    return shutil.which(program, path=door.environ.get("PATH", os.defpath)) is not None
