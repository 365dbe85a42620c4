"""`asbuilt log`: everything that happened to a plan, in order. It writes nothing."""

from __future__ import annotations

import click

from asbuilt.cli.clock import stamp
from asbuilt.cli.commands import Command
from asbuilt.cli.following import clock_time
from asbuilt.cli.options import Door, shared
from asbuilt.cli.plan.desk import complete_plan
from asbuilt.cli.screen import printable
from asbuilt.cli.site import site_of
from asbuilt.cli.telling import told
from asbuilt.errors import DONE
from asbuilt.journal.events import history


@click.command(
    "log",
    cls=Command,
    examples=[
        ("asbuilt log rate-limit", "what happened, in order"),
        ("asbuilt log rate-limit --phase 2a", "to one phase"),
        ("asbuilt log rate-limit --json", "every event, whole"),
    ],
)
@click.argument("plan", shell_complete=complete_plan)
@click.option("--phase", metavar="ID", help="only what concerns this phase")
@shared(json=True)
def command(door: Door, plan: str, *, phase: str | None) -> int:
    """Show what happened to a plan: who said what, what asbuilt ran, and what that proved."""
    site = site_of(door, plan)
    address = site.address(plan)
    with site.journal.store.read() as session:
        events = history(session, address)
    events = [event for event in events if phase is None or event.data.get("phase") == phase]
    if door.json:
        rows = [{**event._asdict(), "at": stamp(event.at)} for event in events]
        door.screen.emit_json({"schema": "asbuilt.log/1", "plan": address.plan, "events": rows})
        return DONE
    for event in events:
        line = told(event)
        lead = printable(f"{clock_time(event.at)}  {line.phase:<4}{line.word.lower():<11}")
        for row in door.screen.out.hanging(lead, line.text, commands=False):
            door.screen.answer(row)
    return DONE
