"""`asbuilt attempts`: the files of every attempt, each kept under a ref."""

from typing import Final

from asbuilt.cli.shell.lazy import Lazy, LazyGroup

group: Final = LazyGroup(
    "attempts",
    help="What agents have written. Every attempt's files are kept, whatever became of the run.",
    examples=[
        ("asbuilt attempts list rate-limit", "every attempt, the newest first"),
        ("asbuilt attempts diff rate-limit.1.2a.2", "what it changed"),
        ("asbuilt attempts restore rate-limit.1.2a.2 --to look", "a branch that holds its files"),
    ],
    commands={
        "list": Lazy("attempts.list:command", "every attempt, and where its files are kept"),
        "diff": Lazy("attempts.diff:command", "what an attempt changed against its base"),
        "restore": Lazy("attempts.restore:command", "make a branch that holds its files"),
    },
)
