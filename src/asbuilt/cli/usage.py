"""Say click's complaints in our words: what is the case, why that stops us, what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from asbuilt.errors import UsageWrong

if TYPE_CHECKING:
    from collections.abc import Sequence

_NO_GUESS: Final = "A guess could do something you did not mean; nothing was done."


def usage_wrong(error: click.UsageError) -> UsageWrong:
    """Turn one complaint of click into one of ours."""
    path = error.ctx.command_path if error.ctx else "asbuilt"
    look = f"`{path} -h` shows examples and options."
    match error:
        case click.NoSuchCommand():
            what = f'{path} has no command "{error.command_name}"{_meant(error.possibilities)}'
            return UsageWrong(what, why=_NO_GUESS, next_step=f"`{path} -h` lists the commands.")
        case click.NoSuchOption():
            what = f"{path} has no option {error.option_name}{_meant(error.possibilities)}"
        case click.MissingParameter():
            what = f"{path} needs {_hint(error) or 'one more argument'}"
            return UsageWrong(what, why="There is no default for it; nothing was done.", next_step=look)
        case click.BadParameter():
            what = f"{path}: {_hint(error)}{_sentence(error.message)}"
        case _:
            what = f"{path}: {_sentence(error.message)}"
    return UsageWrong(what, why=_NO_GUESS, next_step=look)


def _meant(possibilities: Sequence[str] | None) -> str:
    if not possibilities:
        return ""
    return f". Did you mean {possibilities[0]}?"


def _hint(error: click.BadParameter) -> str:
    if error.param is None:
        return ""
    name = error.param.opts[0] if isinstance(error.param, click.Option) else error.param.human_readable_name
    return name if isinstance(error, click.MissingParameter) else f"{name}: "


def _sentence(message: str) -> str:
    text = message.strip().removesuffix(".")
    return text[:1].lower() + text[1:]
