"""`asbuilt mode`: show plan mode of a conversation, and let the user turn it on and off."""

from typing import Final

from asbuilt.cli.shell.lazy import Lazy, LazyGroup

group: Final = LazyGroup(
    "mode",
    help=(
        "While planning is held in a conversation, nothing is changed from it but its own plan. Plan mode of"
        " Claude Code begins that by itself; these commands are for a person.\n\nA conversation is found by"
        " where the command is typed: inside of one, or in a folder in which just one is open. Else name it"
        " with --conversation."
    ),
    examples=[
        ("asbuilt mode show", "is planning held, since when, and by what?"),
        ("asbuilt mode enter", "hold planning in the conversation of this folder"),
        ("asbuilt mode exit", "let it go on; only a person may, not the agent itself"),
    ],
    commands={
        "show": Lazy("mode.show:command", "is planning held, since when, and by what?"),
        "plan": Lazy("mode.plan:command", "hold planning, or show the plan that is written"),
        "enter": Lazy("mode.change:enter", "hold planning"),
        "exit": Lazy("mode.change:exit_", "let it go on"),
        "set": Lazy("mode.change:set_", "plan holds it, any other mode lets it go on"),
    },
)
