"""`asbuilt status`: every plan here, or one plan: what happened, why, and what is next. Read-only."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path, PurePath
from shlex import quote
from typing import Any

import click

from asbuilt.cli.runs.next_step import Next
from asbuilt.cli.runs.outcome import as_json
from asbuilt.cli.runs.plan_state import cause, open_ends, show_plan, show_table
from asbuilt.cli.runs.waiting import Waiting, next_of, run_waiting, waiting, waits_of
from asbuilt.cli.shell.addresses import named as parsed
from asbuilt.cli.shell.addresses import names
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.read_context import Looking, Moment, complete_address, look, look_for
from asbuilt.cli.ui.clock import stamp
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.schedules import schedule_json
from asbuilt.errors import DONE, NotFound
from asbuilt.journal import approvals, repositories
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries.overview import Marks, PlanView, plan_view, plan_views, run_view
from asbuilt.journal.repositories import Known
from asbuilt.lifecycle.status.run_state import PhaseProgress


@subcommand(
    "status",
    ("asbuilt status", "every plan that has run here, and when scheduled ones start"),
    ("asbuilt status rate-limit", "its phases, why it waits or failed, and what is next"),
    ("asbuilt status rate-limit.1", "one run of it"),
    ("asbuilt status --all", "every repository on this machine"),
    ("asbuilt status --json", "for a script"),
)
@click.argument("plan", required=False, shell_complete=complete_address)
@click.option("--all", "everywhere", is_flag=True, help="every repository on this machine")
def command(door: Door, plan: str | None, *, everywhere: bool) -> int:
    """Show what is running, waiting or failed, why, and the next command."""
    if plan is not None:
        return _one(door, plan)
    library, looking = look(door)
    is_outside = looking is not None and looking.repo is None and library.repository is None
    if everywhere or (is_outside and looking is not None and looking.journal.store.is_shared):
        return _everywhere(door, looking)
    views = [] if looking is None else views_here(looking)
    if door.json:
        rows = [] if looking is None else _rows(views, looking.moment)
        door.screen.emit_json({"schema": "asbuilt.status/1", "plans": rows})
        return DONE
    if looking is None or not views:
        door.screen.answer("Nothing has run here.")
        next_command(door, "asbuilt plan list")
        return DONE
    show_here(door, looking, views)
    next_of(views, looking.moment).show(door)
    return DONE


def views_here(looking: Looking) -> list[PlanView]:
    """Return the plans of the current repository."""
    if looking.repo is None:
        return []
    with looking.journal.store.read() as session:
        views = plan_views(session, looking.journal.blobs, LOCAL, looking.repo, marks=_marks(_root(looking)))
    return _listed(views)


def _listed(views: list[PlanView]) -> list[PlanView]:
    """Leave out plans that never ran, whose schedule has ended, and for which no note waits."""
    return [view for view in views if view.run or view.schedule or view.claim or view.notes]


def show_here(door: Door, looking: Looking, views: list[PlanView]) -> None:
    """Draw the plans of a repository, and count the questions that wait for the user in any repository."""
    with looking.journal.store.read() as session:
        asked = approvals.counted(session, LOCAL)
    show_table(door.screen, views, looking.moment)
    here = asked.pop(looking.repo or "", 0)
    open_ends(door, here=here, elsewhere=sum(asked.values()))


def _one(door: Door, name: str) -> int:
    try:
        looking = look_for(door, name)
        address, named = looking.find(name)
    except NotFound as unknown:
        if parsed(name).run is not None:
            raise
        try:
            return _never_run(door, name)
        except NotFound:  # the journal's error knows more names: those of plans whose files are gone
            raise unknown from None
    blobs, moment = looking.journal.blobs, looking.moment
    run = looking.run(name) if named.run is not None else None
    with looking.journal.store.read() as session:
        view = plan_view(session, blobs, address, marks=_marks(_root(looking)))
        run_shown = run_view(session, blobs, run) if run is not None else None
    if view is None or (view.run is None and view.schedule is None):
        return _never_run(door, name)
    if view.run is None and not view.phases:
        view = view._replace(phases=_marked(door, view.address.plan))
    if run_shown is not None:
        # Show the phases and cost of this run, not the plan's current ones.
        view = view._replace(
            run=run_shown,
            phases=run_shown.phases,
            spent=run_shown.spent,
            claim=None,
            slug=run_shown.name,
            vain_undo=None,
        )
    wait = waiting(view, moment) if run_shown is None else run_waiting(run_shown, moment.seen(run_shown))
    return _shown(door, view, wait, moment)


def _marked(door: Door, path: str) -> list[PhaseProgress]:
    """Return the phases of a scheduled plan that has not run, by its marks; none if its file is gone."""
    from asbuilt.cli.runs.never_run import by_its_marks  # noqa: PLC0415  the door's dispatch: it loads the parser

    try:
        return by_its_marks(door, path)[0].phases
    except NotFound:
        return []


def _root(looking: Looking) -> Path | None:
    return None if looking.library.repository is None else looking.library.repository.root


def _marks(folder: PurePath | None) -> Marks | None:
    """Return the reader of the marks in the plan files of a checkout."""

    def marked(plan: str) -> frozenset[str] | None:
        from asbuilt.library.read_plan import marked_done  # noqa: PLC0415  it loads the parser

        return marked_done(Path(folder or ""), plan)

    return None if folder is None else marked


def _never_run(door: Door, name: str) -> int:
    from asbuilt.cli.runs.never_run import by_its_marks  # noqa: PLC0415  the door's dispatch: it loads the parser

    return _shown(door, *by_its_marks(door, name), Moment(datetime.now(UTC), False, door.start))


def _shown(door: Door, view: PlanView, wait: Waiting, moment: Moment) -> int:
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.status/1", "plans": [plan_json(view, moment, wait)]})
    else:
        show_plan(door, view, wait, moment)
    return DONE


def _everywhere(door: Door, looking: Looking | None) -> int:
    found: list[tuple[Known, list[PlanView]]] = []
    if looking is not None:
        with looking.journal.store.read() as session:
            for known in repositories.every(session, LOCAL):
                marks = _marks(known.folder if known.remote is None else None)
                views = _listed(plan_views(session, looking.journal.blobs, LOCAL, known.repo, marks=marks))
                found += [(known, views)] * bool(views)
    if door.json:
        rows = [
            {
                "repository": str(known.folder),
                "plans": _rows(views, looking.moment._replace(checkout=None)),
            }
            for known, views in found
            if looking is not None
        ]
        door.screen.emit_json({"schema": "asbuilt.status-all/1", "repositories": rows})
        return DONE
    if looking is None or not found:
        door.screen.answer("Nothing has run on this machine.")
        next_command(door, "asbuilt plan list")
        return DONE
    for number, (known, views) in enumerate(found):
        if number:
            door.screen.answer()
        show_table(door.screen, views, looking.moment._replace(checkout=None), title=str(known.folder))
    _next_of_all(looking, found).show(door)
    return DONE


def _next_of_all(looking: Looking, found: list[tuple[Known, list[PlanView]]]) -> Next:
    """Return the inbox while a question waits, else the next command here, else in another repository."""
    with looking.journal.store.read() as session:
        asked, called = approvals.counted(session, LOCAL), names(session)
    if any(asked.values()):
        return Next("asbuilt approve --all")
    here = [views for known, views in found if known.repo == looking.repo]
    if here:
        return next_of(here[0], looking.moment)
    known, views = next((pair for pair in found if Path(pair[0].folder).is_dir()), found[0])
    if Path(known.folder).is_dir():
        return Next(f"cd {quote(str(known.folder))}", also="asbuilt status")
    return Next(f"asbuilt status {called[known.repo]}:{views[0].slug}")


def _rows(views: list[PlanView], moment: Moment) -> list[dict[str, Any]]:
    waits = waits_of(views, moment)
    return [plan_json(view, moment, wait) for view, wait in zip(views, waits, strict=True)]


def plan_json(view: PlanView, moment: Moment, wait: Waiting | None = None) -> dict[str, Any]:
    """Return a plan as JSON data."""
    wait = wait or waiting(view, moment)
    why = cause(view, wait, moment)
    return {
        "plan": view.slug,
        "path": view.address.plan,
        "changed_at": stamp(view.changed_at),
        "state": view.run.run.state if view.run else "not run",
        "next": view.next,
        "phases": [
            {"id": phase.id, "title": phase.title, "state": phase.state, "commit": phase.commit}
            for phase in view.phases
        ],
        "why": {"word": why.word, "says": why.sentence, **dict(why.data)},
        "next_command": wait.next.command or None,
        "failures": [failure.plain for failure in view.run.failures] if view.run else [],
        "waits_for": wait.as_json(moment.now),
        "cost": view.spent.plain,
        "notes": list(view.notes),
        "claim": {"run": view.claim.run, "since": stamp(view.claim.since)} if view.claim else None,
        "schedule": schedule_json(view.schedule),
        "schedule_over": {"at": stamp(view.over.at), "why": view.over.reason} if view.over else None,
        "undo": as_json(view.vain_undo) if view.vain_undo else None,
        "run": as_json(view.run) if view.run else None,
    }
