"""`asbuilt agents`: list the installed agents, and test their sandbox and gate."""

from typing import Final

from asbuilt.cli.shell.lazy import Lazy, LazyGroup

group: Final = LazyGroup(
    "agents",
    help="The agents that this machine has. asbuilt brings none; it drives those that you have installed.",
    examples=[
        ("asbuilt agents list", "who is here, and who would work and verify"),
        ("asbuilt agents test codex", "forbidden writes and calls must be refused"),
        ("asbuilt agents test codex --live", "and the agent itself tries one; asks its model"),
    ],
    commands={
        "list": Lazy("agents.list:command", "who is here, and who has which role"),
        "test": Lazy("agents.test:command", "prove that an agent is held"),
    },
)
