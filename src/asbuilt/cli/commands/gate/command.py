"""`asbuilt gate command`: print the exact argv that the installed plugin runs. Starts nothing."""

from __future__ import annotations

import shlex

import click

from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.errors import DONE
from asbuilt.session.conversation import state_home
from asbuilt.session.entry import ASKED, hook_argv
from asbuilt.session.look import rule


@click.command(
    "command",
    cls=Command,
    examples=[
        ("asbuilt gate command", "as one line for a shell"),
        ("asbuilt gate command --json", "as lists of words, for each event that the gate answers"),
    ],
)
@shared(json=True)
def command(door: Door) -> int:
    """Print what Claude Code runs before every call of a tool: the payload on stdin, the answer on stdout.

    It prints nothing where planning is not held, and blocks by a deny or by exit code 2.
    """
    if door.json:
        events = {event: list(hook_argv(event)) for event in ASKED}
        argv = events["PreToolUse"]
        spares = rule(state_home(door.environ))
        door.screen.emit_json(
            {"schema": "asbuilt.gate.command/1", "argv": argv, "events": events, "rule": spares}
        )
    else:
        door.screen.answer(shlex.join(hook_argv("PreToolUse")))
    return DONE
