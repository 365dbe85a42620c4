"""Draw the current state of a run in at most 14 rows. Pure; independent of the terminal.

Rule: no row is wider than the canvas, and there are never more rows than the canvas has.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.cli.live.rows import Canvas, Piece, Row, Style
from asbuilt.cli.runs.waiting import run_waiting
from asbuilt.cli.shell.read_context import Seen
from asbuilt.cli.ui import columns
from asbuilt.cli.ui.clock import ago, at
from asbuilt.cli.ui.words import counted
from asbuilt.cli.wording.moves import at_work
from asbuilt.lifecycle.limits import FIX_LIMIT
from asbuilt.lifecycle.run.money import caps_in
from asbuilt.lifecycle.status.run_state import DONE, PhaseProgress, State

if TYPE_CHECKING:
    from asbuilt.journal.queries.overview import RunView

ROWS: Final = 14
_TITLE: Final = 26
_LEAST_TITLE: Final = 8
_FAILURES: Final = 2
_NOT_BEGUN: Final = ("ready", "pending")


class Activity(NamedTuple):
    """What an agent is doing, from the events of its attempt."""

    who: str
    doing: str
    """In the agent's or its tool's words: a claim."""
    last_activity_at: datetime | None
    """When the agent last gave a sign; None: not yet."""
    tool_calls: int


class Moment(NamedTuple):
    """The state of a run now."""

    view: RunView
    now: datetime
    activity: Activity | None
    """None if no agent works."""
    lanes: tuple[tuple[str, Activity], ...] = ()
    """Phases that agents work on side by side, with what each agent does."""
    failures: tuple[str, ...] = ()
    """The failures that the current fix has to repair."""
    is_served: bool = True
    """False: no worker is alive, so the run does not continue."""
    is_here: bool = False
    """True: this process is the worker, and Ctrl-C pauses the run."""
    may_note: bool = False
    """Whether the user can type a note for the agent."""
    note: str | None = None
    """The note that is being typed."""


def frame(moment: Moment, canvas: Canvas) -> list[Row]:
    """Draw the region: header, unfinished phases, who is at work, what the run waits for, and the footer."""
    most = max(1, min(ROWS, canvas.height))
    now = [*_failures(moment, canvas), *_at_work(moment, canvas), *_waits(moment, canvas)]
    below = [*now, _footer(moment, canvas)][: most - 1]
    phases = _phases(moment, canvas, most - 1 - len(below))
    return [canvas.fitted(row) for row in (_header(moment, canvas), *phases, *below)]


def _header(moment: Moment, canvas: Canvas) -> Row:
    view, now = moment.view, moment.now
    proven = sum(phase.state in DONE for phase in view.phases)
    age = ago(view.run.at, now)
    parts = [age if canvas.is_narrow else f"since {at(view.run.at, now)}, {age}"]
    if view.phases:
        word = "done" if view.run.options.plans else "proven"
        parts.append(f"{proven} of {len(view.phases)} {word}")
    if view.spent.brief:
        cap = caps_in(view.run.options).usd
        parts.append(f"{view.spent.words} of ${cap:.2f}" if cap else view.spent.words)
    gap = "  " if canvas.is_narrow else "   "
    return Piece(canvas.safe(view.name), "bold"), Piece("".join(f"{gap}{part}" for part in parts))


def _phases(moment: Moment, canvas: Canvas, room: int) -> list[Row]:
    """Draw the unfinished phases, started phases first; those without room are counted."""
    left = [phase for phase in moment.view.phases if phase.state not in DONE]
    left.sort(key=lambda phase: phase.state in _NOT_BEGUN)
    if room < 1 or not left:
        return []
    shown = left if len(left) <= room else left[: room - 1]
    names = [canvas.named(phase.id, (step.id for step in moment.view.phases)) for phase in shown]
    words_of_phases = [_state_words(phase) for phase in shown]
    right = ["" if canvas.is_narrow else _since(phase, moment) for phase in shown]
    beside = max(map(columns.width, words_of_phases), default=0) + max(map(columns.width, right), default=0)
    most = canvas.width - 3 - max(map(columns.width, names), default=0) - beside
    longest = max((columns.width(canvas.safe(phase.title)) for phase in shown), default=0)
    width = max(_LEAST_TITLE, min(_TITLE, longest, most))
    rows = [
        _phase(phase, canvas, (name, canvas.padded(canvas.safe(phase.title), width), words, since))
        for phase, name, words, since in zip(shown, names, words_of_phases, right, strict=True)
    ]
    if len(shown) < len(left):
        rows.append((Piece(f"{canvas.symbols.not_started} {len(left) - len(shown)} more", "dim"),))
    return rows


def _phase(phase: PhaseProgress, canvas: Canvas, texts: tuple[str, str, str, str]) -> Row:
    name, title, state, beside = texts
    symbol, style = _symbol(phase.state, canvas)
    words = f" {name}{title} {canvas.safe(state)}"
    row = (Piece(symbol, style), Piece(words.rstrip()))
    if not beside:
        return row
    used = 1 + columns.width(row[1].text)
    return (*row, Piece(" " * max(2, canvas.width - used - columns.width(beside)) + beside, "dim"))


def _state_words(phase: PhaseProgress) -> str:
    match phase.state:
        case "implementing":
            return f"implementing, attempt {phase.attempt or 1}"
        case "fixing":
            return f"fixing, cycle {max(1, phase.cycle)} of {FIX_LIMIT}"
        case "pending":
            return f"needs {', '.join(phase.needs)}"
        case "ready":
            return ""
        case state:
            return state


def _since(phase: PhaseProgress, moment: Moment) -> str:
    begun = phase.since and phase.state not in _NOT_BEGUN
    return ago(phase.since, moment.now) if begun else ""


def _symbol(state: State, canvas: Canvas) -> tuple[str, Style]:
    symbols = canvas.symbols
    if state in _NOT_BEGUN:
        return symbols.not_started, ""
    if state in ("failed", "stopped"):
        return symbols.failed, "red"
    return (symbols.waits, "yellow") if state in ("parked", "paused") else (symbols.working, "")


def _failures(moment: Moment, canvas: Canvas) -> list[Row]:
    if not any(phase.state == "fixing" for phase in moment.view.phases):
        return []
    return [
        (Piece("  "), Piece(canvas.symbols.failed, "red"), Piece(f" {canvas.safe(failure)}"))
        for failure in moment.failures[:_FAILURES]
    ]


def _at_work(moment: Moment, canvas: Canvas) -> list[Row]:
    waits = moment.view.waits_for
    if len(moment.lanes) > 1:
        wide = max(columns.width(phase) for phase, _ in moment.lanes)
        return [_agent(activity, moment, canvas, f"{phase:<{wide}} ") for phase, activity in moment.lanes]
    if waits.kind == "asbuilt" and moment.is_served:
        return [(Piece(f"  asbuilt: {canvas.safe(at_work(waits))}"),)]
    if moment.activity is None:
        return []
    return [_agent(moment.activity, moment, canvas)]


def _agent(activity: Activity, moment: Moment, canvas: Canvas, lead: str = "") -> Row:
    last = last_sign(activity, moment, is_short=canvas.is_narrow)
    who = canvas.safe(f"{lead}{activity.who}: {activity.doing}")
    room = canvas.width - 4 - columns.width(last)
    return Piece(f"  {canvas.padded(who, max(0, room))}  "), Piece(last, "dim")


def last_sign(activity: Activity, moment: Moment, *, is_short: bool = False) -> str:
    """Format when an agent last gave a sign, and its number of tool calls."""
    calls = counted(activity.tool_calls, "call" if is_short else "tool call")
    if activity.last_activity_at is None:
        return f"no sign yet, {calls}"
    return f"{ago(activity.last_activity_at.isoformat(), moment.now)} ago, {calls}"


def _waits(moment: Moment, canvas: Canvas) -> list[Row]:
    view = moment.view
    if not view.questions and (view.waits_for.kind == "asbuilt" or len(moment.lanes) > 1):
        return []
    wait = run_waiting(view, Seen(moment.now, is_served=moment.is_served))
    text = f"{wait.text} {wait.next.command if wait.kind == 'person' else ''}".rstrip()
    return canvas.wrapped("  ", canvas.safe(text), most=5 if canvas.is_narrow else 2)


def _footer(moment: Moment, canvas: Canvas) -> Row:
    if moment.note is not None:
        lead = "Note for the next attempt: "
        room = max(1, canvas.width - len(lead) - 1)
        return Piece(lead, "bold"), Piece(f"{canvas.safe(moment.note)[-room:]}_")
    if not moment.is_served:
        return (Piece(f"{canvas.symbols.note} No worker is running; the run waits.", "yellow"),)
    leave = "Ctrl-C pauses it" if moment.is_here else "Ctrl-C leaves it running"
    leave += ", m sends a note." if moment.may_note else "."
    lands = "" if canvas.is_narrow else canvas.safe(_landing(moment.view))
    return (Piece(f"{leave} {lands}".rstrip(), "dim"),)


def _landing(view: RunView) -> str:
    options = view.run.options
    if options.kind != "run":
        return ""
    if options.holds:
        return "Lands when you confirm."
    branch = options.branch
    if options.landing == "pr":
        by = "itself when its checks are green" if options.auto else "you"
        return f"A pull request for {branch}, merged by {by}."
    is_direct = options.landing == "direct"
    return f"Each phase lands on {branch}." if is_direct else f"Lands on {branch} at the end."
