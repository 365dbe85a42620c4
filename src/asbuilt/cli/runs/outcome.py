"""Report how a run ended, in a few lines and an exit code. Only the outcome goes to stdout."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from asbuilt.cli.runs.waiting import answering, for_person, in_conversation
from asbuilt.cli.ui.clock import ago, lasting, parsed, stamp
from asbuilt.cli.ui.failure import helping, next_after, show_failures
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, FAILED, WAITS_FOR_APPROVAL
from asbuilt.lifecycle.run.money import caps_in

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door
    from asbuilt.flows.requests import Declined
    from asbuilt.journal.queries.overview import RunView

CODES = {
    "landed": DONE, "held": DONE, "undone": DONE, "done": DONE, "stopped": DONE, "paused": DONE,
    "pr-ready": DONE, "pr-ci-failing": FAILED, "failed": FAILED,
}  # fmt: skip


def shown(door: Door, view: RunView) -> int:
    """Print how a run ended or what it waits for, and the next command."""
    asks = (bool(view.questions) or view.waits_for_conversation) and not view.is_paused
    code = WAITS_FOR_APPROVAL if asks else view.exit_code or CODES.get(view.run.state, FAILED)
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.run/1", **as_json(view), "exit": code})
        return code
    slug = view.run.options.slug
    failures = view.failures if view.run.state == "failed" else ()
    for row in door.screen.out.hanging("", _sentence(view), commands=False):
        door.screen.answer(row)
    show_failures(door, failures, more=f"asbuilt why {slug}")
    if view.is_paused:
        next_command(door, f"asbuilt resume {slug}")
    elif view.questions:
        next_command(door, answering(view.questions[0], view.questions[0].name))
    elif view.run.state == "done" and _has_written_a_plan(view):
        next_command(door, f"asbuilt run {slug} --finish --auto")
    elif view.run.state in ("held", "pr-ready", "pr-ci-failing"):
        next_command(door, f"asbuilt land {slug}")
    elif view.run.state in ("failed", "stopped"):
        next_after(door, view, failures, also=f", or `asbuilt log {slug}` to see how it came")
    return code


def _has_written_a_plan(view: RunView) -> bool:
    options = view.run.options
    operation = options.task.operation if options.task else ""
    return options.kind == "author" or operation == "plan"


def _sentence(view: RunView) -> str:
    proven = [phase for phase in view.phases if phase.state in ("proven", "landed")]
    phases = counted(len(proven), "phase")
    took = lasting((parsed(view.run.ended_at or view.run.at) - parsed(view.run.at)).total_seconds())
    why = view.waits_for.why
    if view.is_paused:
        where = f" in phase {view.waits_for.phase}" if view.waits_for.phase else ""
        return f"{view.name} is paused{where}: {why}. Claim and workspace are kept."
    if view.questions:
        return for_person(view, datetime.now(UTC)).sentence
    if view.waits_for_conversation:
        return in_conversation(view).sentence
    match view.run.state:
        case "landed":
            known = f" Before the work, {view.already_failing}." if view.already_failing else ""
            return f"{view.name} landed on {view.run.options.branch}: {phases} proven, {took}.{known}"
        case "held":
            known = f" Before the work, {view.already_failing}." if view.already_failing else ""
            return f"{view.name}: {phases} proven, nothing landed; it waits for you. {took}.{known}"
        case "pr-ready" | "pr-ci-failing":
            return f"{view.name}: {phases} proven, not landed: {why}. {took}."
        case "undone":
            return f"{view.name} has taken it back from {view.run.options.branch}; the plan is open. {took}."
        case "done":
            return f"{view.name} ended: {why or 'nothing was left to do'}."
        case "stopped":
            before = "" if view.run.options.plans else f" Proven before: {phases}."
            return f"{view.name} was stopped: {why}.{before}"
        case _:
            return f"{view.name} failed: {why}"


def declined(door: Door, slug: str, held: Declined) -> int:
    """Print who holds the plan. Nothing was started; the exit code is 0."""
    name = f"{slug}.{held.holder.number}" if held.holder else held.claim.run
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.run/1", "run": name, "state": "declined", "exit": DONE})
        return DONE
    since = ago(held.claim.since, datetime.now(UTC))
    where = f", phase {held.claim.phase}" if held.claim.phase else ""
    text = f"Declined: {slug} is held by {name} (for {since}{where}). Nothing was started."
    for row in door.screen.out.hanging("", printable(text), commands=False):
        door.screen.answer(row)
    if held.holder is None:
        next_command(door, f'asbuilt claim break {slug} --reason "why"', ", once its owner is gone")
    else:
        next_command(door, f"asbuilt watch {slug}", f", or `asbuilt stop {slug}` to end it first")
    return DONE


def as_json(view: RunView) -> dict[str, Any]:
    """Return a run as JSON data."""
    waits = view.waits_for
    return {
        "run": view.name,
        "id": view.run.run,
        "plan": view.run.plan,
        "state": view.run.state,
        "at": stamp(view.run.at),
        "ended_at": stamp(view.run.ended_at) if view.run.ended_at else None,
        "phases": [
            {
                "id": phase.id,
                "title": phase.title,
                "state": phase.state,
                "commit": phase.commit,
                "attempt": phase.attempt,
                "needs": list(phase.needs),
            }
            for phase in view.phases
        ],
        "waits_for": {
            "kind": waits.kind,
            "phase": waits.phase,
            "since": stamp(waits.since) if waits.since else None,
            "until": stamp(waits.until) if waits.until else None,
            "why": waits.why,
        },
        "baseline": view.already_failing or None,
        "questions": [{"id": one.name, "question": one.question} for one in view.questions],
        "failures": [one.plain for one in view.failures],
        "next": helping(view.failures) or waits.next_step or None,
        "cost": {**view.spent.plain, "cap_usd": caps_in(view.run.options).usd},
    }
