"""`asbuilt gate`: check a command against the plan-mode rules, and paths against open pull requests."""

from typing import Final

from asbuilt.cli.shell.lazy import Lazy, LazyGroup

group: Final = LazyGroup(
    "gate",
    help=(
        "The gate of a planning conversation. While planning is held, it lets through what reads, and refuses"
        " the rest with the nearest form that is allowed. pr-paths asks whether somebody else's pull request"
        " changes the same files."
    ),
    examples=[
        ("asbuilt gate check 'git log | head'", "may this run while planning is held?"),
        ("asbuilt gate command", "what the plugin runs before every call of a tool"),
        ("asbuilt gate pr-paths --prefix src/api/", "open pull requests that change something there"),
    ],
    commands={
        "check": Lazy("gate.check:command", "ask whether a command may run while planning is held"),
        "command": Lazy("gate.command:command", "the argv that the installed plugin runs"),
        "pr-paths": Lazy("gate.pr_paths:command", "open pull requests that change what lies below a path"),
    },
)
