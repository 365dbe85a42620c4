"""`asbuilt gate check`: may this command run in plan mode?

Rule: no command is run, and every input line gets an answer.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, GATE_STOPPED, UsageWrong
from asbuilt.library.repository import find_repository
from asbuilt.policy.notation import read
from asbuilt.policy.shell.judge import verdict
from asbuilt.session.folders import names_in

if TYPE_CHECKING:
    from collections.abc import Callable

    Judge = Callable[[str], str | None]


@click.command(
    "check",
    cls=Command,
    examples=[
        ("asbuilt gate check 'git log | head'", "allowed; exit code 0"),
        ("asbuilt gate check \"sed -i 's/a/b/' app.py\"", "refused, with the reason; exit code 4"),
        ("asbuilt gate check --jsonl < commands.jsonl", 'lines of {"cmd": "ls"}, an answer for each'),
    ],
)
@click.argument("text", metavar="[COMMAND]", required=False)
@click.option("--jsonl", is_flag=True, help='read lines of {"cmd": "ls"} and answer each with one')
@shared(json=True)
def command(door: Door, text: str | None, *, jsonl: bool) -> int:
    """Check whether a command may run here while plan mode is on. Runs nothing.

    The gate allows only commands and options that it knows to be read-only. It refuses everything else, with
    the reason and the nearest command that is allowed.
    """
    if jsonl == (text is not None):
        raise UsageWrong(
            "gate check takes a command, or --jsonl and lines on standard input",
            why="It judges one or the other.",
            next_step="Quote the whole command: asbuilt gate check 'git log | head'",
        )
    judge = _judge_at(door)
    if text is None:
        for line in sys.stdin.buffer:
            door.screen.emit_json(_answered(line, judge))
        return DONE
    answer = _answer(text, judge(text))
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.gate-check/1", **answer})
    elif answer["verdict"] == "allow":
        door.screen.answer("allowed while planning")
    else:
        door.screen.answer(f"refused: {printable(answer['reason'])}")
    return DONE if answer["verdict"] == "allow" else GATE_STOPPED


def _judge_at(door: Door) -> Judge:
    cwd = str(door.start.absolute())
    repository = find_repository(door.start)
    root = str(repository.root) if repository else cwd

    def judge(text: str) -> str | None:
        return verdict(
            text,
            cwd=cwd,
            home=door.environ.get("HOME", ""),
            root=root,
            resolve=os.path.realpath,
            exists=os.path.lexists,
            names=names_in,
        )

    return judge


def _answered(line: bytes, judge: Judge) -> dict[str, str]:
    """Answer one line, valid or not."""
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
