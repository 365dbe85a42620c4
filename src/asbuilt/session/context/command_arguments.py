"""Text that the user typed after a slash command of asbuilt, stored until the skill's command reads it.

Rule: only a UserPromptSubmit hook stores it, so that an agent cannot type for the user.
"""

from __future__ import annotations

from asbuilt.policy.plan_mode.state import arguments_of
from asbuilt.session.conversation import put, remove, text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Command = Literal["plan", "author", "approve"]

COMMANDS: tuple[Command, ...] = ("plan", "author", "approve")


def command_in(prompt: str) -> tuple[Command, str] | None:
    """Return the command of a prompt and the text after it; None if the prompt is another one."""
    for command in COMMANDS:
        if (words := arguments_of(f"/asbuilt:{command}", prompt)) is not None:
            return command, words
    return None


def keep_typed(folder: str, command: Command, words: str) -> None:
    """Store what the user typed after a command."""
    put(folder, f"typed.{command}", words)


def take_typed(folder: str, command: Command) -> str | None:
    """Return and remove the text; None if the user typed no such command."""
    try:
        words = text_in(folder, f"typed.{command}")
    except (OSError, ValueError):
        words = None
    remove(folder, f"typed.{command}")
    return words
