"""`asbuilt run-plan`: translate the words of `/run-plan` into an asbuilt command and run it.

Rule: each input becomes exactly one command, which is printed before it runs.
"""

from __future__ import annotations

import shlex
from functools import partial
from stat import S_ISREG

import click

from asbuilt.cli.shell.options import Door, SharedOption, subcommand
from asbuilt.cli.shell.plan_context import complete_plan, desk_for
from asbuilt.cli.shell.read_context import look
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, UsageWrong
from asbuilt.journal import schedules
from asbuilt.journal.ids import LOCAL
from asbuilt.library.search_path import Library
from asbuilt.lifecycle.run_plan_syntax import Unclear, Word, parse


@subcommand(
    "run-plan",
    ("asbuilt run-plan plans/login.md", "its next phase"),
    ("asbuilt run-plan plans/login.md 4b", "this phase"),
    ("asbuilt run-plan plans/login.md finish auto", "all that is left, no questions, then land"),
    ("asbuilt run-plan plans/login.md auto every 4h now", "a phase now, and every four hours"),
    ("asbuilt run-plan plans/login.md status", "how far it is"),
    ("asbuilt run-plan next", "scheduled and parked runs, and when they start"),
    ("asbuilt run-plan stop", "cancel the schedules here; what runs continues"),
)
@click.argument("words", nargs=-1, shell_complete=complete_plan)
@click.option("--dry-run", is_flag=True, help="show what would happen, and write nothing")
def command(door: Door, words: tuple[str, ...], *, dry_run: bool) -> int:
    """Understand /run-plan's words: PLAN, a phase, finish, auto, pr, direct, every, now, status, next, stop.

    They mean the same in any order and in any case. A plan whose path holds such a word is still that plan.
    """
    typed = understood(" ".join(words), desk_for(door).library)
    door.screen.talk(printable(f"= asbuilt {shlex.join(typed)}"))
    if dry_run and typed[0] != "run":
        return DONE
    is_next = typed == ("status",) and Word.NEXT in " ".join(words).lower().split()
    if is_next and not door.json and not _is_any_scheduled(door):
        door.screen.answer("Nothing is scheduled.")
    return _do(click.get_current_context(), (*typed, *["--dry-run"] * dry_run))


def _is_any_scheduled(door: Door) -> bool:
    _, looking = look(door)
    if looking is None or looking.repo is None:
        return False
    with looking.journal.store.read() as session:
        return bool(schedules.every(session, LOCAL, looking.repo, limit=1))


def _do(context: click.Context, typed: tuple[str, ...]) -> int:
    """Run a command as if it had been typed instead, with the same shared options."""
    root = context.find_root()
    name, *arguments = typed
    if not isinstance(root.command, click.Group) or (chosen := root.command.get_command(root, name)) is None:
        raise LookupError(name)
    shared_by_all = [option for option in context.command.params if isinstance(option, SharedOption)]
    for option in shared_by_all:
        given = context.params.get(option.name or "")
        arguments += [option.opts[-1], *([] if option.is_flag else [str(given)])] if given else []
    with chosen.make_context(name, arguments, parent=root) as inner:
        code: int = chosen.invoke(inner)
        return code


def understood(text: str, library: Library) -> tuple[str, ...]:
    """Return the arguments of `asbuilt` for the words; the error shows what was understood."""
    words = parse(text, partial(_is_file, library))
    if isinstance(words, Unclear):
        raise UsageWrong(
            f"not understood: {words.what}",
            why=f"{words.why} Understood: {words.understood}.",
            next_step="`asbuilt run-plan -h` lists the accepted words.",
        )
    return words


def _is_file(library: Library, name: str) -> bool:
    try:
        return S_ISREG((library.start / name).stat().st_mode)
    except (OSError, ValueError):  # missing, or no valid file name
        return False
