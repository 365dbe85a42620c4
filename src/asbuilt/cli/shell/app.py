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
    "author": Lazy("author.command:command", "a sentence becomes a plan that you approve"),
    "plan": Lazy("plan:group", "list, show, check, write and mark plans"),
    "task": Lazy("task:group", "what is wanted, by number; plan it, research it"),
    "approve": Lazy("approve.command:group", "everything that waits for a person"),
    "session": Lazy("session:group", "your own agent; --plan: held by the kernel while it plans"),
    "run": Lazy("run:command", "the next phase; --finish all of them, --auto unattended"),
    "run-plan": Lazy("run_plan:command", "the words of /run-plan: PLAN finish auto, stop, next"),
    "watch": Lazy("watch:command", "look on; Ctrl-C leaves it running"),
    "tell": Lazy("tell:command", "a note for the next attempt, in your words"),
    "pause": Lazy("pause:command", "let a run wait at its next safe point"),
    "now": Lazy("now:command", "run a scheduled plan early; the schedule stays"),
    "stop": Lazy("stop:command", "end a run and its schedule; all work is kept"),
    "resume": Lazy("resume:command", "go on after a stop, a limit, a failure, a crash"),
    "land": Lazy("land:command", "move proven commits to the target branch"),
    "status": Lazy("status:command", "how far every plan is, and what it waits for"),
    "why": Lazy("why:command", "is it stuck, and on what?"),
    "log": Lazy("log:command", "everything that happened to a plan"),
    "report": Lazy("report:command", "what a run promised, and what is proven"),
    "next": Lazy("next:command", "what happens by itself, and when"),
    "attempts": Lazy("attempts:group", "what agents have written, judged or not"),
    "memory": Lazy("memory:group", "what is remembered of this repository"),
    "verify": Lazy("verify.command:command", "prove again that what is done is done"),
    "demo": Lazy("demo.command:command", "see a small plan run: 30 s, no model"),
    "selftest": Lazy("selftest:group", "are lies caught, and honest work let through?"),
    "doctor": Lazy("doctor.command:command", "is this machine ready to be left alone?"),
    "init": Lazy("init.command:command", "put asbuilt into the agents that you have"),
    "agents": Lazy("agents:group", "who is here to work, and whether they are held"),
    "notify": Lazy("notify:group", "test: the ways to you when nobody looks on"),
    "gate": Lazy("gate:group", "what may go on: commands while planning, paths beside pull requests"),
    "mode": Lazy("mode:group", "is planning held here? a person's way in and out"),
    "clean": Lazy("clean:command", "remove what nobody needs any more, with the proof"),
    "worker": Lazy("worker:group", "the process that does the work"),
    "claim": Lazy("claim:group", "who owns which plan"),
    "config": Lazy("config:group", "show and set what you have chosen"),
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
