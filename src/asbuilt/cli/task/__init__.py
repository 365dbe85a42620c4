"""`asbuilt task`: what is wanted here, by number."""

from typing import Final

from asbuilt.cli.commands import Lazy, LazyGroup

group: Final = LazyGroup(
    "task",
    help=(
        "What is wanted in this repository, by number: each with its research and its plan. The store is the"
        " truth; specs/state.json and TODO.md show it, and are written together."
    ),
    examples=[
        ('asbuilt task add "limit requests per key"', "gets the next number"),
        ("asbuilt task plan 7", "an agent plans it, read-only; the plan is committed"),
        ("asbuilt task plan 7, 22-24, 59", "several at once"),
        ("asbuilt task import", "take what specs/state.json and TODO.md say"),
    ],
    commands={
        "add": Lazy("asbuilt.cli.task.add:command", "write a new task down"),
        "list": Lazy("asbuilt.cli.task.list:command", "the tasks that are open; --all of them"),
        "show": Lazy("asbuilt.cli.task.show:command", "one of them, with what happened to it"),
        "status": Lazy("asbuilt.cli.task.status:command", "say how tasks stand"),
        "research": Lazy("asbuilt.cli.task.research:command", "let an agent find out what a plan needs"),
        "plan": Lazy("asbuilt.cli.task.plan:command", "let an agent plan tasks, and commit the plans"),
        "import": Lazy("asbuilt.cli.task.bring:command", "take what people wrote into the views"),
        "export": Lazy("asbuilt.cli.task.export:command", "write specs/state.json and TODO.md here"),
    },
)
