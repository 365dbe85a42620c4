"""`asbuilt gate`: may a command run in plan mode, what does the plugin run, which paths are in pull requests?

Rules: no command is run, and every input line gets an answer. A failed query exits with 2, never with 0.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from functools import partial
from typing import Final

import click

from asbuilt.cli.shell.lazy import Lazy, LazyGroup
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, FAILED, GATE_STOPPED, ForgeFailed, NotFound, PathsUnknown, UsageWrong
from asbuilt.git.forge.github import open_forge
from asbuilt.git.repository import open_repository
from asbuilt.library.repository_discovery import find_repository
from asbuilt.lifecycle.pull_request.forge import crossing
from asbuilt.policy.light_json import read
from asbuilt.policy.shell.judge import verdict
from asbuilt.session.conversation import state_home
from asbuilt.session.hook_command import ASKED, hook_argv
from asbuilt.session.look_command import rule
from asbuilt.session.wildcard_expansion import names_in

Judge = Callable[[str], str | None]


@subcommand(
    "pr-paths",
    ("asbuilt gate pr-paths --prefix src/api/", "exit 1, and their numbers, when an open one is there"),
    ("asbuilt gate pr-paths --prefix src/api/ --exclude-pr 12", "your own does not count"),
)
@click.option(
    "--prefix",
    "--path-prefix",
    "prefixes",
    required=True,
    multiple=True,
    metavar="PATH",
    help="how the paths begin, from the repository's root; may be given several times",
)
@click.option("--exclude-pr", type=int, metavar="NUMBER", help="a pull request that does not count")
@click.option("--remote", default="origin", metavar="NAME", help="where they are; origin without it")
def command(door: Door, prefixes: tuple[str, ...], exclude_pr: int | None, remote: str) -> int:
    """Print the numbers of open pull requests that change a path with this beginning, one a line.

    Exit codes: 0 there is none, 1 there are some, 2 it could not be looked at.
    """
    try:
        forge = open_forge(open_repository(door.start), door.environ, remote=remote)
        numbers = crossing(forge.touched(), prefixes, but=exclude_pr)
    except (ForgeFailed, NotFound) as error:
        raise PathsUnknown(error.what, why=error.why, next_step=error.next_step) from error
    if not door.emitted("asbuilt.gate-pr-paths/1", {"pulls": list(numbers)}):
        for number in numbers:
            door.screen.answer(str(number))
    return FAILED if numbers else DONE


@subcommand(
    "check",
    ("asbuilt gate check 'git log | head'", "allowed; exit code 0"),
    ("asbuilt gate check \"sed -i 's/a/b/' app.py\"", "refused, with the reason; exit code 4"),
    ("asbuilt gate check --jsonl < commands.jsonl", 'lines of {"cmd": "ls"}, an answer for each'),
)
@click.argument("text", metavar="[COMMAND]", required=False)
@click.option("--jsonl", is_flag=True, help='read lines of {"cmd": "ls"} and answer each with one')
def check(door: Door, text: str | None, *, jsonl: bool) -> int:
    """Check whether a command may run here while plan mode is on. Runs nothing.

    The gate allows only commands and options that it knows to be read-only. It refuses everything else, with
    the reason and the nearest command that is allowed.
    """
    if jsonl == (text is not None):
        raise UsageWrong(
            "gate check takes a command, or --jsonl and lines on standard input",
            why="It accepts only one of the two.",
            next_step="`asbuilt gate check 'git log | head'`, with the whole command in quotes.",
        )
    judge = _judge_at(door)
    if text is None:
        for line in sys.stdin.buffer:
            door.screen.emit_json(_answered(line, judge))
        return DONE
    answer = _answer(text, judge(text))
    refused = answer["verdict"] == "deny"
    if not door.emitted("asbuilt.gate-check/1", answer):
        door.screen.answer(f"refused: {printable(answer['reason'])}" if refused else "allowed in plan mode")
    return GATE_STOPPED if refused else DONE


def _judge_at(door: Door) -> Judge:
    cwd = str(door.start.absolute())
    repository = find_repository(door.start)
    return partial(
        verdict,
        cwd=cwd,
        home=door.environ.get("HOME", ""),
        root=str(repository.root) if repository else cwd,
        resolve=os.path.realpath,
        exists=os.path.lexists,
        names=names_in,
    )


def _answered(line: bytes, judge: Judge) -> dict[str, str]:
    try:
        asked = read(line.decode())
    except ValueError:
        return _answer("", "This line is no JSON in UTF-8.")
    text = asked.get("cmd") if isinstance(asked, dict) else None
    if not isinstance(text, str):
        return _answer("", 'This line is no {"cmd": TEXT}.')
    return _answer(text, judge(text))


def _answer(text: str, refused: str | None) -> dict[str, str]:
    return {"cmd": text, "verdict": "deny" if refused else "allow", "reason": refused or ""}


@subcommand(
    "command",
    ("asbuilt gate command", "as one line for a shell"),
    ("asbuilt gate command --json", "as lists of words, for each event that the gate answers"),
)
def hook_command(door: Door) -> None:
    """Print what Claude Code runs before every call of a tool: the payload on stdin, the answer on stdout.

    It prints nothing while plan mode is off, and blocks by a deny or by exit code 2.
    """
    events = {event: list(hook_argv(event)) for event in ASKED}
    argv, spares = events["PreToolUse"], rule(state_home(door.environ))
    if not door.emitted("asbuilt.gate.command/1", {"argv": argv, "events": events, "rule": spares}):
        door.screen.answer(shlex.join(argv))


group: Final = LazyGroup(
    "gate",
    help=(
        "The gate of plan mode. While plan mode is on, it allows calls that only read and refuses the rest,"
        " naming the nearest allowed form. pr-paths checks whether an open pull request changes a path."
    ),
    examples=[
        ("asbuilt gate check 'git log | head'", "whether it may run in plan mode"),
        ("asbuilt gate command", "what the plugin runs before every call of a tool"),
        ("asbuilt gate pr-paths --prefix src/api/", "open pull requests that change something there"),
    ],
    commands={
        "check": Lazy("gate:check", "check a command against the plan-mode rules"),
        "command": Lazy("gate:hook_command", "the argv that the installed plugin runs"),
        "pr-paths": Lazy("gate:command", "list open pull requests that change a path"),
    },
)
