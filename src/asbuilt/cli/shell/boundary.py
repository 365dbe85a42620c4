"""The error boundary: convert every exception of a command into a message and an exit code.

Rule: no other module of the CLI catches all exceptions. An exception that is no `AsbuiltError` is a bug in
asbuilt and gets a crash log; a usage error, an interrupt, a closed pipe, a full disk or a denied file is not.
With --json each of them is also a document on stdout, `asbuilt.error/1`.
"""

from __future__ import annotations

import errno
import os
import platform
import select
import shlex
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple, TextIO

import click

from asbuilt._version import VERSION
from asbuilt.cli.ui.advice import advice_rows, first_command
from asbuilt.cli.ui.screen import Pen, pen_for, printable, screen_for
from asbuilt.errors import (
    DONE,
    INTERRUPTED,
    OUR_BUG,
    USAGE,
    AsbuiltError,
    DiskFull,
    FileDenied,
    UsageWrong,
)
from asbuilt.settings import state_folder
from asbuilt.similar_names import nearest

_OBVIOUS: Final = ""
"""The reason of a usage error: the message says all of it."""
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_BUG: Final = "this is a bug in asbuilt"
_REPORT: Final = "`asbuilt doctor bug-report`"


class _Failed(NamedTuple):
    """An error as a script reads it."""

    kind: str
    what: str
    why: str
    next_step: str
    exit_code: int

    @property
    def plain(self) -> dict[str, object]:
        """Return it as JSON data."""
        return {
            "schema": "asbuilt.error/1",
            "error": self.kind,
            "what": self.what,
            "why": self.why,
            "next": self.next_step,
            "next_command": first_command(self.next_step) or None,
            "exit": self.exit_code,
        }


def run(work: Callable[[], int | None], *, argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the work, report its error if it fails, and return the exit code."""
    pen = pen_for(sys.stderr, environ=environ, plain="--plain" in argv, no_color="--no-color" in argv)
    try:
        code, failed = _perform(work, pen, argv=argv, environ=environ)
        if failed is not None and "--json" in takewhile(lambda word: word != "--", argv):
            screen = screen_for(environ=environ, plain=True, no_color=True, quiet=False, verbose=False)
            # If stdout is closed, the exit code still reports the error.
            with suppress(BrokenPipeError, AsbuiltError):
                screen.emit_json(failed.plain)
    except KeyboardInterrupt:
        code = INTERRUPTED
    for stream in (sys.stdout, sys.stderr):
        _let_go(stream)
    return code


def report_error(pen: Pen, error: AsbuiltError) -> int:
    """Print what went wrong, why, and the next step. Return the error's exit code."""
    # `commands=False`: names of files and plans may contain backticks.
    first, *rest = pen.hanging("error: ", error.what, commands=False)
    rows = [
        pen.red("error:") + first.removeprefix("error:"),
        *rest,
        *(pen.hanging("  Why:  ", error.why) if error.why else ()),
        *advice_rows(pen, "  Next: ", error.next_step),
    ]
    _print_rows(pen, *rows)
    return error.exit_code


def _print_rows(pen: Pen, *rows: str) -> None:
    # If stderr is closed, the exit code still reports the error.
    with suppress(BrokenPipeError, AsbuiltError):
        for row in rows:
            pen.line(row)


def _reported(pen: Pen, error: AsbuiltError) -> tuple[int, _Failed]:
    code = report_error(pen, error)
    return code, _Failed(type(error).__name__, error.what, error.why, error.next_step, code)


def _perform(
    work: Callable[[], int | None], pen: Pen, *, argv: Sequence[str], environ: Mapping[str, str]
) -> tuple[int, _Failed | None]:
    try:
        code = work() or DONE
        pen_for(sys.stdout, environ=environ, plain=True, no_color=True).flush()
    except AsbuiltError as error:
        error.next_step = _corrected(argv, error.typed, error.meant) or error.next_step
        return _reported(pen, error)
    except click.exceptions.NoArgsIsHelpError as error:
        _print_rows(pen, error.format_message())
        path = error.ctx.command_path
        return USAGE, _Failed(UsageWrong.__name__, f"{path} needs a command", _OBVIOUS, f"`{path} -h`", USAGE)
    except click.UsageError as error:
        return _reported(pen, usage_wrong(error, argv=argv))
    except (KeyboardInterrupt, click.Abort):
        _print_rows(pen, "\nInterrupted.")
        return INTERRUPTED, _Failed("Interrupted", "interrupted by Ctrl-C", _OBVIOUS, "", INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - the one boundary; everything unforeseen ends in a crash log
        if isinstance(error, BrokenPipeError) and _reader_is_gone(sys.stdout):
            return DONE, None
        denied = FileDenied.of(error) if isinstance(error, OSError) else None
        if isinstance(error, OSError) and error.errno in _FULL:
            return _reported(pen, _disk_full(error))
        return (
            _reported(pen, denied) if denied is not None else _crash(pen, error, argv=argv, environ=environ)
        )
    return code, None


def _disk_full(error: OSError) -> DiskFull:
    return DiskFull(
        f"the disk is full: {error.filename or error.strerror}",
        why="Every step is recorded first, and this one could not be. Nothing was changed.",
        next_step="`df -h` shows which disk is full; free some space, then run the command again.",
    )


def _reader_is_gone(stream: TextIO | None) -> bool:
    if stream is None:
        return True
    watch = select.poll()
    watch.register(stream.fileno(), 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in watch.poll(0))


def _let_go(stream: TextIO | None) -> None:
    if stream is None:
        return
    try:
        stream.flush()
    except OSError:
        # The interpreter would flush again at exit, print an error, and replace our exit code.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _crash(
    pen: Pen, error: Exception, *, argv: Sequence[str], environ: Mapping[str, str]
) -> tuple[int, _Failed]:
    trace = "".join(traceback.format_exception(error))
    try:
        why = f"its crash log: {printable(str(_write_log(state_folder(environ), trace, argv)))}"
    except (OSError, AsbuiltError):
        why = "no crash log could be written"
        _print_rows(pen, printable(trace, lines=True).rstrip())
    _print_rows(pen, f"error: {_BUG}; {why}", *advice_rows(pen, "  Next: ", _REPORT))
    return OUR_BUG, _Failed("Bug", _BUG, why, _REPORT, OUR_BUG)


def _write_log(state: Path, trace: str, argv: Sequence[str]) -> Path:
    for folder in (state, state / "crashes"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    now = datetime.now(UTC)
    log = state / "crashes" / f"{now:%Y%m%dT%H%M%SZ}-{os.getpid()}.log"
    text = (
        f"asbuilt {VERSION}\nPython {platform.python_version()}\n{platform.platform()}\n"
        f"{now:%Y-%m-%dT%H:%M:%SZ}\nargv {list(argv)!r}\n\n{trace}"
    )
    with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(text.encode("utf-8", "backslashreplace"))
    return log


def usage_wrong(error: click.UsageError, *, argv: Sequence[str]) -> UsageWrong:
    """Convert a usage error of click into a `UsageWrong`; `argv`: what was typed, to correct it."""
    path = error.ctx.command_path if error.ctx else "asbuilt"
    look = f"`{path} -h` shows examples and options."
    match error:
        case click.NoSuchCommand():
            meant = nearest(error.command_name, error.possibilities or ())
            what = f'{path} has no command "{error.command_name}"{_asked(meant)}'
            fixed = _corrected(argv, error.command_name, meant)
            return UsageWrong(what, why=_OBVIOUS, next_step=fixed or f"`{path} -h` lists the commands.")
        case click.NoSuchOption():
            meant = nearest(error.option_name, error.possibilities or ())
            what = f"{path} has no option {error.option_name}{_asked(meant)}"
            look = _corrected(argv, error.option_name, meant) or look
        case click.BadOptionUsage():
            choices = _choices(error)
            what = f"{path} {error.option_name} needs {' or '.join(choices) or 'a value'}"
            if choices and argv[-1:] == [error.option_name]:
                first, *others = (f"`{shlex.join(['asbuilt', *argv, choice])}`" for choice in choices)
                look = "".join((first, *(f", or {other}" for other in others[:1])))
        case click.MissingParameter():
            what = f"{path} needs {_hint(error) or 'one more argument'}"
            return UsageWrong(what, why="It has no default.", next_step=look)
        case click.BadParameter():
            what = f"{path}: {_hint(error)}{_sentence(error.message)}"
        case _:
            what = f"{path}: {_sentence(error.message)}"
    return UsageWrong(what, why=_OBVIOUS, next_step=look)


def _choices(error: click.BadOptionUsage) -> Sequence[str]:
    """Return the values that an option without one accepts; empty if there are too many to list."""
    options = error.ctx.command.params if error.ctx else ()
    kinds = (option.type for option in options if error.option_name in option.opts)
    return next((kind.choices for kind in kinds if isinstance(kind, click.Choice)), ())


def _asked(meant: str) -> str:
    return f". Did you mean {meant}?" if meant else ""


def _corrected(argv: Sequence[str], wrong: str, meant: str) -> str:
    """Return the command that was typed, with one word of it corrected; empty if it is not that clear."""
    if not meant or list(argv).count(wrong) != 1:
        return ""
    return f"`{shlex.join(['asbuilt', *(meant if word == wrong else word for word in argv)])}`"


def _hint(error: click.BadParameter) -> str:
    if error.param is None:
        return ""
    name = error.param.opts[0] if isinstance(error.param, click.Option) else error.param.human_readable_name
    return name if isinstance(error, click.MissingParameter) else f"{name}: "


def _sentence(message: str) -> str:
    text = message.strip().removesuffix(".")
    return text[:1].lower() + text[1:]
