"""`asbuilt mode`: show plan mode of a conversation, and let the user turn it on and off."""

from typing import Final

from asbuilt.cli.shell.lazy import Lazy, LazyGroup

group: Final = LazyGroup(
    "mode",
    help=(
        "While plan mode is on, a conversation is read-only except for its own plan. Claude Code's plan mode"
        " turns it on automatically; these commands are for you.\n\nThe command finds the conversation around"
        " it, or the only one that is open in this folder. Otherwise name it with --conversation."
    ),
    examples=[
        ("asbuilt mode show", "whether plan mode is on, since when, and what turned it on"),
        ("asbuilt mode enter", "turn plan mode on in the conversation of this folder"),
        ("asbuilt mode exit", "turn it off; an agent cannot"),
    ],
    commands={
        "show": Lazy("mode.commands:show", "show whether plan mode is on"),
        "plan": Lazy("mode.commands:plan", "what /asbuilt:plan does in a conversation"),
        "enter": Lazy("mode.commands:enter", "turn plan mode on"),
        "exit": Lazy("mode.commands:exit_", "turn plan mode off"),
        "set": Lazy("mode.commands:set_", "plan turns it on, any other mode turns it off"),
    },
)
