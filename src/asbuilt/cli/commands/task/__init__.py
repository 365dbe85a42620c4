"""`asbuilt task`: the tasks of this repository, by number."""

from typing import Final

from asbuilt.cli.shell.lazy import Lazy, LazyGroup

group: Final = LazyGroup(
    "task",
    help=(
        "The tasks of this repository, by number, each with its research and its plan. They are stored in the"
        " ledger; specs/state.json and TODO.md are views of it, and are written together."
    ),
    examples=[
        ('asbuilt task add "limit requests per key"', "gets the next number"),
        ("asbuilt task plan 7", "an agent plans it, read-only; the plan is committed"),
        ("asbuilt task plan 7, 22-24, 59", "several at once"),
        ("asbuilt task import", "import specs/state.json and TODO.md"),
    ],
    commands={
        "add": Lazy("task.tracking:add", "Add a task"),
        "list": Lazy("task.tracking:list_", "List open tasks, or all"),
        "show": Lazy("task.tracking:show", "Show a task and its history"),
        "status": Lazy("task.tracking:status", "Set a task's status"),
        "research": Lazy("task.plan_and_research:research", "Research tasks with an agent"),
        "plan": Lazy("task.plan_and_research:plan", "Plan tasks with an agent, and commit the plans"),
        "import": Lazy("task.tracking:bring", "Import edits of the views"),
        "export": Lazy("task.tracking:export", "Write specs/state.json and TODO.md"),
    },
)
