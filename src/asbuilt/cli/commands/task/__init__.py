"""`asbuilt task`: the tasks of this repository, by number."""

from typing import Final

from asbuilt.cli.shell.lazy import Lazy, LazyGroup

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
        "add": Lazy("task.add:command", "write a new task down"),
        "list": Lazy("task.list:command", "the tasks that are open; --all of them"),
        "show": Lazy("task.show:command", "one of them, with what happened to it"),
        "status": Lazy("task.status:command", "say how tasks stand"),
        "research": Lazy("task.research:command", "let an agent find out what a plan needs"),
        "plan": Lazy("task.plan:command", "let an agent plan tasks, and commit the plans"),
        "import": Lazy("task.bring:command", "take what people wrote into the views"),
        "export": Lazy("task.export:command", "write specs/state.json and TODO.md here"),
    },
)
