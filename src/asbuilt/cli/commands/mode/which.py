"""Find the conversation that a command is about, and whether its own agent runs the command.

Rule: if several conversations match, none is guessed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from asbuilt.errors import NotFound, UsageWrong
from asbuilt.policy.plan_mode.hold import HoldUnreadable
from asbuilt.session.conversation import folder_of, hold_in, key_of, lives
from asbuilt.session.records import records

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door
    from asbuilt.policy.plan_mode.hold import Hold

conversation_option = click.option(
    "--conversation", metavar="KEY", help="which one, as `asbuilt mode show` names it"
)


class Conversation(NamedTuple):
    """A known conversation."""

    key: str
    folder: str

    def hold(self) -> Hold | None:
        """Return the hold if plan mode is on, else None."""
        return hold_in(self.folder)

    def shown(self) -> str:
        """Describe its state in a few words."""
        try:
            return "planning held" if self.hold() else "planning not held"
        except HoldUnreadable:
            return "unreadable"


def chosen(door: Door, key: str | None) -> Conversation:
    """Find the conversation: by key, by the environment, or as the only one in this folder."""
    if key is not None:
        # A key is the name of one folder, whatever characters it has.
        known = key_of({"ASBUILT_CONVERSATION": key})
        if not known or not Path(folder_of(door.environ, known)).is_dir():
            raise NotFound(
                f"no conversation is known as {key}",
                why="One is known once planning was held in it, or a plan approved, until it ends.",
                next_step="In its folder, type: asbuilt mode show",
            )
        return Conversation(known, folder_of(door.environ, known))
    around = key_of(door.environ)
    if around and lives(around):
        return Conversation(around, folder_of(door.environ, around))
    found = around_here(door)
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFound(
            "no conversation is known in this folder",
            why="One is known once planning was held in it, or a plan approved; no other is touched.",
            next_step="In the conversation, have its agent run: asbuilt mode enter",
        )
    listed = ", ".join(f"{one.key} ({one.shown()})" for one in found)
    raise UsageWrong(
        f"{len(found)} conversations are open in this folder: {listed}",
        why="Each has a mode of its own, and none is guessed.",
        next_step=f"Add --conversation {found[0].key}",
    )


def around_here(door: Door) -> list[Conversation]:
    """Return the open conversations in this folder or below it."""
    here = os.path.realpath(door.start)
    return [
        Conversation(one.key, one.folder)
        for one in records(door.environ)
        if one.is_alive and _is_within(os.path.realpath(one.state.cwd), here)
    ]


def is_asked_by_agent(door: Door, key: str) -> bool:
    """Return whether an agent runs this: CLAUDECODE is set, or the conversation is an ancestor process."""
    return bool(door.environ.get("CLAUDECODE")) or key.partition("-")[0] in _above(os.getpid())


def _above(pid: int) -> list[str]:
    """Return the ids of a process's ancestors; empty on systems without /proc."""
    found = []
    while pid > 1:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  a file of the kernel
                pid = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            break
        found.append(str(pid))
    return found


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
