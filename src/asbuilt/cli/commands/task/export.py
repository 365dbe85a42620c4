"""`asbuilt task export`: write both views into this checkout, or neither."""

from __future__ import annotations

import click

from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import open_site
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE
from asbuilt.flows.tasks.views import write_here
from asbuilt.journal.ids import LOCAL


@click.command(
    "export",
    cls=Command,
    examples=[
        ("asbuilt task export", "specs/state.json and TODO.md, not committed"),
        ("asbuilt task export --json", "which of them changed"),
    ],
)
@shared(json=True)
def command(door: Door) -> int:
    """Write specs/state.json and TODO.md into this checkout, both or neither; nothing is committed.

    Keys and text that asbuilt does not know stay as they are. An edit by hand is never written over: import
    it first.
    """
    site = open_site(door)
    changed = write_here(site.journal.store, LOCAL, site.repo, site.repository.root)
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.export/1", "changed": changed})
    elif changed:
        door.screen.answer(printable(f"Wrote {' and '.join(changed)}, not committed."))
    else:
        door.screen.answer("Both views say it already.")
    return DONE
