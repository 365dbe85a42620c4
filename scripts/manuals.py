"""Write man pages and completion scripts from the same words as `-h`; a wheel carries them below share/."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import ShellComplete, get_completion_class

from asbuilt._version import VERSION
from asbuilt.cli.shell.app import COMPLETE_VARIABLE, root
from asbuilt.cli.shell.lazy import LazyGroup

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPLETIONS: Final = {
    "bash": "bash-completion/completions/asbuilt",
    "zsh": "zsh/site-functions/_asbuilt",
    "fish": "fish/vendor_completions.d/asbuilt.fish",
}
_TITLES: Final = ("Examples", "Options", "Everywhere", "Commands")


def share() -> dict[str, str]:
    """Give every file below share/, by its path there."""
    pages = {f"man/man1/{name}.1": text for name, text in _manuals()}
    return pages | {place: _completion(shell) for shell, place in COMPLETIONS.items()}


def _manuals() -> Iterator[tuple[str, str]]:
    top = click.Context(root, info_name="asbuilt", help_option_names=["-h", "--help"], show_default=True)
    names = [f"asbuilt-{name}" for name in root.lazy]
    text = root.get_help(top)
    summary = text.partition(".")[0]
    yield "asbuilt", _page("asbuilt", summary, ["asbuilt COMMAND", *_verbatim("DESCRIPTION", text)], names)
    for name, lazy in root.lazy.items():
        command = root.get_command(top, name)
        if command is None:
            raise LookupError(name)
        body = [f"asbuilt {name}", *_described(command, click.Context(command, info_name=name, parent=top))]
        yield f"asbuilt-{name}", _page(f"asbuilt-{name}", lazy.summary, body, ["asbuilt"])


def _page(name: str, summary: str, body: list[str], others: list[str]) -> str:
    usage, *rest = body
    also = ", ".join(f"\\fB{_escaped(other)}\\fR(1)" for other in others)
    lines = [
        f'.TH "{_escaped(name.upper())}" "1" "" "asbuilt {VERSION}" "asbuilt"',
        ".SH NAME",
        f"{_escaped(name)} \\- {_escaped(' '.join(summary.split()))}",
        ".SH SYNOPSIS",
        f".B {_escaped(usage)}",
        *rest,
        ".SH SEE ALSO",
        ".ad l",
        ".nh",
        also,
    ]
    return "\n".join(lines) + "\n"


def _described(command: click.Command, context: click.Context, heading: str = ".SH") -> Iterator[str]:
    """Take a help apart at its blank lines: prose stays prose, tables stay as they are drawn."""
    yield f"{heading} {'DESCRIPTION' if heading == '.SH' else _escaped(context.command_path)}"
    for part in command.get_help(context).split("\n\n"):
        title, _, rows = part.partition("\n")
        if title in _TITLES:
            yield from _verbatim(title.upper(), rows, heading)
        elif title.startswith(("Usage  ", "Options of a command")):
            yield from (".PP", f".B {_escaped(part.removeprefix('Usage  '))}")
        else:
            yield from (".PP", _escaped(" ".join(part.split())))
    if isinstance(command, LazyGroup):
        for name in command.lazy:
            inner = command.get_command(context, name)
            if inner is None:
                raise LookupError(name)
            yield from _described(inner, click.Context(inner, info_name=name, parent=context), ".SS")


def _verbatim(title: str, rows: str, heading: str = ".SH") -> Iterator[str]:
    # Below a subsection there is no third level: its tables have a bold line instead.
    yield f".SH {title}" if heading == ".SH" else f".PP\n.B {title.capitalize()}"
    yield from (".nf", *(_escaped(row) for row in rows.split("\n")), ".fi")


def _escaped(text: str) -> str:
    """Keep roff from reading a dash as a hyphen, or a line's first dot or quote as a request."""
    safe = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{safe}" if safe[:1] in (".", "'") else safe


def _completion(shell: str) -> str:
    kind = get_completion_class(shell)
    if kind is None:
        raise LookupError(shell)
    return ShellComplete.source(kind(root, {}, "asbuilt", COMPLETE_VARIABLE)).strip() + "\n"
