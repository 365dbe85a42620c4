"""`asbuilt plan export`: pack a plan as one bundle for another machine, with its digest."""

from __future__ import annotations

import json

import click

from asbuilt.cli.shell.desk import complete_plan, desk_for
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.screen import printable
from asbuilt.library.bundle import pack
from asbuilt.library.writing import create


@click.command(
    "export",
    cls=Command,
    examples=[
        ("asbuilt plan export rate-limit > rate-limit.json", "one bundle, to send"),
        ("asbuilt plan export rate-limit -o rate-limit.json", "the same; never overwrites"),
        ("asbuilt plan export rate-limit | ssh box asbuilt plan import -", "straight to another machine"),
    ],
)
@click.argument("plan", shell_complete=complete_plan)
@click.option("-o", "--output", metavar="FILE", help="write it there instead of to stdout")
@shared(json=True)
def command(door: Door, plan: str, output: str | None) -> None:
    """Pack a plan, with the progress document it names, for `asbuilt plan import` elsewhere."""
    opened = desk_for(door).open(plan)
    bundle = pack(opened)
    if output is None:
        door.screen.emit_json(bundle)
        return
    file = door.start / output
    create(file, (json.dumps(bundle) + "\n").encode(), name=output)
    door.screen.answer(f"Wrote {printable(output)}: {opened.at.slug}, {opened.plan.digest[:15]}")
