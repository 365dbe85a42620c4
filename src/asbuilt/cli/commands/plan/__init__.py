"""Plan files: list, show, check, write and mark them."""

from typing import Final

from asbuilt.cli.shell.lazy import Lazy, LazyGroup

group: Final = LazyGroup(
    "plan",
    help=(
        "Read, check, write and mark plans.\n\n"
        "A plan is a Markdown file: a tracker table, numbered sections, a checklist or prose; plans of"
        " spec-kit, OpenSpec, superpowers, ralphex and planning-with-files are read as they are. Name one"
        " by its path or by any unique part of its name."
    ),
    examples=[
        ('asbuilt plan new "rate limiting"', "write a plan to fill in"),
        ("asbuilt plan check rate-limiting", "what is wrong with it, line by line"),
        ("asbuilt plan show rate-limiting", "its phases, and which is next"),
        ("asbuilt plan mark rate-limiting 2a done", "state it in the file, nothing else changes"),
    ],
    commands={
        "list": Lazy("plan.list:command", "every plan here, and how far it is"),
        "show": Lazy("plan.show:command", "phases, waves, progress and problems of one"),
        "check": Lazy("plan.check:command", "what is wrong with it, line by line"),
        "new": Lazy("plan.new:command", "write a plan to fill in"),
        "mark": Lazy("plan.mark:command", "state a phase's or an item's status in the file"),
        "open": Lazy("plan.open:command", "edit a plan in your editor, then show the changes"),
        "refine": Lazy("plan.refine:command", "change what is open; what is done stays as it is"),
        "import": Lazy("plan.bundles:bring", "import a plan from a file or another machine"),
        "export": Lazy("plan.bundles:export", "pack it for another machine"),
    },
)
