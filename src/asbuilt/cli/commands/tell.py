"""`asbuilt tell`: leave a note for the next attempt. The plan's criteria do not change."""

from __future__ import annotations

import json
from typing import Final

import click

from asbuilt.cli.shell.desk import complete_plan
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import asker, open_site
from asbuilt.cli.ui.messages import headline, next_command
from asbuilt.errors import DONE, UsageWrong
from asbuilt.flows.requests import note
from asbuilt.journal.ids import LOCAL, Address

_MOST: Final = 1_500
"""Longest note, in characters of JSON; an event is small."""


@click.command(
    "tell",
    cls=Command,
    examples=[
        ('asbuilt tell rate-limit "Redis 6 is what we run"', "the next attempt is told so"),
        ("asbuilt log rate-limit", "who told what, and when"),
    ],
)
@click.argument("plan", shell_complete=complete_plan)
@click.argument("text")
@shared(json=True)
def command(door: Door, plan: str, text: str) -> int:
    """Tell the next attempt something. It changes no criterion, and no verifier hears of it."""
    said = text.strip()
    if not said or len(json.dumps(said)) > _MOST:
        raise UsageWrong(
            f"a note of {len(said)} characters is not one that is carried",
            why="What a phase wants stands in its plan; a note only helps an agent to get there.",
            next_step="Say it in a few sentences, or write it into the plan.",
        )
    site = open_site(door)
    opened = site.desk.open(plan)
    address = Address(LOCAL, site.repo, opened.at.shown)
    note(site.journal.store, address, opened.at.slug, text=said, asker=asker(door))
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.note/1", "plan": opened.at.slug, "note": said})
        return DONE
    headline(door, opened.at.slug, "The next attempt is told so. Criteria and checks are as they were.")
    next_command(door, f"asbuilt status {opened.at.slug}")
    return DONE
