"""The state of a plan that has never run, from the marks in its file."""

from __future__ import annotations

from datetime import UTC, datetime

from asbuilt.cli.runs.next_step import Next, before_work
from asbuilt.cli.runs.waiting import Waiting
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.plan_context import desk_for
from asbuilt.cli.ui.words import counted
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.overview import PlanView
from asbuilt.lifecycle.run.money import Spent
from asbuilt.lifecycle.status.run_state import PhaseProgress, State
from asbuilt.plan.model import Phase
from asbuilt.plan.needs import open_needs


def by_its_marks(door: Door, name: str) -> tuple[PlanView, Waiting]:
    """Return the state of a plan file, and what it waits for; raises NotFound if there is no such plan."""
    desk = desk_for(door)
    opened = desk.open(name)
    done = opened.plan.marked_done
    phases = [_marked(phase, done) for phase in opened.plan.phases]
    slug = opened.at.slug or opened.at.shown
    changed = datetime.fromtimestamp(opened.at.file.stat().st_mtime, UTC).isoformat()
    view = PlanView(Address(LOCAL, "", opened.at.shown), slug, changed, None, None, phases, Spent())
    is_over = bool(phases) and view.done == len(phases)
    errors = sum(problem.severity == "error" for problem in opened.plan.problems)
    here = desk.library.repository
    first = before_work(here) if here is not None and not (is_over or errors) else None
    if is_over:
        words, command = "Every phase is done by its mark.", "asbuilt plan list"
    elif errors:
        words, command = (
            f"Not run yet: the plan has {counted(errors, 'error')}.",
            f"asbuilt plan check {slug}",
        )
    else:
        words, command = "asbuilt has not run it yet.", f"asbuilt run {slug}"
    return view, Waiting("nobody", "", "", words, first or Next(command))


def _marked(phase: Phase, done: frozenset[str]) -> PhaseProgress:
    needs = open_needs(phase.depends_on.on, done)
    state: State = "done" if phase.id in done else "pending" if needs else "ready"
    return PhaseProgress(
        phase.id, phase.title, state, "", phase.commit, needs=needs, needs_all=tuple(phase.depends_on.on)
    )
