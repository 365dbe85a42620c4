"""`asbuilt gate`: what stands before every call of a tool while planning is held."""

from typing import Final

from asbuilt.cli.commands import Lazy, LazyGroup

group: Final = LazyGroup(
    "gate",
    help=(
        "The gate of a planning conversation. While planning is held, it lets through what reads, and refuses"
        " the rest with the nearest form that is allowed."
    ),
    examples=[
        ("asbuilt gate check 'git log | head'", "may this run while planning is held?"),
        ("asbuilt gate command", "what the plugin runs before every call of a tool"),
    ],
    commands={
        "check": Lazy(
            "asbuilt.cli.gate.check:command", "ask whether a command may run while planning is held"
        ),
        "command": Lazy("asbuilt.cli.gate.command:command", "the argv that the installed plugin runs"),
    },
)
