"""`asbuilt completion`: print a shell's completion script and how to install it."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import ShellComplete, get_completion_class

from asbuilt.cli.shell.app import COMPLETE_VARIABLE, root
from asbuilt.cli.shell.options import Door, subcommand

_INSTALL: Final = {
    "bash": "asbuilt completion bash > ~/.local/share/bash-completion/completions/asbuilt",
    "zsh": 'asbuilt completion zsh > "${fpath[1]}/_asbuilt"',
    "fish": "asbuilt completion fish > ~/.config/fish/completions/asbuilt.fish",
}


@subcommand("completion", *((line, "") for line in _INSTALL.values()), json=False)
@click.argument("shell", type=click.Choice(list(_INSTALL)))
def command(door: Door, shell: str) -> None:
    """Print the script that completes commands and options in your shell.

    The script is written to your shell's completion folder; a new shell loads it.
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise LookupError(shell)
    # Not kind.source(): for bash, it starts a bash process to check its version.
    script = ShellComplete.source(kind(root, {}, "asbuilt", COMPLETE_VARIABLE))
    door.screen.answer_all((*script.strip().split("\n"), "", f"# To install: {_INSTALL[shell]}"))
