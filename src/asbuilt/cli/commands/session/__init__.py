"""`asbuilt session`: start the user's agent in a conversation that asbuilt knows; --plan sandboxes it."""

from __future__ import annotations

from typing import Final

import click

from asbuilt.cli.shell.lazy import Lazy, LazyGroup
from asbuilt.cli.shell.options import door_of

_AGENT: Final = "asbuilt.session.agent"


class SessionGroup(LazyGroup):
    """A group in which everything after `--` is the command line of an agent."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remove the agent's arguments before click parses the rest."""
        before, found, agent = _parted(args)
        if found and not any(one in self.lazy for one in before):
            ctx.meta[_AGENT] = agent
            args = before
        return super().parse_args(ctx, args)


def _parted(args: list[str]) -> tuple[list[str], bool, list[str]]:
    at = args.index("--") if "--" in args else len(args)
    return args[:at], at < len(args), args[at + 1 :]


def _start(context: click.Context, *, plan: bool) -> int | None:
    if context.invoked_subcommand is not None:
        return None
    from asbuilt.cli.commands.session import start  # noqa: PLC0415  the door's dispatch

    return start.start(door_of(context, json=False), context.meta.get(_AGENT, []), plan=plan)


group: Final = SessionGroup(
    "session",
    help=(
        "Start your own agent in a conversation that asbuilt knows, or look after one.\n\n"
        "With --plan the kernel holds it: it reads the repository, toolchains and its own settings, plug-ins"
        " and skills, reaches its model and `sandbox.hosts`, and writes only to the folder of plans and to a"
        " state folder of its own. Nothing that is said in it ends that; leave it to go on."
    ),
    examples=[
        ("asbuilt session --plan -- claude", "plan with Claude Code, held by the gate and by the kernel"),
        ("asbuilt session -- claude --continue", "your agent as it is; asbuilt knows the conversation"),
        ("asbuilt session load rate-limit", "in a conversation: its plan is this one"),
        ("asbuilt session status", "in a conversation: how full it is, and what it works on"),
    ],
    commands={
        "status": Lazy("session.status:command", "context, plan and mode of this conversation"),
        "list": Lazy("session.list:command", "every plan here, and who works on it"),
        "load": Lazy("session.load:command", "give a plan to this conversation"),
        "note": Lazy("session.note:group", "what a later context is to know"),
        "loop": Lazy("session.loop:command", "one prompt, in one fresh context after another"),
    },
    params=[
        click.Option(["--plan"], is_flag=True, help="hold it: only plans are written"),
    ],
    callback=click.pass_context(lambda context, plan, **_: _start(context, plan=plan)),
    invoke_without_command=True,
)
