"""The screen of bare `asbuilt`: agent, tests, sandbox, plans, and the one next command. Read-only."""

from __future__ import annotations

import os
import shutil

from asbuilt.cli.commands.status import show_here, views_here
from asbuilt.cli.runs.next_step import first_step, has_agent, installed, named_agent, place_of, script_option
from asbuilt.cli.runs.plan_state import doing
from asbuilt.cli.runs.waiting import is_cut_off, next_of, run_waiting
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.read_context import Looking, survey
from asbuilt.cli.ui.clock import at
from asbuilt.cli.ui.messages import answer, headline
from asbuilt.cli.ui.words import counted, listed
from asbuilt.errors import DONE
from asbuilt.journal.queries.overview import PlanView, RunView
from asbuilt.library.repository_discovery import is_unborn
from asbuilt.library.search_path import Library, plans
from asbuilt.lifecycle.status.run_state import IN_WORK, PROVEN
from asbuilt.settings import Settings

_SANDBOXES = {"bwrap": "bubblewrap", "sandbox-exec": "Seatbelt"}


def run(door: Door) -> int:
    """Show the screen for the start folder."""
    library, settings, looking = survey(door)
    _show_place(door, library, settings)
    views = [] if looking is None else views_here(looking)
    if looking is None or not views:
        is_able = has_agent(settings, door.environ)
        first_step(library, is_able=is_able, script=script_option(settings)).show(door)
        return DONE
    moment = looking.moment
    cut_off = [
        (view, run_view)
        for view in views
        if (run_view := view.run) and is_cut_off(run_view, moment.seen(run_view))
    ]
    for view, run_view in cut_off:
        door.screen.answer()
        _show_cut_off(door, looking, view, run_view)
    if len(views) > len(cut_off):
        door.screen.answer()
        show_here(door, looking, views)
    next_of(views, looking.moment).show(door)
    return DONE


def _show_cut_off(door: Door, looking: Looking, view: PlanView, cut_off: RunView) -> None:
    """Show an interrupted run: what is kept, and what is lost."""
    wait = run_waiting(cut_off, looking.moment.seen(cut_off))
    phase = next((shown_phase for shown_phase in view.phases if shown_phase.state in IN_WORK), None)
    where = f" in phase {phase.id}, {doing(phase)}" if phase else ""
    when = at(wait.since or cut_off.run.at, looking.moment.now)
    headline(door, cut_off.name, f"was cut off at {when}{where}.")
    proven = [shown_phase.id for shown_phase in view.phases if shown_phase.state in PROVEN]
    kept = [f"phase{'s' * (len(proven) > 1)} {listed(proven)}"] if proven else []
    if phase is not None and phase.attempt:
        kept.append(f"the files of attempt {phase.id}.{phase.attempt}")
    if phase is not None and phase.cycle:
        kept.append(f"{counted(phase.cycle, 'fix', 'fixes')} counted")
    kept += [f"{view.spent.words} spent"] if view.spent.brief else []
    answer(door, "  kept   ", ", ".join(kept) or "the request")
    answer(door, "  lost   ", "nothing; it continues where it was")


def _show_place(door: Door, library: Library, settings: Settings) -> None:
    headline(door, *place_of(library.repository, library.start))
    agents = named_agent(settings) or ", ".join(installed(door.environ))
    answer(door, "  agent    ", agents or "none found: install claude, codex, gemini or opencode")
    if library.repository is not None:
        chosen = settings.text("checks.tests") or ("set" if settings.chosen["checks.suites"].value else "")
        # Tests are tried on a checkout of a commit.
        finds = "" if is_unborn(library.repository) else "; asbuilt doctor --tests finds the command"
        answer(door, "  tests    ", chosen or f"not set yet{finds}")
    path = door.environ.get("PATH", os.defpath)
    sandbox = next((name for program, name in _SANDBOXES.items() if shutil.which(program, path=path)), "")
    answer(door, "  sandbox  ", f"{sandbox}; asbuilt doctor tests it" if sandbox else "see asbuilt doctor")
    here = plans(library)
    answer(door, "  plans    ", counted(len(here), "plan") if here else "none yet")
