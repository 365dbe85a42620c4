"""`asbuilt gate`: check a command against the plan-mode rules, and paths against open pull requests."""

from typing import Final

from asbuilt.cli.shell.lazy import Lazy, LazyGroup

group: Final = LazyGroup(
    "gate",
    help=(
        "The gate of plan mode. While plan mode is on, it allows calls that only read and refuses the rest,"
        " naming the nearest allowed form. pr-paths checks whether an open pull request changes a path."
    ),
    examples=[
        ("asbuilt gate check 'git log | head'", "whether it may run in plan mode"),
        ("asbuilt gate command", "what the plugin runs before every call of a tool"),
        ("asbuilt gate pr-paths --prefix src/api/", "open pull requests that change something there"),
    ],
    commands={
        "check": Lazy("gate.commands:check", "check a command against the plan-mode rules"),
        "command": Lazy("gate.commands:hook_command", "the argv that the installed plugin runs"),
        "pr-paths": Lazy("gate.commands:command", "list open pull requests that change a path"),
    },
)
