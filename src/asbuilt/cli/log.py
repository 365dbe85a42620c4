"""`asbuilt log`: everything that happened to a plan, in order. It writes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from asbuilt.cli.clock import stamp, to_the_second
from asbuilt.cli.commands import Command
from asbuilt.cli.looking import complete_address, look_for
from asbuilt.cli.options import Door, shared
from asbuilt.cli.screen import printable
from asbuilt.cli.talking import answer
from asbuilt.cli.telling import told
from asbuilt.errors import DONE
from asbuilt.journal.events import history

if TYPE_CHECKING:
    from asbuilt.journal.events import Event


@click.command(
    "log",
    cls=Command,
    examples=[
        ("asbuilt log rate-limit", "what happened, in order"),
        ("asbuilt log rate-limit --phase 2a", "to one phase"),
        ("asbuilt log rate-limit.1.2a.2", "of one attempt"),
        ("asbuilt log rate-limit --json", "every event, whole"),
    ],
)
@click.argument("plan", shell_complete=complete_address)
@click.option("--phase", metavar="ID", help="only what concerns this phase")
@shared(json=True)
def command(door: Door, plan: str, *, phase: str | None) -> int:
    """Show what happened to a plan: who said what, what asbuilt ran, and what that proved."""
    looking = look_for(door, plan)
    address, named = looking.find(plan)
    run = looking.run(plan).run if named.run is not None else None
    events: list[Event] = []
    with looking.journal.store.read() as session:
        while page := history(session, address, after=events[-1].seq if events else 0):
            events += page
    wanted = {"run": run, "phase": phase or named.phase, "number": _number(named.attempt)}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    events = [event for event in events if wanted.items() <= _about(event).items()]
    if door.json:
        rows = [{**event._asdict(), "at": stamp(event.at)} for event in events]
        door.screen.emit_json({"schema": "asbuilt.log/1", "plan": address.plan, "events": rows})
        return DONE
    for event in events:
        line = told(event)
        lead = f"{to_the_second(event.at, looking.moment.now)}  {line.phase:<4}{line.word.lower():<11}"
        answer(door, printable(lead), line.text, under=min(len(lead), door.screen.out.width // 3))
    return DONE


def _number(attempt: str | None) -> int | None:
    return None if attempt is None else int(attempt.removesuffix("v"))


def _about(event: Event) -> dict[str, object]:
    return {name: event.data.get(name) for name in ("run", "phase", "number")}
