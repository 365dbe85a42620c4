"""`asbuilt attempts restore`: create a branch with an attempt's files. Nothing else changes."""

from __future__ import annotations

from shlex import quote

import click

from asbuilt.cli.commands.attempts.kept import complete_attempt, the_kept
from asbuilt.cli.shell.desk import next_command
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE
from asbuilt.git.changes import restore


@click.command(
    "restore",
    cls=Command,
    examples=[("asbuilt attempts restore rate-limit.1.2a.2 --to look", "then: git switch look")],
)
@click.argument("attempt", shell_complete=complete_attempt)
@click.option("--to", "branch", required=True, metavar="BRANCH", help="the branch to make")
@shared(json=True)
def command(door: Door, attempt: str, *, branch: str) -> int:
    """Make a branch at an attempt's files. Your checkout stays as it is; no branch is ever moved."""
    site, kept, commit = the_kept(door, attempt)
    restore(site.repository, commit, branch)
    if door.json:
        told = {"attempt": kept.attempt.name, "branch": branch, "commit": commit}
        door.screen.emit_json({"schema": "asbuilt.restored/1", **told})
        return DONE
    door.screen.answer(printable(f"{branch} is at {commit[:7]}: the files of {kept.attempt.name}."))
    next_command(door, f"git switch {quote(branch)}")
    return DONE
