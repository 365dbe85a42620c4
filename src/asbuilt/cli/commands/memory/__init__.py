"""`asbuilt memory`: lessons, facts and notes about this repository."""

from typing import Final

from asbuilt.cli.shell.lazy import Lazy, LazyGroup

group: Final = LazyGroup(
    "memory",
    help=(
        "What is remembered of this repository: lessons from what failed, facts that people told, notes of"
        " sessions. At most 100 of each kind are kept; the oldest lesson and note goes, no fact does."
    ),
    examples=[
        ("asbuilt memory list", "what runs have taught, and what people told"),
        ('asbuilt memory add "Redis 6 is what we run"', "a fact for whoever plans next"),
        ("asbuilt memory search redis --file src/api/store.py", "what is known of it"),
        ("asbuilt memory clear m3", "forget one"),
    ],
    commands={
        "list": Lazy("memory.list:command", "what is remembered here, the newest first"),
        "show": Lazy("memory.show:command", "one of them, whole"),
        "add": Lazy("memory.add:command", "remember something, in your words"),
        "search": Lazy("memory.search:command", "what is remembered about words or files"),
        "clear": Lazy("memory.clear:command", "forget some of it, or all"),
    },
)
