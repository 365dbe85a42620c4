"""Groups that know their commands by name and import a command when it is chosen."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem

from asbuilt.cli.shell.options import Example, Parsing, page, prose, records, shared, shared_options, table

_COMMANDS = "asbuilt.cli.commands"


class Lazy(NamedTuple):
    """A command that is not imported yet: where it is, and its summary in the group's help."""

    target: str
    """`module:attribute`; the module is below `asbuilt.cli.commands`."""
    summary: str


class LazyGroup(Parsing, click.Group):
    """A group that knows its commands by name and imports one only when it is chosen."""

    def __init__(
        self,
        name: str | None = None,
        *,
        commands: Mapping[str, Lazy],
        examples: Sequence[Example] = (),
        alone: Callable[..., int | None] | None = None,
        json: bool = True,
        **settings: object,
    ) -> None:
        """Declare a group. `alone` is its command without a subcommand; `json` False: it has no --json."""
        if alone is not None:
            run = shared(json=json)(alone)
            settings["invoke_without_command"] = True
            settings["callback"] = lambda **given: None if _has_subcommand() else run(**given)
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
        return page(
            prose(self.help),
            table("Examples", self.examples),
            table("Commands", commands),
            table("Options", records(ctx, options)),
            [f"Options of a command: {ctx.command_path} COMMAND -h"],
        )


def _has_subcommand() -> bool:
    return click.get_current_context().invoked_subcommand is not None
