"""The root command. Rule: it lists the commands and imports a command only when it is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import shell_complete

from asbuilt.cli.shell import help as help_text
from asbuilt.cli.shell.lazy import Lazy, LazyGroup
from asbuilt.cli.shell.options import door_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COMMANDS: Final = {
    "author": Lazy("author.command:command", "turn a sentence into a plan that you approve"),
    "plan": Lazy("plan:group", "list, show, check, write and mark plans"),
    "task": Lazy("task:group", "numbered tasks: add, plan and research them"),
    "approve": Lazy("approve.command:group", "list everything that waits for you, and answer it"),
    "session": Lazy("session:group", "start your own agent; --plan: read-only, held by the kernel"),
    "run": Lazy("run:command", "the next phase; --finish all of them, --auto unattended"),
    "run-plan": Lazy("run_plan:command", "the grammar of /run-plan: PLAN finish auto, stop, next"),
    "watch": Lazy("watch:command", "follow a run; Ctrl-C leaves it running"),
    "tell": Lazy("tell:command", "give the next attempt a note"),
    "pause": Lazy("pause:command", "pause a run at its next safe point"),
    "now": Lazy("now:command", "run a scheduled plan now; the schedule stays"),
    "stop": Lazy("stop:command", "end a run and its schedule; all work is kept"),
    "resume": Lazy("resume:command", "continue after a stop, a limit, a failure or a crash"),
    "land": Lazy("land:command", "move proven commits to the target branch"),
    "status": Lazy("status:command", "show how far every plan is, and what it waits for"),
    "why": Lazy("why:command", "explain what a run waits for"),
    "log": Lazy("log:command", "list everything that happened to a plan"),
    "report": Lazy("report:command", "show what a run promised, and what is proven"),
    "next": Lazy("next:command", "list scheduled and parked runs"),
    "attempts": Lazy("attempts:group", "the trees that agents produced, judged or not"),
    "memory": Lazy("memory:group", "what is remembered about this repository"),
    "verify": Lazy("verify.command:command", "run the checks of finished phases again"),
    "demo": Lazy("demo.command:command", "watch a small plan run: 30 s, no model"),
    "selftest": Lazy("selftest:group", "check that lies are caught and honest work passes"),
    "doctor": Lazy("doctor.command:command", "check that this machine is set up"),
    "init": Lazy("init.command:command", "install asbuilt into your agents"),
    "agents": Lazy("agents:group", "list agents and test their sandbox"),
    "notify": Lazy("notify:group", "send a test notification"),
    "gate": Lazy("gate:group", "check commands against plan mode, and paths against pull requests"),
    "mode": Lazy("mode:group", "show or change plan mode"),
    "clean": Lazy("clean:command", "delete old workspaces and logs; asks first"),
    "worker": Lazy("worker:group", "the process that runs plans"),
    "claim": Lazy("claim:group", "show and change which run owns a plan"),
    "config": Lazy("config:group", "show and change settings"),
    "bug-report": Lazy("bug_report.command:command", "pack what a bug report needs, redacted"),
    "completion": Lazy("completion:command", "tab completion for your shell"),
}
COMPLETE_VARIABLE: Final = "_ASBUILT_COMPLETE"


class Root(LazyGroup):
    """The group of `asbuilt` itself. Its help text is the one that `main` prints without imports."""

    def get_help(self, ctx: click.Context) -> str:
        """Return the static help text."""
        del ctx
        return help_text.TEXT


def _start(context: click.Context) -> int | None:
    if context.invoked_subcommand is not None:
        return None
    from asbuilt.cli.commands import start  # noqa: PLC0415 - the door's dispatch

    return start.run(door_of(context, json=False))


root: Final = Root(
    "asbuilt",
    commands=COMMANDS,
    callback=click.pass_context(lambda context, **_: _start(context)),
    invoke_without_command=True,
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
