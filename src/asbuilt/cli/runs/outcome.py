"""Report how a run ended, in a few lines and an exit code. Only the outcome goes to stdout."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from asbuilt.cli.runs.lost_plan_file import bringing_back, is_lost, root_of
from asbuilt.cli.runs.next_step import Next, by_settings, helping, needs_file, without_its_file
from asbuilt.cli.runs.waiting import Waiting, run_waiting
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.read_context import Seen
from asbuilt.cli.ui.clock import ago, lasting, parsed, stamp
from asbuilt.cli.ui.failure import show_failures
from asbuilt.cli.ui.messages import answer
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import by_whom, counted
from asbuilt.errors import DONE, FAILED, PARKED
from asbuilt.library.search_path import library_around
from asbuilt.lifecycle.run.money import caps_in
from asbuilt.lifecycle.status.run_state import DONE as PHASE_DONE
from asbuilt.lifecycle.status.run_state import PROVEN

if TYPE_CHECKING:
    from asbuilt.flows.requests import Declined
    from asbuilt.journal.queries.overview import RunView

CODES = {
    "landed": DONE, "held": DONE, "undone": DONE, "done": DONE, "stopped": PARKED, "paused": PARKED,
    "pr-ready": DONE, "pr-ci-failing": FAILED, "failed": FAILED,
}  # fmt: skip


def shown(
    door: Door,
    view: RunView,
    *,
    is_served: bool = True,
    is_requested: bool = False,
    before_next: Callable[[], Next | None] | None = None,
) -> int:
    """Print how a run ended or what it waits for, and the next command, which `before_next` may replace.

    `is_requested`: this command asked the run to stop or pause, so that is a success.
    """
    wait = run_waiting(view, Seen(datetime.now(UTC), is_served=is_served))
    if view.run.is_over or view.is_paused:
        state = "paused" if view.is_paused else view.run.state
        code = DONE if is_requested else view.exit_code or CODES.get(state, FAILED)
    else:
        code = DONE if wait.kind == "worker" else PARKED
    if door.emitted("asbuilt.run/1", {**as_json(view), "exit": code}):
        return code
    failures = view.failures if view.run.state == "failed" else ()
    lead, sentence = ("", _sentence(view)) if view.run.is_over else (f"{view.name}   ", wait.text)
    answer(door, lead, sentence, under=0)
    show_failures(door, failures, more=f"asbuilt status {view.run.options.slug}")
    other = before_next() if before_next and code == DONE else None
    (other or _next_of(door, view, wait)).show(door)
    return code


def _next_of(door: Door, view: RunView, wait: Waiting) -> Next:
    root, plan, slug = root_of(view), view.run.plan, view.run.options.slug
    if needs_file(wait.next, view) and is_lost(root, plan):
        return without_its_file(slug, view, bringing_back(root, plan, slug))
    return by_settings(wait.next, slug, library_around(door.start, door.environ)[1])


def _sentence(view: RunView) -> str:
    own = sum(phase.state in PROVEN for phase in view.phases)
    proven = view.to_land if view.run.state in ("held", "pr-ready", "pr-ci-failing") else own
    if view.run.state == "stopped":
        proven = max(own, view.to_land)
    phases, total = counted(proven, "phase"), len(view.phases)
    of_all = f"{proven} of {counted(total, 'phase')}" if proven < total else phases
    took = lasting((parsed(view.run.ended_at or view.run.at) - parsed(view.run.at)).total_seconds())
    why, branch = view.waits_for.why, view.run.options.branch
    known = f" Before the work, {view.already_failing}." if view.already_failing else ""
    match view.run.state:
        case "landed":
            had_it = ", which had it already" if view.had_it else ""
            return f"{view.name} landed on {branch}{had_it}: {phases} proven, {took}.{known}"
        case "held":
            return f"{view.name}: {of_all} proven, not landed. {took}.{known}"
        case "pr-ready" | "pr-ci-failing":
            return f"{view.name}: {phases} proven, not landed: {why}. {took}."
        case "undone":
            return f"{view.name}: {why or f'reverted on {branch}'}; the plan is open again. {took}."
        case "done":
            return f"{view.name} ended: {why or 'nothing was left to do'}."
        case "stopped":
            # Phases that earlier runs landed count, as in the status of the plan.
            done = sum(phase.state in PHASE_DONE for phase in view.phases)
            far = (
                f"{of_all} proven, not landed"
                if view.to_land
                else f"{done} of {counted(total, 'phase')} done"
            )
            before = "" if view.run.options.plans else f" {far}. All work is kept."
            return f"{view.name} stopped{by_whom(view.waits_for.given_reason)}.{before}"
        case _:
            return f"{view.name} failed: {why}"


def declined(door: Door, slug: str, held: Declined, waits: Waiting | None = None) -> int:
    """Print who holds the plan. Nothing was started; the exit code is 0.

    `waits`: what the holder waits for, where success means that something landed, as in `asbuilt land`. The
    exit code is 5 then, and the next command is the holder's.
    """
    code = DONE if waits is None else PARKED
    name = f"{slug}.{held.holder.number}" if held.holder else held.claim.run
    if door.emitted("asbuilt.run/1", {"run": name, "state": "declined", "exit": code}):
        return code
    since = ago(held.claim.since, datetime.now(UTC))
    where = f", phase {held.claim.phase}" if held.claim.phase else ""
    text = f"Declined: {slug} is already running as {name} (for {since}{where}). Nothing was started."
    if held.holder is None:
        text = f"Declined: {slug} is claimed by {name} (for {since}{where}). Nothing was started."
    answer(door, "", printable(text))
    if waits is not None and held.holder is not None:
        answer(door, "", printable(waits.text))
        waits.next.show(door)
    elif held.holder is None:
        Next(f'asbuilt claim break {slug} --reason "why"').show(door)
    else:
        Next(f"asbuilt watch {slug}", other=f"end it first: `asbuilt stop {slug}`").show(door)
    return code


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
        "questions": [{"id": approval.name, "question": approval.question} for approval in view.questions],
        "failures": [failure.plain for failure in view.failures],
        "next": helping(view.failures) or waits.next_step or None,
        "cost": {**view.spent.plain, "cap_usd": caps_in(view.run.options).usd},
    }
