"""Command and group classes: load a command when it is chosen, and show examples before options."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, NamedTuple

import click
from click.shell_completion import CompletionItem

from asbuilt.cli.shell.options import SharedOption, shared_options
from asbuilt.cli.ui.screen import WIDTH, Pen
from asbuilt.cli.ui.symbols import ASCII

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Example = tuple[str, str]
"""A command to type, and what it does."""

_PEN = Pen(stream=None, styled=False, symbols=ASCII, utf8=False)
_COMMANDS = "asbuilt.cli.commands"
_HELP_OPTION = ("-h, --help", "this text")


class Lazy(NamedTuple):
    """A command that is not imported yet: where it is, and its summary in the group's help."""

    target: str
    """`module:attribute`; the module is below `asbuilt.cli.commands`."""
    summary: str


class Command(click.Command):
    """A command whose help shows examples first."""

    def __init__(self, name: str | None, *, examples: Sequence[Example] = (), **settings: object) -> None:
        super().__init__(name, **settings)  # type: ignore[arg-type]  # passed on as click gives them
        self.examples = examples

    def get_help(self, ctx: click.Context) -> str:
        """Return purpose, usage, examples, own options and shared options, in this order."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        own = [record for option in options if _is_own(option) and (record := option.get_help_record(ctx))]
        everywhere = [
            record
            for option in options
            if isinstance(option, SharedOption) and (record := option.get_help_record(ctx))
        ]
        arguments = [piece for param in self.get_params(ctx) for piece in param.get_usage_pieces(ctx)]
        usage = " ".join([ctx.command_path, *arguments, *(["[OPTIONS]"] if options else [])])
        return _page(
            _prose(self.help),
            [f"Usage  {usage}"],
            _table("Examples", self.examples),
            _table("Options", own),
            _table("Everywhere", [*everywhere, _HELP_OPTION]),
        )


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only when it is chosen."""

    def __init__(
        self,
        name: str | None = None,
        *,
        commands: Mapping[str, Lazy],
        examples: Sequence[Example] = (),
        **settings: object,
    ) -> None:
        super().__init__(name, **settings)  # type: ignore[arg-type]  # passed on as click gives them
        self.lazy = commands
        self.examples = examples
        self.params.extend(shared_options(json=True))

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in their order of registration, which is the order of use."""
        del ctx
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the chosen command."""
        del ctx
        if cmd_name not in self.lazy:
            return None
        module, _, attribute = self.lazy[cmd_name].target.partition(":")
        command: click.Command = getattr(importlib.import_module(f"{_COMMANDS}.{module}"), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command. click's own suggestions cover only loaded commands, so suggest from all names."""
        if args[0] not in self.lazy and not ctx.resilient_parsing and not args[0].startswith("-"):
            raise click.NoSuchCommand(args[0], possibilities=self.lazy, ctx=ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete names with their summaries, without importing the commands."""
        names = [name for name in self.lazy if name.startswith(incomplete)]
        if names or not incomplete.startswith("-"):
            return [CompletionItem(name, help=self.lazy[name].summary) for name in names]
        return click.Command.shell_complete(self, ctx, incomplete)

    def get_help(self, ctx: click.Context) -> str:
        """Return purpose, examples, commands and the group's own options."""
        commands = [(name, lazy.summary) for name, lazy in self.lazy.items()]
        options = [param for param in self.params if isinstance(param, click.Option)]
        own = [
            record
            for option in options
            if not isinstance(option, SharedOption) and (record := option.get_help_record(ctx))
        ]
        return _page(
            _prose(self.help),
            _table("Examples", self.examples),
            _table("Commands", commands),
            _table("Options", own),
            [f"Options of a command: {ctx.command_path} COMMAND -h"],
        )


def _is_own(option: click.Option) -> bool:
    return not isinstance(option, SharedOption) and "--help" not in option.opts


def _page(*blocks: list[str]) -> str:
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _prose(text: str | None) -> list[str]:
    paragraphs = (text or "").split("\n\n")
    rows = [["", *_PEN.hanging("", paragraph)] for paragraph in paragraphs if paragraph.strip()]
    return [row for paragraph in rows for row in paragraph][1:]


def _table(title: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    listed = list(rows)
    if not listed:
        return []
    lengths = [len(first) for first, _ in listed]
    # A single long example must not push all descriptions to the right edge.
    left = max((length for length in lengths if length <= WIDTH // 2 + 6), default=max(lengths))
    shown = [title]
    for first, second in listed:
        if len(first) > left:
            shown.append(f"  {first}")
            shown += _PEN.hanging(" " * (left + 4), second)
        else:
            shown += _PEN.hanging(f"  {first:<{left}}  ", second)
    return [row.rstrip() for row in shown]
