"""`asbuilt why`: report whether a plan is stuck, and on what. Rule: `fine` needs data that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, assert_never

import click

from asbuilt.cli.commands.status import views_here
from asbuilt.cli.runs.waiting import waiting
from asbuilt.cli.shell.addresses import never_ran
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.reading import complete_address, look, look_for
from asbuilt.cli.ui.clock import ago, at, lasting, parsed
from asbuilt.cli.ui.failure import helping, next_after, show_failures
from asbuilt.cli.ui.messages import answer, headline, next_command
from asbuilt.cli.ui.timetable import as_json, sentence
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE
from asbuilt.journal.queries.overview import plan_view, run_view
from asbuilt.lifecycle.status.health import SILENT_S, STALL_S, judge

if TYPE_CHECKING:
    from asbuilt.agents.activity import Signs
    from asbuilt.cli.runs.waiting import Waiting
    from asbuilt.cli.shell.reading import Looking, Moment
    from asbuilt.journal.queries.overview import PlanView, RunView
    from asbuilt.lifecycle.status.health import Health
    from asbuilt.proof.failure import Failure


class Cause(NamedTuple):
    """The reason for a plan's state: a word, a sentence, and the data."""

    word: str
    sentence: str
    data: tuple[tuple[str, str], ...] = ()
    """Labels and texts; the label may be empty."""
    command: str | None = None
    instead: str | None = None
    """The command to change that."""
    failures: tuple[Failure, ...] = ()
    """The last failures."""


@click.command(
    "why",
    cls=Command,
    examples=[
        ("asbuilt why", "everything that is under way, or waits, or failed"),
        ("asbuilt why rate-limit", "is it stuck, and on what?"),
        ("asbuilt why rate-limit.1", "how one run came to its end"),
    ],
)
@click.argument("plan", required=False, shell_complete=complete_address)
@shared(json=True)
def command(door: Door, plan: str | None) -> int:
    """Say why a plan is where it is: stalled, parked, waiting for you, held, failed, or fine."""
    if plan is None:
        _, looking = look(door)
        found = [] if looking is None else _open(looking)
    else:
        looking = look_for(door, plan)
        found = [_named(looking, plan)]
    causes = [(view, cause(view, looking.moment)) for view in found if looking is not None]
    if door.json:
        rows = [_json(view, one, looking.moment) for view, one in causes if looking is not None]
        door.screen.emit_json({"schema": "asbuilt.why/1", "plans": rows})
        return DONE
    if not causes:
        door.screen.answer("Nothing is under way here, nothing waits, nothing failed.")
        next_command(door, "asbuilt status")
    for number, (view, one) in enumerate(causes):
        if number:
            door.screen.answer()
        show(door, view, one)
    return DONE


def _open(looking: Looking) -> list[PlanView]:
    """Return the plans that have run and did not end as landed, undone or done."""
    return [
        view
        for view in views_here(looking)
        if view.run is not None and view.run.run.state not in ("landed", "undone", "done")
    ]


def _named(looking: Looking, name: str) -> PlanView:
    address, named = looking.find(name)
    run = looking.run(name) if named.run is not None else None
    with looking.journal.store.read() as session:
        view = plan_view(session, looking.journal.blobs, address)
        one = None if run is None else run_view(session, looking.journal.blobs, run)
    if view is None or (view.run is None and view.schedule is None):
        raise never_ran(named.plan)
    return view if one is None else view._replace(run=one, claim=None, schedule=None)


def cause(view: PlanView, moment: Moment) -> Cause:
    """Return the reason for a plan's state."""
    found = _cause(view, moment)
    return found if view.run is None else found._replace(failures=view.run.failures)


def _cause(view: PlanView, moment: Moment) -> Cause:
    told, run = waiting(view, moment), view.run
    if told.kind == "claim":
        return Cause("waits for a claim", told.sentence, command=told.command)
    if told.kind == "schedule":
        return Cause("scheduled", told.sentence, command=told.command, instead=f"asbuilt now {view.slug}")
    if run is None:
        return Cause("not run", told.sentence, command=told.command)
    data = (*_phase(run), _spent(run), *_schedule(view, moment))
    match told.kind:
        case "agent" | "verifier":
            return _agent(run, told, moment)
        case "person":
            return Cause("waits for a person", told.sentence, data, told.command)
        case "nobody":
            return Cause(run.run.state, told.sentence, data, told.command)
        case "disk":
            return Cause("kept from going on", told.sentence, data, told.command)
        case "worker":
            return Cause("cut off", told.sentence, data, told.command)
        case "limit" | "time":
            return Cause("parked", told.sentence, data, instead=f"asbuilt resume {view.slug}")
        case "asbuilt":
            return Cause("at work", told.sentence, data, instead=f"asbuilt stop {view.slug}")
        case _:
            assert_never(told.kind)


def _agent(run: RunView, told: Waiting, moment: Moment) -> Cause:
    """Describe an agent at work: duration, time since its last sign, number of retries."""
    waits, now = run.waits_for, moment.now
    signs = moment.signs(run.attempt)
    began = waits.since or told.heard_at or run.run.at
    heard = told.heard_at or began
    retries = waits.retries + max(0, signs.starts - 1)
    silent_s = (now - parsed(heard)).total_seconds()
    ran_s = (now - parsed(began)).total_seconds()
    # An attempt without a start yet is about to be started.
    is_alive = signs.is_alive or signs.starts == 0
    health = judge(ran_s=ran_s, silent_s=silent_s, retries=retries, is_alive=is_alive)
    work = f"{'verifies' if waits.kind == 'verifier' else 'works on'} {waits.where}"
    calls = counted(signs.tool_calls, "tool call")
    again = counted(retries, "retry", "retries")
    data = [
        ("began", f"{at(began, now)}, {ago(began, now)} ago; {calls}; {again}"),
        ("last sign", f"{ago(heard, now)} ago"),
        *_last_call(signs, moment),
        *(
            ("refused", f"{one}; `asbuilt config set sandbox.hosts` lets a host through")
            for one in signs.refused
        ),
        ("what comes", told.sentence.partition(". ")[2]),
        _spent(run),
    ]
    return Cause(
        "fine" if health == "fine" else "stalled" if health == "stalled" else "not fine",
        _verdict(health, f"{told.who} {work}", silent=ago(heard, now), ran=ago(began, now), again=again),
        tuple(data),
        instead=f"asbuilt stop {run.run.options.slug}",
    )


def _verdict(health: Health, who: str, *, silent: str, ran: str, again: str) -> str:
    match health:
        case "gone":
            return f"Not fine: {who}, and its process is gone; the worker starts it again."
        case "stalled":
            allowed = f"allowed: {lasting(SILENT_S)}; ended after {lasting(STALL_S)}"
            return f"Stalled: {who} and is silent for {silent} ({allowed})."
        case "long":
            return f"Not fine: {who} for {ran}; last heard {silent} ago."
        case "retried":
            return f"Not fine: {who} after {again}; last heard {silent} ago."
        case "fine":
            return f"Fine: {who} for {ran}; last heard {silent} ago."
        case _:
            assert_never(health)


def _last_call(signs: Signs, moment: Moment) -> list[tuple[str, str]]:
    if not signs.last_call:
        return []
    when = f", {ago(signs.last_call_at, moment.now)} ago" if signs.last_call_at else ""
    return [("last call", f"{signs.last_call[:200]}{when}")]


def _schedule(view: PlanView, moment: Moment) -> list[tuple[str, str]]:
    return [] if view.schedule is None else [("schedule", sentence(view.schedule, moment.now))]


def _phase(run: RunView) -> list[tuple[str, str]]:
    """Return the phase concerned, and its state."""
    phase = next((one for one in run.phases if one.id == run.waits_for.phase), None) or next(
        (one for one in run.phases if one.state in ("failed", "stopped", "parked")), None
    )
    if phase is None:
        return []
    tries = f", attempt {phase.attempt}" if phase.attempt else ""
    fixes = f", {counted(phase.cycle, 'fix', 'fixes')}" if phase.cycle else ""
    return [("phase", f"{phase.id} {phase.title}: {phase.state}{tries}{fixes}")]


def _spent(run: RunView) -> tuple[str, str]:
    proven = sum(phase.state in ("proven", "landed") for phase in run.phases)
    return "so far", f"{counted(proven, 'phase')} proven by {run.name}, {run.spent.words}"


def show(door: Door, view: PlanView, one: Cause) -> None:
    """Draw the reason for a plan's state."""
    headline(door, view.slug, one.sentence)
    for label, text in one.data:
        answer(door, f"  {label:<11} ", text)
    show_failures(door, one.failures)
    if view.run is not None and one.word == "failed":
        next_after(door, view.run, one.failures)
    elif one.command:
        next_command(door, one.command)
    elif one.instead:
        for row in door.screen.err.hanging("Now instead: ", f"`{one.instead}`"):
            door.screen.talk(row)


def _json(view: PlanView, one: Cause, moment: Moment) -> dict[str, Any]:
    return {
        "plan": view.slug,
        "run": view.run.name if view.run else None,
        "why": one.word,
        "says": one.sentence,
        "data": dict(one.data),
        "waits_for": waiting(view, moment).as_json(moment.now),
        "schedule": as_json(view.schedule),
        "failures": [failure.plain for failure in one.failures],
        "next": (helping(one.failures) if one.word == "failed" else "") or one.command,
        "instead": one.instead,
    }
