"""The options that every command takes, parsed into a `Door`.

Commands read the environment and the start folder from their `Door`.
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from asbuilt.cli.ui.screen import Screen, screen_for
from asbuilt.errors import NotFound, UsageWrong

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Returned = TypeVar("Returned")


class Door(NamedTuple):
    """How a command was called: start folder, environment, output streams and format."""

    screen: Screen
    json: bool
    start: Path
    """Folder where the search for the repository starts: --repo, else the current folder."""
    environ: Mapping[str, str]
    may_ask: bool
    """Whether a question can be answered: stdin is a terminal, and --no-input is not given."""


class SharedOption(click.Option):
    """An option that every command takes. Help shows these last, under Everywhere."""


def shared_options(*, json: bool) -> list[click.Parameter]:
    """Create the shared options for a command or group."""
    flags = [
        (("--json", "as_json"), "answer as one line of JSON"),
        (("--plain",), "ASCII symbols, no styling"),
        (("--no-color",), "no styling (also by NO_COLOR)"),
        (("-q", "--quiet"), "only the answer, and errors"),
        (("-v", "--verbose"), "say more on the way"),
        (("--no-input",), "never ask; fail instead"),
    ]
    return [
        *(SharedOption(names, is_flag=True, help=meaning) for names, meaning in flags[0 if json else 1 :]),
        SharedOption(("--repo",), metavar="DIR", help="look in the repository around DIR"),
    ]


def shared(*, json: bool) -> Callable[[Callable[..., Returned]], Callable[..., Returned]]:
    """Add the shared options to a command; it is called with a `Door` before its own arguments.

    Put it directly above the function, below the command's own options. `json` is for commands that read.
    """

    def with_options(command: Callable[..., Returned]) -> Callable[..., Returned]:
        options = shared_options(json=json)
        names = [option.name for option in options]

        @functools.wraps(command)
        def with_door(**given: object) -> Returned:
            own = {name: value for name, value in given.items() if name not in names}
            return command(door_of(click.get_current_context(), json=json), **own)

        with_door.__click_params__ = options[::-1]  # type: ignore[attr-defined]  # click.option does the same
        return with_door

    return with_options


def door_of(context: click.Context, *, json: bool) -> Door:
    """Read the shared options from any position: before, between or after the command names."""
    if _given(context, "as_json") and not json:
        raise UsageWrong(
            f"{context.command_path} has no --json",
            why="A script would wait for JSON and get words.",
            next_step=f"`{context.command_path} -h` lists its options.",
        )
    return Door(
        screen=screen_for(
            environ=os.environ,
            plain=bool(_given(context, "plain")),
            no_color=bool(_given(context, "no_color")),
            quiet=bool(_given(context, "quiet")),
            verbose=bool(_given(context, "verbose")),
        ),
        json=bool(_given(context, "as_json")),
        start=_start(_given(context, "repo")),
        environ=os.environ,
        may_ask=not _given(context, "no_input") and sys.stdin is not None and sys.stdin.isatty(),
    )


def _given(context: click.Context, name: str) -> object:
    here: click.Context | None = context
    while here is not None:
        if here.params.get(name):
            return here.params[name]
        here = here.parent
    return None


def _start(repo: object) -> Path:
    if repo is None:
        try:
            return Path.cwd()
        except FileNotFoundError as error:
            raise NotFound(
                "the current folder is gone",
                why="It was deleted or moved while this terminal stood in it.",
                next_step="`cd` to a folder that is there, or name one with --repo.",
            ) from error
    folder = Path(str(repo))
    if not folder.is_dir():
        raise NotFound(
            f"--repo {folder}: no such folder",
            why="The repository is looked for from that folder upwards.",
            next_step="Name a folder that is there.",
        )
    return folder.absolute()
