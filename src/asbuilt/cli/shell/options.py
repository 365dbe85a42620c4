"""Declare a command: its help page, its examples, and the options that every command takes.

Commands read the environment and the start folder from their `Door`.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple, TypeVar

import click

from asbuilt.cli.ui.screen import WIDTH, Pen, Screen, screen_for
from asbuilt.cli.ui.symbols import ASCII
from asbuilt.errors import NotFound, UsageWrong

Returned = TypeVar("Returned")
Wrapped = TypeVar("Wrapped", bound="Callable[..., Any]")
Example = tuple[str, str]
"""A command to type, and what it does."""

_PEN = Pen(stream=None, styled=False, symbols=ASCII, utf8=False)
_HELP_OPTION = ("-h, --help", "this text")


class Door(NamedTuple):
    """How a command was called: start folder, environment, output streams and format."""

    screen: Screen
    json: bool
    start: Path
    """Folder where the search for the repository starts: --repo, else the current folder."""
    environ: Mapping[str, str]
    may_ask: bool
    """Whether a question can be answered: stdin is a terminal, and --no-input is not given."""

    @property
    def is_attended(self) -> bool:
        """Whether questions are asked: they can be answered, and the answer is not JSON."""
        return self.may_ask and not self.json

    def emitted(self, schema: str, data: Mapping[str, object]) -> bool:
        """With --json, write the answer as JSON. Return whether it was written."""
        if self.json:
            self.screen.emit_json({"schema": schema, **data})
        return self.json


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
    """Add the shared options behind a command's own; it is called with a `Door` before its own arguments."""

    def with_options(command: Callable[..., Returned]) -> Callable[..., Returned]:
        options = shared_options(json=json)
        names = ("as_json", *(option.name for option in options))

        @functools.wraps(command)
        def with_door(**given: object) -> Returned:
            own = {name: value for name, value in given.items() if name not in names}
            return command(door_of(click.get_current_context(), json=json), **own)

        # click.option keeps the last option first.
        own_options = getattr(command, "__click_params__", [])
        with_door.__click_params__ = [*options[::-1], *own_options]  # type: ignore[attr-defined]
        return with_door

    return with_options


class Parsing(click.Command):
    """A command whose name is in every error of its options: click's parser names none in some of them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise


class Command(Parsing):
    """A command whose help shows examples first."""

    def __init__(self, name: str | None, *, examples: Sequence[Example] = (), **settings: object) -> None:
        super().__init__(name, **settings)  # type: ignore[arg-type]  # passed on as click gives them
        self.examples = examples

    def get_help(self, ctx: click.Context) -> str:
        """Return purpose, usage, examples, own options and shared options, in this order."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        arguments = [piece for param in self.get_params(ctx) for piece in param.get_usage_pieces(ctx)]
        usage = " ".join([ctx.command_path, *arguments, *(["[OPTIONS]"] if options else [])])
        return page(
            prose(self.help),
            [f"Usage  {usage}"],
            table("Examples", self.examples),
            table("Options", records(ctx, options)),
            table("Everywhere", [*records(ctx, options, kind=SharedOption), _HELP_OPTION]),
        )


def subcommand(
    name: str, *examples: Example, json: bool = True
) -> Callable[[Callable[..., int | None]], Command]:
    """Declare a command, above its own options; `json` False: it has no --json."""

    def declare(command: Callable[..., int | None]) -> Command:
        return click.command(name, cls=Command, examples=examples)(shared(json=json)(command))

    return declare


def with_options(*options: Callable[[Any], Any]) -> Callable[[Wrapped], Wrapped]:
    """Add several options to a command, in this order."""

    def add(command: Wrapped) -> Wrapped:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def script_option(meaning: str = "script of the scripted agent") -> Callable[[Wrapped], Wrapped]:
    """Return the option that names the script of the scripted agent."""
    kind = click.Path(exists=True, dir_okay=False, resolve_path=True)
    return click.option("--script", metavar="FILE", type=kind, help=meaning)


def door_of(context: click.Context, *, json: bool) -> Door:
    """Read the shared options from any position: before, between or after the command names."""
    if _given(context, "as_json") and not json:
        raise UsageWrong(
            f"{context.command_path} has no --json",
            why="The command has no machine-readable output.",
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
                why="The current folder of this terminal was deleted or moved.",
                next_step="`cd` to an existing folder, or name one with --repo.",
            ) from error
    folder = Path(str(repo))
    if not folder.is_dir():
        there = next((parent for parent in folder.parents if parent.is_dir()), Path())
        raise NotFound(
            f"--repo {folder}: no such folder",
            why="The repository is looked for from that folder upwards.",
            next_step=f"`ls {quote(str(there))}` shows what exists.",
        )
    return folder.absolute()


def records(
    context: click.Context, options: Iterable[click.Option], *, kind: type[click.Option] = click.Option
) -> list[tuple[str, str]]:
    """Return the help of the options of one class, without --help."""
    wanted = [option for option in options if type(option) is kind and "--help" not in option.opts]
    return [record for option in wanted if (record := option.get_help_record(context))]


def page(*blocks: list[str]) -> str:
    """Join the blocks of a help page."""
    return "\n\n".join("\n".join(block) for block in blocks if block)


def prose(text: str | None) -> list[str]:
    """Wrap the paragraphs of a help page."""
    paragraphs = (text or "").split("\n\n")
    rows = [["", *_PEN.hanging("", paragraph)] for paragraph in paragraphs if paragraph.strip()]
    return [row for paragraph in rows for row in paragraph][1:]


def table(title: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    """Draw a titled table of a help page."""
    listed = list(rows)
    if not listed:
        return []
    lengths = [len(first) for first, _ in listed]
    # A single long example must not push all descriptions to the right edge.
    left = max((length for length in lengths if length <= WIDTH // 2 + 6), default=WIDTH // 4)
    shown = [title]
    for first, second in listed:
        if len(first) > left:
            shown.append(f"  {first}")
            shown += _PEN.hanging(" " * (left + 4), second)
        else:
            shown += _PEN.hanging(f"  {first:<{left}}  ", second)
    return [row.rstrip() for row in shown]
