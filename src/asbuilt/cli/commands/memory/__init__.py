"""`asbuilt memory`: lessons, facts and notes about this repository."""

from typing import Final

from asbuilt.cli.shell.lazy import Lazy, LazyGroup

group: Final = LazyGroup(
    "memory",
    help=(
        "Memories of this repository: lessons from failures, facts of users, notes of sessions. At most 100"
        " of each kind are kept; the oldest lessons and notes are deleted, facts are not."
    ),
    examples=[
        ("asbuilt memory list", "lessons of runs, and facts of users"),
        ('asbuilt memory add "Redis 6 is what we run"', "a fact for the next plan"),
        ("asbuilt memory search redis --file src/api/store.py", "memories about it"),
        ("asbuilt memory clear m3", "delete one"),
    ],
    commands={
        "list": Lazy("memory.commands:list_", "List memories, newest first"),
        "show": Lazy("memory.commands:show", "Show one memory"),
        "add": Lazy("memory.commands:add", "Add a memory in your own words"),
        "search": Lazy("memory.commands:search", "Find memories by words or files"),
        "clear": Lazy("memory.commands:clear", "Delete some memories, or all"),
    },
)
