"""`asbuilt status`: how every plan here stands, or one of them phase by phase. It writes nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import click

from asbuilt.cli.clock import ago, at, stamp, until
from asbuilt.cli.commands import Command
from asbuilt.cli.options import Door, shared
from asbuilt.cli.outcome import as_json
from asbuilt.cli.plan.desk import complete_plan, next_command
from asbuilt.cli.screen import cut, printable
from asbuilt.cli.site import look_at, site_of
from asbuilt.cli.words import counted
from asbuilt.errors import DONE
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.views import plan_view, plan_views

if TYPE_CHECKING:
    from asbuilt.cli.screen import Pen
    from asbuilt.journal.views import PlanView, RunView
    from asbuilt.lifecycle.progress import PhaseProgress, WaitsFor

_DONE: Final = ("proven", "landed", "done")


@click.command(
    "status",
    cls=Command,
    examples=[
        ("asbuilt status", "every plan here that was run"),
        ("asbuilt status rate-limit", "one plan, phase by phase"),
        ("asbuilt status --json", "for a script"),
    ],
)
@click.argument("plan", required=False, shell_complete=complete_plan)
@shared(json=True)
def command(door: Door, plan: str | None) -> int:
    """Show how far plans are, what they wait for, and what they cost."""
    if plan is not None:
        return _one(door, plan)
    _, site = look_at(door)
    views: list[PlanView] = []
    if site is not None:
        with site.journal.store.read() as session:
            views = plan_views(session, site.journal.blobs, LOCAL, site.repo)
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.status/1", "plans": [_json(view) for view in views]})
        return DONE
    if not views:
        door.screen.answer("Nothing has been run here.")
        next_command(door, "asbuilt plan list")
        return DONE
    pen, now = door.screen.out, datetime.now(UTC)
    door.screen.answer(f"  {'PLAN':<14}{'STATE':<27}{'PHASES':<8}{'WAITS FOR':<21}{'COST':>7}")
    for view in views:
        door.screen.answer(_row(pen, view, now))
    open_questions = sum(len(view.run.questions) for view in views if view.run)
    if open_questions:
        word = "waits" if open_questions == 1 else "wait"
        door.screen.talk(f"{open_questions} {word} for you: {door.screen.err.bold('asbuilt approve')}")
    return DONE


def _one(door: Door, name: str) -> int:
    site = site_of(door, name)
    address = site.address(name)
    with site.journal.store.read() as session:
        view = plan_view(session, site.journal.blobs, address)
    if view is None or view.run is None:
        door.screen.answer(f"{printable(name)} has not been run here.")
        next_command(door, f"asbuilt run {name}")
        return DONE
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.status/1", "plans": [_json(view)]})
        return DONE
    show(door, view, view.run)
    return DONE


def show(door: Door, view: PlanView, run: RunView) -> None:
    """Draw one plan, phase by phase, and the sentence that says what it waits for."""
    pen, now = door.screen.out, datetime.now(UTC)
    proven = sum(phase.state in _DONE for phase in run.phases)
    share = f" ({proven * 100 // len(run.phases)}%)" if run.phases else ""
    far = f"{proven} of {counted(len(run.phases), 'phase')} proven{share}"
    door.screen.answer(f"{pen.bold(view.slug)}   {run.run.state}, {far}")
    for phase in run.phases:
        door.screen.answer(_phase(pen, phase, now))
    for row in pen.hanging("", sentence(run, now)):
        door.screen.answer(row)


def _phase(pen: Pen, phase: PhaseProgress, now: datetime) -> str:
    title = cut(printable(phase.title), 26, symbols=pen.symbols)
    since = f"since {at(phase.since, now)}" if phase.since else ""
    said = {
        "proven": f"proven {(phase.commit or '')[:7]}",
        "landed": f"landed {(phase.commit or '')[:7]}",
        "pending": f"needs {', '.join(phase.needs)}",
        "implementing": f"implementing, attempt {phase.attempt}",
        "fixing": f"fixing, cycle {phase.cycle} of 2",
    }.get(phase.state, phase.state)
    return printable(f"{_symbol(pen, phase.state)} {phase.id:<4}{title:<27}{said:<27}{since}").rstrip()


def _symbol(pen: Pen, state: str) -> str:
    symbols = pen.symbols
    if state in _DONE:
        return symbols.proven
    if state in ("failed", "stopped"):
        return symbols.failed
    if state in ("parked", "paused", "waiting", "held"):
        return symbols.waits
    return symbols.not_started if state in ("pending", "ready") else symbols.working


def sentence(view: RunView, now: datetime) -> str:
    """Say for whom a run waits, since when, until when, and what happens if nobody acts."""
    waits = view.waits_for
    slug = view.run.options["slug"]
    if view.is_paused:
        return (
            f"Paused {ago(waits.since, now)} ago: {waits.why}. Claim and workspace are kept;"
            f" nothing happens until you resume it. `asbuilt resume {slug}`"
        )
    if view.questions:
        asked = view.questions[0]
        return (
            f'Waits for you: {asked.name} "{asked.question}", asked {ago(asked.asked_at, now)} ago. Nothing'
            f" happens until you answer. `asbuilt approve yes {asked.name}`"
        )
    if view.run.is_over:
        ended = f"Ended {at(view.run.ended_at, now)}" if view.run.ended_at else "Ended"
        return f"{ended}: {view.run.state}. {waits.why}".strip() + _next(view.run.state, slug)
    return _waiting(waits, now)


def _waiting(waits: WaitsFor, now: datetime) -> str:
    since = f", {ago(waits.since, now)}" if waits.since else ""
    match waits.kind:
        case "agent" | "verifier":
            then = f"; {waits.why}" if waits.why else ""
            return f"Waits for the {waits.kind} in phase {waits.phase}{since}{then}."
        case "resume":
            return f"Pauses at the next safe point: {waits.why}."
        case "limit" | "time":
            due = until(waits.until, now) if waits.until else "nobody knows when"
            return f"Parked: {waits.why}; it goes on by itself {due}."
        case _:
            return "asbuilt is at work."


def _next(state: str, slug: str) -> str:
    if state == "held":
        return f" `asbuilt land {slug}`"
    return f" `asbuilt resume {slug}`" if state in ("failed", "stopped") else ""


def _row(pen: Pen, view: PlanView, now: datetime) -> str:
    run = view.run
    if run is None:
        return printable(f"{pen.symbols.not_started} {cut(view.slug, 13, symbols=pen.symbols):<14}not run")
    current = next((phase for phase in run.phases if phase.state not in (*_DONE, "pending", "ready")), None)
    state = run.run.state if current is None or run.run.is_over else f"{current.id}: {current.state}"
    proven = sum(phase.state in _DONE for phase in run.phases)
    waits = run.waits_for
    who = {
        "agent": f"agent, {ago(waits.since, now)}" if waits.since else "agent",
        "verifier": "verifier",
        "limit": at(waits.until, now) if waits.until else "",
        "time": at(waits.until, now) if waits.until else "",
        "resume": f"you, {ago(waits.since, now)}" if waits.since else "you",
        "asbuilt": "asbuilt",
    }.get(waits.kind, "")
    if run.questions:
        who = f"you ({run.questions[0].name}), {ago(run.questions[0].asked_at, now)}"
    cost = f"${run.cost_usd:.2f}" if run.cost_usd else ""
    left = f"{_symbol(pen, run.run.state if current is None else current.state)} "
    name = cut(view.slug, 13, symbols=pen.symbols)
    counts = f"{proven} of {len(run.phases)}"
    return printable(f"{left}{name:<14}{state:<27}{counts:<8}{who:<21}{cost:>7}").rstrip()


def _json(view: PlanView) -> dict[str, Any]:
    return {
        "plan": view.slug,
        "path": view.address.plan,
        "changed_at": stamp(view.changed_at),
        "claim": {"run": view.claim.run, "since": stamp(view.claim.since)} if view.claim else None,
        "run": as_json(view.run) if view.run else None,
    }
