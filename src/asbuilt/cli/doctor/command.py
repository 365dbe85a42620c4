"""`asbuilt doctor`: is this machine ready to be left alone? Only `--fix` changes anything, after a yes."""

from __future__ import annotations

import click

from asbuilt.cli.asking import agreed
from asbuilt.cli.commands import Command
from asbuilt.cli.config.set import command as set_value
from asbuilt.cli.doctor import page
from asbuilt.cli.doctor.fixes import FIXES, explained
from asbuilt.cli.doctor.look import look
from asbuilt.cli.doctor.machine import look_at_sandbox
from asbuilt.cli.doctor.rows import State, conclusion, judge
from asbuilt.cli.options import Door, shared
from asbuilt.errors import DONE, FAILED, GATE_STOPPED, UsageWrong


@click.command(
    "doctor",
    cls=Command,
    examples=[
        ("asbuilt doctor", "what is ready, what is not, and what helps"),
        ("asbuilt doctor --tests", "also run the tests on a clean checkout"),
        ("asbuilt doctor --fix sandbox", "show the change that helps, then ask"),
        ("asbuilt doctor --json", "the same, for a script"),
    ],
)
@click.option("--tests", is_flag=True, help="also run the tests, in the sandbox, on a clean checkout")
@click.option("--fix", type=click.Choice(FIXES), help="show what would mend it, then ask")
@click.option("--yes", is_flag=True, help="with --fix: do what needs no root without asking")
@shared(json=True)
def command(door: Door, *, tests: bool, fix: str | None, yes: bool) -> int:
    """Say whether this machine is ready to be left alone. It ends with 1 when a problem stops runs.

    Everything is tried, not assumed: the sandbox has to refuse a write and a connection now.
    """
    if fix is not None:
        return _fix_sandbox(door, yes=yes)
    facts = look(door, tests=tests)
    rows = judge(facts)
    told = conclusion(rows, facts)
    if door.json:
        door.screen.emit_json(page.as_json(rows, told))
    else:
        for line in page.lines(door.screen.out, rows, told):
            door.screen.answer(line)
    return FAILED if any(row.state is State.PROBLEM for row in rows) else DONE


def _fix_sandbox(door: Door, *, yes: bool) -> int:
    if door.json:
        raise UsageWrong(
            "asbuilt doctor --fix has no --json",
            why="It shows a change to a person and asks.",
            next_step="`asbuilt doctor --json` has the facts.",
        )
    sandbox = look_at_sandbox(required=True)
    if sandbox.holds:
        door.screen.answer("The sandbox holds: a write and a connection were refused just now.")
        return DONE
    for line in explained(door.screen.out, sandbox.refusals[0]):
        door.screen.answer(line)
    door.screen.answer("Or, without root, go on without a sandbox: ring.required = false.")
    if not (yes or agreed(door, "Set ring.required to false?")):
        return GATE_STOPPED
    click.get_current_context().invoke(set_value, key="ring.required", value="false", user=True)
    return DONE
