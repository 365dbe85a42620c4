"""`asbuilt session`: start the user's agent in a conversation that asbuilt knows; --plan sandboxes it."""

from __future__ import annotations

from typing import Final

import click

from asbuilt.cli.shell.lazy import Lazy, LazyGroup
from asbuilt.cli.shell.options import Door

_AGENT: Final = "asbuilt.session.agent"


class SessionGroup(LazyGroup):
    """A group in which everything after `--` is the command line of an agent."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remove the agent's arguments before click parses the rest."""
        before, found, agent = _parted(args)
        if found and not any(word in self.lazy for word in before):
            ctx.meta[_AGENT] = agent
            args = before
        return super().parse_args(ctx, args)


def _parted(args: list[str]) -> tuple[list[str], bool, list[str]]:
    at = args.index("--") if "--" in args else len(args)
    return args[:at], at < len(args), args[at + 1 :]


def _start(door: Door, *, plan: bool) -> int:
    from asbuilt.cli.commands.session import start  # noqa: PLC0415  the door's dispatch

    return start.start(door, click.get_current_context().meta.get(_AGENT, []), plan=plan)


group: Final = SessionGroup(
    "session",
    help=(
        "Start your own agent in a conversation that asbuilt knows, or manage one.\n\n"
        "With --plan it runs in a read-only sandbox: it reads the repository, toolchains, its own settings"
        " and skills, connects to its model and `sandbox.hosts`, and writes only to the plans folder and to"
        " its own state folder. The sandbox ends with the conversation."
    ),
    examples=[
        ("asbuilt session --plan -- claude", "plan with Claude Code, read-only by the gate and the sandbox"),
        ("asbuilt session -- claude --continue", "your agent as it is; asbuilt knows the conversation"),
        ("asbuilt session load rate-limit", "in a conversation: its plan is this one"),
        ("asbuilt session status", "in a conversation: how full it is, and what it works on"),
    ],
    commands={
        "status": Lazy("session.commands:status", "context, plan and mode of this conversation"),
        "list": Lazy("session.commands:list_", "list plans here and their conversations"),
        "load": Lazy("session.commands:load", "make a plan the conversation's own"),
        "note": Lazy("session.note:group", "notes for a later context"),
        "loop": Lazy("session.commands:loop", "repeat a prompt in fresh contexts"),
    },
    params=[click.Option(["--plan"], is_flag=True, help="read-only sandbox: only plans are written")],
    alone=_start,
    json=False,
)
