"""The root command. Rule: it lists the commands and imports a command only when it is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import click
from click.shell_completion import shell_complete

from asbuilt.cli.shell import top_level_help as help_text
from asbuilt.cli.shell.lazy import Lazy, LazyGroup
from asbuilt.cli.shell.options import Door, door_of

COMMANDS: Final = {
    "author": Lazy("author.command:command", "turn a request into a plan that you approve"),
    "plan": Lazy("plan:group", "list, show, check, create and edit plans"),
    "run": Lazy("run.command:command", "start or continue a plan"),
    "watch": Lazy("watch:command", "follow a run"),
    "approve": Lazy("approve.command:group", "answer questions, approve plans, confirm landings"),
    "stop": Lazy("stop:command", "stop or pause a run; all work is kept"),
    "land": Lazy("land:command", "move proven commits to the target branch"),
    "status": Lazy("status:command", "what is running, waiting or failed, and why"),
    "log": Lazy("log.command:command", "events of a plan; --attempts: what agents wrote"),
    "report": Lazy("report:command", "what was promised and what was proven"),
    "doctor": Lazy("doctor.command:group", "check this machine, its agents and this repository"),
    "init": Lazy("init.command:command", "set up Claude Code, Codex, Gemini or opencode"),
    "config": Lazy("config:group", "show or change settings"),
    "demo": Lazy("demo.command:command", "watch a small plan run: a minute, no model"),
    "help": Lazy("help:command", "help of a topic: more, exit-codes, docs"),
    "board": Lazy("board:command", "plans, agents and questions in a browser"),
    "task": Lazy("task:group", "numbered tasks: add, plan and research them"),
    "memory": Lazy("memory:group", "lessons, facts and notes about this repository"),
    "clean": Lazy("clean:command", "delete old workspaces and logs; asks first"),
    "run-plan": Lazy("run_plan:command", "the grammar of /run-plan: PLAN finish auto, stop, next"),
    "session": Lazy("session:group", "start your own agent; --plan makes it read-only"),
    "mode": Lazy("plan_mode:group", "show or change plan mode"),
    "gate": Lazy("gate:group", "check commands against plan mode, and paths against pull requests"),
    "claim": Lazy("claim:group", "show and change which run owns a plan"),
    "verify": Lazy("verify.command:command", "run the checks of finished phases again"),
    "selftest": Lazy("selftest:group", "check that lies are caught and honest work passes"),
    "worker": Lazy("worker:group", "the process that runs plans"),
    "fleet": Lazy("fleet:group", "workers on several machines that share a database"),
    "completion": Lazy("completion:command", "tab completion for your shell"),
}
OTHER: Final = (
    "resume", "now", "why", "next", "pause", "tell", "attempts", "agents", "notify", "bug-report", "undo",
)  # fmt: skip
"""Old spellings, which work in this release, and the word that users try for a revert."""
COMPLETE_VARIABLE: Final = "_ASBUILT_COMPLETE"


class Root(LazyGroup):
    """The group of `asbuilt` itself. Its help text is the one that `main` prints without imports."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command. Another spelling prints the command on stderr."""
        if args[0] in OTHER:
            from asbuilt.cli.shell.renamed import notice, renamed  # noqa: PLC0415 - the door's dispatch

            words = renamed(args)
            if not ctx.resilient_parsing:
                door_of(ctx, json=True).screen.talk(notice(args[0], words))
            args = words
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        """Return the static help text."""
        del ctx
        return help_text.TEXT


def _start(door: Door) -> int:
    from asbuilt.cli.commands import home_screen  # noqa: PLC0415 - the door's dispatch

    return home_screen.run(door)


root: Final = Root(
    "asbuilt",
    commands=COMMANDS,
    alone=_start,
    json=False,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)


def run(arguments: Sequence[str], environ: Mapping[str, str]) -> int | None:
    """Run the command that the arguments name. Errors are raised to the boundary."""
    instruction = environ.get(COMPLETE_VARIABLE)
    if instruction:
        return shell_complete(root, {}, "asbuilt", COMPLETE_VARIABLE, instruction)
    try:
        # Not root.main(): it handles errors, Ctrl-C and closed pipes itself, with other messages and exit
        # codes.
        with root.make_context("asbuilt", list(arguments)) as context:
            code: int | None = root.invoke(context)
            return code
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
