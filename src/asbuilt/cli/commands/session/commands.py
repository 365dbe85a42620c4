"""Commands of `asbuilt session` about a conversation: status, list, load and loop.

Rule: outside of a conversation nothing is stored, and no command fails because of that.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import NamedTuple

import click

from asbuilt import wiring
from asbuilt.cli.commands.plan_mode import UNREADABLE
from asbuilt.cli.commands.plan_mode import words as mode_words
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import complete_plan
from asbuilt.cli.ui.columns import shorten, table
from asbuilt.cli.ui.messages import answer, headline, next_command
from asbuilt.cli.ui.screen import WIDTH, printable
from asbuilt.errors import NotFound, UsageWrong
from asbuilt.library.conversation_plans import Plans
from asbuilt.policy.plan_mode.state import Hold, HoldUnreadable
from asbuilt.session import messages
from asbuilt.session.context import reload_messages
from asbuilt.session.context import reload_request as reloads
from asbuilt.session.context.meter import limits_of, use_of
from asbuilt.session.context.transcript import last_reply
from asbuilt.session.conversation import folder_of, hold_in, key_of, lives
from asbuilt.session.conversation_lock import Locked
from asbuilt.session.conversation_state import State, keep_loop, keep_state, loop_in, state_in
from asbuilt.session.conversations import Record, left_in, records
from asbuilt.session.messages import ago
from asbuilt.session.plan_facts import PlanFacts
from asbuilt.session.prompt_rounds import COMPLETE, MOST, begin


class Here(NamedTuple):
    """Where a command about conversations is typed."""

    key: str
    """Key of the conversation around it; empty: the user's own terminal."""
    folder: str
    plans: Plans

    @property
    def state(self) -> State:
        """The stored state of the conversation."""
        return (state_in(self.folder) if self.key else None) or State()


def here(door: Door) -> Here:
    """Find the conversation and the plans around the command."""
    key = key_of(door.environ)
    key = key if key and lives(key) else ""
    environ = door.environ
    plans = Plans(str(door.start), environ, lambda *which: wiring.plan_events(which[0], environ, *which[1:]))
    return Here(key, folder_of(environ, key), plans)


@subcommand(
    "status",
    ("asbuilt session status", "typed by you or your agent inside a conversation"),
    ("asbuilt session status --json", "for a script"),
)
def status(door: Door) -> None:
    """Show how full the context of this conversation is, its plan, and whether plan mode is on."""
    place = here(door)
    state, limits = place.state, limits_of(door.environ)
    plan = place.plans.look(state.plan) if state.plan else None
    use = use_of(last_reply(state.transcript), limits=limits, status_window=state.window)
    loop = loop_in(place.folder) if place.key else None
    held, hold = _held(place.folder) if place.key else ("not held", None)
    session_data = {
        "conversation": place.key or None,
        "context": {"percent": use.percent, "window": use.window} if state.transcript else None,
        "plan": {"path": plan.path, "name": plan.name, "open": list(plan.open)} if plan else None,
        "planning": held,
        "mode_before": hold.before or None if hold else None,
        "loop": {"round": loop.iteration, "of": loop.most} if loop else None,
        "stopped_for": list(state.stopped_for),
        "complaints": list(limits.complaints),
    }
    if door.emitted("asbuilt.session/1", session_data):
        return
    for complaint in limits.complaints:
        door.screen.talk(f"{door.screen.err.symbols.note} {complaint}.")
    if not place.key:
        door.screen.answer("This terminal is in no conversation.")
        next_command(door, "asbuilt session list")
        return
    if plan is not None:
        headline(door, plan.name, f"{messages.standing(plan)} ({plan.shown})")
    rows = [f"Context {use.percent}% of {messages.tokens(use.window)}."] if state.transcript else []
    rows.append(UNREADABLE if held == "unreadable" else mode_words(hold))
    rows += [f"Round {loop.iteration} of {loop.most}."] if loop else []
    rows += [f"A turn was sent back once: {reason}." for reason in state.stopped_for]
    answer(door, "", " ".join(rows))


def _held(folder: str) -> tuple[str, Hold | None]:
    try:
        hold = hold_in(folder)
    except HoldUnreadable:
        return "unreadable", None
    return ("held" if hold else "not held"), hold


@subcommand(
    "list",
    ("asbuilt session list", "every plan here, and who works on it"),
    ("asbuilt session list --json", "the same, for a script"),
)
def list_(door: Door) -> None:
    """List every plan here, how much of it is open, and the conversation that works on it."""
    place = here(door)
    now = time.time()
    # Oldest first, so that the newest conversation of a plan wins.
    found = {record.state.plan: record for record in reversed(records(door.environ)) if record.state.plan}
    plans = sorted(place.plans.every(), key=lambda plan: plan.changed_at, reverse=True)
    rows = [_plan_json(plan, found.get(plan.path)) for plan in plans]
    if door.emitted("asbuilt.session-plans/1", {"plans": rows}):
        return
    if not plans:
        door.screen.answer("No plans here yet.")
        next_command(door, 'asbuilt plan new "what you want"')
        return
    cells = [("PLAN", "OPEN", "CHANGED", "CONVERSATION", "TITLE")]
    for plan in plans:
        who = _who(found.get(plan.path), place.key, now)
        left = "done" if plan.is_over else str(len(plan.open))
        cells.append((printable(plan.name), left, ago(now - plan.changed_at), who, printable(plan.title)))
    symbols = door.screen.out.symbols
    door.screen.answer_all(shorten(row, WIDTH, symbols) for row in table(cells))


def _who(record: Record | None, mine: str, now: float) -> str:
    if record is None:
        return "-"
    if record.key == mine:
        return "this one"
    if not record.is_alive:
        return f"ended, {ago(now - record.state.at)}"
    return f"pid {record.key.partition('-')[0]}"


def _plan_json(plan: PlanFacts, record: Record | None) -> dict[str, object]:
    state = record.state if record else None
    return {
        "path": plan.shown,
        "name": plan.name,
        "title": plan.title,
        "open": list(plan.open),
        "is_over": plan.is_over,
        "changed_at": _stamp(plan.changed_at),
        "conversation": {
            "key": record.key,
            "is_alive": record.is_alive,
            "session": state.session,
            "folder": state.cwd,
            "transcript": state.transcript,
            "transcript_size": state.size,
            "heard_at": _stamp(state.at),
        }
        if record and state
        else None,
    }


def _stamp(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


@subcommand(
    "load",
    ("asbuilt session load", "the plan of this conversation, else the newest one here"),
    ("asbuilt session load rate-limit", "the plan of that name, or of which it is a part"),
    ("asbuilt session load --json", "what is known of it, for a script"),
)
@click.argument("plan", required=False, shell_complete=complete_plan)
def load(door: Door, plan: str | None) -> None:
    """Show a plan's current state, and make it the plan of this conversation: /clear brings it back then.

    At a terminal of your own it is only shown.
    """
    place = here(door)
    found = _found(place, door, plan)
    if place.key:
        with Locked(place.folder):
            reloads.drop(place.folder)
            known = place.state._replace(plan=found.path, approved=True, cwd=str(door.start), at=time.time())
            keep_state(place.folder, known)
    if door.emitted("asbuilt.session-plan/1", found._asdict()):
        return
    door.screen.answer_all(map(printable, reload_messages.loaded(found).split("\n")))


def _found(place: Here, door: Door, name: str | None) -> PlanFacts:
    if name:
        return place.plans.named(name)
    own = place.plans.look(place.state.plan) if place.state.plan else None
    found = own or place.plans.newest()
    if found is None:
        # Plans outside of the repository are this folder's if a conversation here worked on them.
        left = map(place.plans.look, left_in(str(door.start), door.environ, but=place.key))
        found = next((plan for plan in left if plan is not None and not plan.is_over), None)
    if found is None:
        raise NotFound(
            "no plan here is open",
            why="Without a name, the plan of this conversation is meant, or the newest one that is not done.",
            next_step="`asbuilt session list`, then name one",
        )
    return found


@subcommand(
    "loop",
    ('asbuilt session loop "continue the plan"', "ten rounds at most, each behind a /clear of yours"),
    ('asbuilt session loop "fix a test" --most 3 --until "ALL GREEN"', "until the agent says so"),
    ("asbuilt session loop --end", "no more rounds"),
    json=False,
)
@click.argument("prompt", required=False)
@click.option("--most", type=click.IntRange(1, MOST), default=10, metavar="N", help="rounds at most")
@click.option("--until", default=COMPLETE, metavar="TEXT", help="what the agent says when it is done")
@click.option("--end", is_flag=True, help="end the loop of this conversation")
def loop(door: Door, prompt: str | None, most: int, until: str, *, end: bool) -> None:
    """Repeat one prompt, each time in a fresh context.

    A round ends with its phase, when the context is full, or when the agent says that it is done and the
    plan agrees. The next round starts after you type /clear.
    """
    place = here(door)
    if not place.key or bool(prompt) == end:
        raise UsageWrong(
            "loop needs a prompt or --end, inside a conversation",
            why="Each round runs in the conversation that started the loop.",
            next_step="`asbuilt session loop -h`",
        )
    plan = place.plans.look(place.state.plan) if place.state.plan else None
    phase = plan.phase if plan else ""
    begun = begin(prompt or "", most=most, promise=until, plan=place.state.plan, phase=phase, now=time.time())
    with Locked(place.folder):
        keep_loop(place.folder, None if end else begun)
    text = "The loop is over." if end else f"Round 1 of {begun.most} has started. /clear starts the next one."
    answer(door, "", text)
