"""The worker, which carries runs on: make the system start it."""

from typing import Final

from asbuilt.cli.commands import Lazy, LazyGroup

group: Final = LazyGroup(
    "worker",
    help=(
        "The worker carries runs on. It starts with the first run; installed, the system starts it"
        " when you log in, so that schedules fire and runs go on after a restart."
    ),
    examples=[
        ("asbuilt worker install", "write the unit, show it, ask to enable it"),
        ("asbuilt worker uninstall", "take it away again"),
    ],
    commands={
        "install": Lazy("asbuilt.cli.worker.install:install", "let the system start it when you log in"),
        "uninstall": Lazy("asbuilt.cli.worker.install:uninstall", "take that away again"),
    },
)
