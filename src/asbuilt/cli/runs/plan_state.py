"""Draw the state of plans: a table of many, the phases of one, and why a plan is in its state.

Rules: only proven work is green, and `fine` needs data that shows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

from asbuilt.cli.runs.waiting import Kind, Waiting, waits_of
from asbuilt.cli.shell.options import Door
from asbuilt.cli.ui.clock import ago, at, lasting, parsed
from asbuilt.cli.ui.columns import cut_middle, pad, shorten, shorten_id, width
from asbuilt.cli.ui.failure import show_failures
from asbuilt.cli.ui.messages import advise, answer, coloured, headline
from asbuilt.cli.ui.schedules import over_words, schedule_sentence
from asbuilt.cli.ui.screen import WIDTH, Screen, printable
from asbuilt.cli.ui.symbols import Symbols
from asbuilt.cli.ui.words import by_whom, counted
from asbuilt.lifecycle.limits import FIX_LIMIT
from asbuilt.lifecycle.status.health import SILENT_S, judge
from asbuilt.lifecycle.status.run_state import DONE, EDITED, IN_WORK, PROVEN, PhaseProgress
from asbuilt.proof.drift.bands import structural

if TYPE_CHECKING:
    from asbuilt.agents.activity import Signs
    from asbuilt.cli.shell.read_context import Moment
    from asbuilt.journal.queries.overview import PlanView, RunView

_WORDS: Final[dict[Kind, str]] = {
    "claim": "waits for a claim", "schedule": "scheduled", "person": "waits for you", "disk": "disk full",
    "worker": "cut off", "limit": "parked", "time": "parked", "line": "in line",
    "asbuilt": "running",
}  # fmt: skip


class Cause(NamedTuple):
    """The reason for a plan's state: a word, a sentence, and the data behind it."""

    word: str
    sentence: str
    data: tuple[tuple[str, str], ...] = ()
    """Labels and texts."""


def cause(view: PlanView, wait: Waiting, moment: Moment) -> Cause:
    """Return the reason for a plan's state. `fine` needs data that shows it."""
    run = view.run
    if run is None or wait.kind == "claim" or wait.kind == "schedule":  # noqa: PLR1714 - mypy narrows by ==
        return Cause(_WORDS.get(wait.kind, "not run"), wait.text)
    match wait.kind:
        case "agent" | "verifier":
            return _health(run, wait, moment)
        case "nobody" | "person" if run.run.is_over:
            return Cause(run.run.state, wait.text)
        case "nobody" | "person" | "disk" | "worker" | "limit" | "time" | "line" | "asbuilt":
            return Cause(_WORDS.get(wait.kind, run.run.state), wait.text)
        case _:
            assert_never(wait.kind)


def _health(run: RunView, wait: Waiting, moment: Moment) -> Cause:
    """Judge an agent at work by duration, time since its last sign, and number of retries."""
    waits, now = run.waits_for, moment.now
    signs = moment.signs(run.attempt)
    began = waits.since or wait.last_activity_at or run.run.at
    last_activity_at = wait.last_activity_at or began
    retries = waits.retries + max(0, signs.starts - 1)
    again = counted(retries, "retry", "retries")
    health = judge(
        ran_s=(now - parsed(began)).total_seconds(),
        silent_s=(now - parsed(last_activity_at)).total_seconds(),
        retries=retries,
        # An attempt without a start yet is about to be started.
        is_alive=signs.is_alive or signs.starts == 0,
    )
    verdict = {
        "gone": "Not fine: the agent's process is gone; the worker starts it again.",
        "stalled": f"Stalled: silent for {ago(last_activity_at, now)} (allowed: {lasting(SILENT_S)}).",
        "long": f"Not fine: at work for {ago(began, now)}.",
        "retried": f"Not fine: {again}.",
        "fine": "Fine.",
    }[health]
    data = [
        (
            "started",
            f"{at(began, now)}, {ago(began, now)} ago; {counted(signs.tool_calls, 'tool call')}; {again}",
        ),
        *_last_call(signs, moment),
        *(
            ("refused", f"{target}; allow a host: asbuilt config set sandbox.hosts")
            for target in signs.refused
        ),
    ]
    word = "fine" if health == "fine" else "stalled" if health == "stalled" else "not fine"
    return Cause(word, f"{verdict} {wait.text}", tuple(data))


def _last_call(signs: Signs, moment: Moment) -> list[tuple[str, str]]:
    if not signs.last_call:
        return []
    when = f", {ago(signs.last_call_at, moment.now)} ago" if signs.last_call_at else ""
    return [("last call", f"{signs.last_call[:200]}{when}")]


_COLUMNS: Final = (13, 26, 7, 20, 7)
_LONGEST_ID: Final = 12
_NEEDS_YOU: Final = ("person", "claim", "worker")


def show_table(screen: Screen, views: list[PlanView], moment: Moment, *, title: str = "") -> None:
    """Draw plans as a table; on a narrow terminal each plan takes several rows."""
    pen = screen.out
    if title:
        screen.answer(pen.bold(cut_middle(printable(title), pen.width, pen.symbols)))
    if pen.width >= WIDTH:
        screen.answer(f"  {_across(('PLAN', 'STATE', 'PHASES', 'WAITS FOR', 'COST'), pen.symbols)}")
    for view, wait in zip(views, waits_of(views, moment), strict=True):
        mark = coloured(pen, _symbol(pen.symbols, view, wait), needs_you=wait.kind in _NEEDS_YOU)
        cells = _cells(view._replace(phases=_in_table(view.phases, pen.symbols)), wait, moment.now)
        if pen.width >= WIDTH:
            screen.answer(f"{mark} {_across(cells, pen.symbols)}")
            continue
        name, state, done, who, cost = cells
        room = pen.width - 2 - sum(map(len, (done, cost))) - 4
        first = f"{pad(shorten(name, room, pen.symbols), room)}  {done}  {cost}"
        screen.answer(f"{mark} {first}".rstrip())
        screen.answer_all(pen.hanging("  ", f"{state}; {who}" if who else state, commands=False))


def _across(cells: tuple[str, ...], symbols: Symbols) -> str:
    name, *others = zip(cells, _COLUMNS, strict=True)
    # Cut names in the middle, because their ends tell them apart: `login-audit`, `login-audit-2`.
    fitted = [cut_middle(*name, symbols), *(shorten(*cell, symbols) for cell in others)]
    padded = [pad(cell, columns) for cell, columns in zip(fitted[:-1], _COLUMNS, strict=False)]
    return " ".join([*padded, f"{fitted[-1]:>7}"]).rstrip()


def _cells(view: PlanView, wait: Waiting, now: datetime) -> tuple[str, str, str, str, str]:
    done = f"{view.done} of {len(view.phases)}" if view.phases else "-"
    return view.slug, printable(_state(view, now)), done, printable(wait.brief), view.spent.brief


def _state(view: PlanView, now: datetime) -> str:
    run = view.run
    if run is None:
        return "not run"
    if run.run.is_over:
        ended = f"{_ended_word(view, run)} {at(run.run.ended_at or run.run.at, now)}"
        failed = next((phase.id for phase in view.phases if phase.state == "failed"), None)
        return f"{failed}: {ended}" if failed else ended
    phase = next((phase for phase in view.phases if phase.state in IN_WORK), None)
    if phase is not None:
        return f"{phase.id}: {doing(phase)}"
    proven = [phase.id for phase in view.phases if phase.state in DONE]
    if run.questions and proven and view.next:
        return f"between {proven[-1]} and {view.next}"
    return run.run.state


def _ended_word(view: PlanView, run: RunView) -> str:
    """Return how the last run of a plan ended; an authoring ends with an approved plan, which has not run."""
    if is_approved(run):
        return "approved" if view.phases else "not run, approved"
    if run.run.state == "landed" and view.done < len(view.phases):
        return f"{view.done} of {len(view.phases)} landed"
    return "declined" if run.declined else run.run.state


def is_approved(run: RunView) -> bool:
    """Return whether a run is an authoring that ended with an approved plan."""
    return run.run.options.kind == "author" and run.run.state == "done"


def _in_table(phases: Iterable[PhaseProgress], symbols: Symbols) -> list[PhaseProgress]:
    """Return phases with ids that fit into a table."""
    short = partial(shorten_id, columns=_LONGEST_ID, symbols=symbols)
    return [
        phase._replace(id=short(phase.id), needs=tuple(short(need) for need in phase.needs))
        for phase in phases
    ]


def _symbol(symbols: Symbols, view: PlanView, wait: Waiting) -> str:
    run = view.run
    if run is None:
        return symbols.not_started
    if wait.kind in (*_NEEDS_YOU, "limit", "time", "line", "schedule"):
        return symbols.waits
    if not run.run.is_over:
        return symbols.working
    if run.declined:
        return symbols.not_run
    if is_approved(run) or (run.run.state == "landed" and view.done < len(view.phases)):
        return symbols.not_started
    if run.run.state == "done" and view.phases and all(phase.state in PROVEN for phase in view.phases):
        return symbols.proven
    return {
        "landed": symbols.proven,
        "failed": symbols.failed,
        "stopped": symbols.not_run,
        "undone": symbols.not_started,
    }.get(run.run.state, symbols.note)


def show_plan(door: Door, view: PlanView, wait: Waiting, moment: Moment) -> None:
    """Draw one plan: its phases, what happened and why, the last output, and the next command."""
    screen, run = door.screen, view.run
    is_cut_off = wait.kind == "worker"
    state = "cut off" if is_cut_off else run.run.state if run else "not run"
    state = "approved, not run" if run and is_approved(run) and not view.done else state
    headline(door, view.slug, f"{state}{_far(view)}")
    phases = _in_table(view.phases, screen.out.symbols)
    wide = max((width(printable(phase.id)) for phase in phases), default=0)
    for phase in phases:
        is_accepted = run is not None and run.run.options.plans and phase.state == "done"
        words = "accepted" if is_accepted else doing(phase)
        if is_cut_off and phase.state in IN_WORK:
            words = f"cut off, {words}"
        _show_phase(screen, phase, moment.now, max(3, wide), words, is_accepted=is_accepted)
    why = cause(view, wait, moment)
    answer(door, "", why.sentence)
    for label, text in why.data:
        answer(door, f"  {label:<9} ", text)
    show_failures(door, run.failures if run else ())
    if view.vain_undo is not None:
        answer(door, "Undo     ", _undo_words(view.vain_undo, moment.now))
    if view.schedule is not None and wait.kind != "schedule":
        answer(door, "Schedule ", f"{schedule_sentence(view.schedule, moment.now)}.")
    if view.over is not None:
        answer(door, "Schedule ", f"{over_words(view.over, moment.now)}.")
    if run is not None and run.already_failing:
        answer(door, "Baseline ", f"{run.already_failing}; phases are proven against the other tests.")
    for note in (f"phase {phase.id}: {EDITED}" for phase in view.phases if phase.is_edited):
        answer(door, "Note     ", note)
    for note in view.notes:
        answer(door, "Note     ", note)
    if run is not None and not run.run.is_over and (far := structural(run.far)):
        advise(door, far, f"asbuilt plan refine {run.run.options.slug}")
    if view.spent.brief:
        screen.answer(f"{view.spent.words[:1].upper()}{view.spent.words[1:]} so far.")
    wait.next.show(door)


def _undo_words(undo: RunView, now: datetime) -> str:
    """Return how an undo that reverted nothing ended."""
    ended, waits = at(undo.run.ended_at or undo.run.at, now), undo.waits_for
    why = f"{by_whom(waits.given_reason)}." if undo.run.state == "stopped" else f": {waits.why}"
    return f"{undo.name} {undo.run.state} {ended}{why}"


def _far(view: PlanView) -> str:
    total = len(view.phases)
    if not total:
        return ""
    is_over = view.run is None or view.run.run.is_over
    following = f", next {view.next}" if view.next and is_over else ""
    states = [phase.state for phase in view.phases]
    proven = states.count("proven")
    if proven and proven == view.done == total and not is_over:
        return f", {proven} of {counted(total, 'phase')} proven"
    if is_over and proven and proven == view.done:
        return f", {proven} of {counted(total, 'phase')} proven, not landed{following}"
    following = f", {proven} proven, not landed{following}" if is_over and proven else following
    return f", {view.done} of {counted(total, 'phase')} done ({view.done * 100 // total}%){following}"


def _show_phase(
    screen: Screen, phase: PhaseProgress, now: datetime, wide: int, words: str, *, is_accepted: bool
) -> None:
    """Draw a phase, or a stage of an authoring, where a result is accepted and not proven."""
    pen = screen.out
    mark = pen.symbols.proven if is_accepted else coloured(pen, _phase_symbol(pen.symbols, phase))
    since = at(phase.since, now) if phase.since else ""
    if phase.state in IN_WORK and since:
        since = f"since {since}"
    title = printable(phase.title)
    lead = f"{pad(printable(phase.id), wide)} "
    if pen.width >= WIDTH:
        cells = f"{pad(shorten(title, 26, pen.symbols), 27)}{pad(shorten(words, 26, pen.symbols), 27)}{since}"
        screen.answer(f"{mark} {shorten(lead + cells, pen.width - 2, pen.symbols)}".rstrip())
        return
    screen.answer(f"{mark} {shorten(lead + title, pen.width - 2, pen.symbols)}".rstrip())
    screen.answer_all(pen.hanging(" " * 6, f"{words}, {since}" if since else words, commands=False))


def _phase_symbol(symbols: Symbols, phase: PhaseProgress) -> str:
    if phase.state in PROVEN:
        return symbols.proven
    if phase.state == "failed":
        return symbols.failed
    if phase.state in ("parked", "paused"):
        return symbols.waits
    if phase.state in IN_WORK:
        return symbols.working
    # A phase marked done is a user's statement, not proven by asbuilt.
    return {"done": symbols.note, "stopped": symbols.not_run}.get(phase.state, symbols.not_started)


def doing(phase: PhaseProgress) -> str:
    """Return the state of a phase in a few words."""
    commit = (phase.commit or "")[:7]
    words = {
        "proven": f"proven, {phase.sign_offs} to sign off" if phase.sign_offs else f"proven {commit}",
        "landed": f"landed {commit}",
        "done": "done by its mark",
        "pending": f"needs {', '.join(phase.needs)}",
        "implementing": "implementing" + (f", attempt {phase.attempt}" if (phase.attempt or 1) > 1 else ""),
        "fixing": f"fixing, cycle {max(1, phase.cycle)} of {FIX_LIMIT}",
        "failed": "failed, not proven",
        "stopped": "stopped, work kept",
    }.get(phase.state, phase.state)
    return printable(words)


def open_ends(door: Door, *, here: int, elsewhere: int) -> None:
    """Print how many questions wait for the user, here and in other repositories."""
    if not (here or elsewhere):
        return
    wait = "waits" if here + elsewhere == 1 else "wait"
    where = f"{here} {wait} for you" + (f", {elsewhere} elsewhere" if elsewhere else "")
    if not here:
        where = f"{elsewhere} {wait} for you in other repositories"
    door.screen.answer_all(
        door.screen.out.hanging("", f"{where}: `asbuilt approve{'' if here else ' --all'}`")
    )
