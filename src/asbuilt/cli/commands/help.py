"""`asbuilt help`: the help of a topic or of a command."""

from __future__ import annotations

import click

from asbuilt.cli.shell import top_level_help as help_text
from asbuilt.cli.shell.options import Command
from asbuilt.errors import DONE


@click.command(
    "help",
    cls=Command,
    examples=[
        ("asbuilt help more", "the commands that asbuilt -h leaves out"),
        ("asbuilt help exit-codes", "what each exit code means"),
        ("asbuilt help run", "the same as asbuilt run -h"),
    ],
)
@click.argument("topic", nargs=-1, shell_complete=lambda *_: list(help_text.TOPICS))
@click.pass_context
def command(context: click.Context, topic: tuple[str, ...]) -> int:
    """Print the help of a topic (more, exit-codes, docs) or of a command."""
    root = context.find_root()
    if not topic:
        click.echo(help_text.TEXT)
    elif len(topic) == 1 and topic[0] in help_text.TOPICS:
        click.echo(help_text.TOPICS[topic[0]])
    else:
        click.echo(_of_command(root, list(topic)))
    return DONE


def _of_command(context: click.Context, words: list[str]) -> str:
    while words and isinstance(context.command, click.Group):
        name, command, words = context.command.resolve_command(context, words)
        if command is None:
            break
        context = click.Context(command, parent=context, info_name=name)
    return context.command.get_help(context)
