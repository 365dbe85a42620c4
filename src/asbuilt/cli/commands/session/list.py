"""`asbuilt session list`: every plan here, how far it is, and its conversation. Read-only."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from asbuilt.cli.commands.session.here import here
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.columns import pad, shorten, width
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.screen import WIDTH, printable
from asbuilt.errors import DONE
from asbuilt.session.records import Record, records
from asbuilt.session.words import ago

if TYPE_CHECKING:
    from asbuilt.session.facts import PlanFacts


@click.command(
    "list",
    cls=Command,
    examples=[
        ("asbuilt session list", "every plan here, and who works on it"),
        ("asbuilt session list --json", "the same, for a script"),
    ],
)
@shared(json=True)
def command(door: Door) -> int:
    """List every plan here, how much of it is open, and the conversation that works on it."""
    place = here(door)
    now = time.time()
    # Oldest first, so that the newest conversation of a plan wins.
    found = {one.state.plan: one for one in reversed(records(door.environ)) if one.state.plan}
    plans = sorted(place.plans.every(), key=lambda plan: plan.changed_at, reverse=True)
    if door.json:
        rows = [_json(plan, found.get(plan.path)) for plan in plans]
        door.screen.emit_json({"schema": "asbuilt.session-plans/1", "plans": rows})
        return DONE
    if not plans:
        door.screen.answer("No plans here yet.")
        next_command(door, 'asbuilt plan new "what you want"')
        return DONE
    cells = [("PLAN", "OPEN", "CHANGED", "CONVERSATION", "TITLE")]
    for plan in plans:
        who = _who(found.get(plan.path), place.key, now)
        left = "done" if plan.is_over else str(len(plan.open))
        cells.append((printable(plan.name), left, ago(now - plan.changed_at), who, printable(plan.title)))
    widths = [max(width(row[at]) for row in cells) for at in range(4)]
    for row in cells:
        lead = "  ".join(pad(cell, columns) for cell, columns in zip(row, widths, strict=False))
        door.screen.answer(shorten(f"{lead}  {row[4]}", WIDTH, door.screen.out.symbols).rstrip())
    return DONE


def _who(record: Record | None, mine: str, now: float) -> str:
    if record is None:
        return "-"
    if record.key == mine:
        return "this one"
    if not record.is_alive:
        return f"ended, {ago(now - record.state.at)}"
    return f"pid {record.key.partition('-')[0]}"


def _json(plan: PlanFacts, record: Record | None) -> dict[str, object]:
    heard = record.state if record else None
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
            "session": heard.session,
            "folder": heard.cwd,
            "transcript": heard.transcript,
            "transcript_size": heard.size,
            "heard_at": _stamp(heard.at),
        }
        if record and heard
        else None,
    }


def _stamp(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
