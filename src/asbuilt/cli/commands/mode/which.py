"""Which conversation a command is about, and whether its own agent is asking.

The one rule: of several conversations none is guessed.
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
    """One that lives."""

    key: str
    folder: str

    def hold(self) -> Hold | None:
        """Read whether planning is held."""
        return hold_in(self.folder)

    def shown(self) -> str:
        """Say in a few words how it stands."""
        try:
            return "planning held" if self.hold() else "planning not held"
        except HoldUnreadable:
            return "unreadable"


def chosen(door: Door, key: str | None) -> Conversation:
    """Find the conversation: by its name, by where the command is typed, or as the only one of the folder."""
    if key is not None:
        # A name is a name of one folder, whatever is written in it.
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
    """List the conversations that are open in this folder, or below it."""
    here = os.path.realpath(door.start)
    return [
        Conversation(one.key, one.folder)
        for one in records(door.environ)
        if one.is_alive and _is_within(os.path.realpath(one.state.cwd), here)
    ]


def is_asked_by_agent(door: Door, key: str) -> bool:
    """Tell whether an agent runs this: its program says so, or the conversation is above this process."""
    return bool(door.environ.get("CLAUDECODE")) or key.partition("-")[0] in _above(os.getpid())


def _above(pid: int) -> list[str]:
    """List the processes above one, as far as the system tells."""
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
