"""The states of the matrix as a person reaches them at a terminal, and two of its tries.

The one rule: nobody is asked about a try; a dialog that comes up is never answered, and fails the test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.live.conversation import SCRIPT
from tests.live.matrix import DONE, EXITS, PLANS, TARGETS, Trial, contents, typed
from tests.live.terminal import Terminal
from tests.model import Call, Say, answer

if TYPE_CHECKING:
    from tests.live.conversation import Place
    from tests.live.matrix import Outcome, State, Tool

TRIED: Final[tuple[Tool, ...]] = ("Write", "Bash")
_BEGINS: Final = {
    "acceptEdits": ("--permission-mode", "acceptEdits"),
    "bypassPermissions": ("--dangerously-skip-permissions",),
}


def tried_at_a_terminal(place: Place, state: State) -> dict[Tool, Outcome]:
    """Write, and run a command that writes, with the plugin installed."""
    trial = Trial(place, state)
    place.settle({**trial.settings, "skipDangerousModePermissionPrompt": True})
    typed(place, "init", "--claude")
    before = contents(place)
    begins = _BEGINS.get(state, ("--permission-mode", "plan"))
    with Terminal(place, *begins, environment={"IS_SANDBOX": "1"}) as terminal:
        _reach(terminal, place, state)
        shop = place.shop
        place.model.play(
            SCRIPT,
            answer(Call("Write", {"file_path": str(shop / TARGETS["Write"]), "content": "x\n"})),
            answer(Call("Bash", {"command": f"touch {shop / TARGETS['Bash']}", "description": "d"})),
            answer(Say("ALL TRIED. What next?")),
        )
        terminal.type("go on")
        terminal.sees("ALL TRIED")
    messages = place.model.requests(SCRIPT)[-1].body["messages"]
    outcomes = trial.outcomes([{"type": one["role"], "message": one} for one in messages], before)
    return {tool: outcomes[tool] for tool in TRIED}


def _reach(terminal: Terminal, place: Place, state: State) -> None:
    """Bring the conversation into the state by typing and pressing keys."""
    play = place.model.play
    match state:
        case "plain" | "user allow rules":
            pass
        case "after rejection":
            play(SCRIPT, PLANS, EXITS, DONE)
            terminal.type("plan it")
            terminal.sees("Tell Claude what to change")
            terminal.answer("3", lambda screen: "❯ 3." in screen)
            terminal.type("add tests")
            terminal.sees("DONE")
        case "after /clear":
            play(SCRIPT, PLANS, DONE)
            terminal.type("plan it")
            terminal.sees("DONE")
            terminal.type("/clear")
            terminal.until(lambda screen: "DONE" not in screen, "an empty screen")
        case "after compaction":
            play(SCRIPT, PLANS, DONE)
            terminal.type("plan it")
            terminal.sees("DONE")
            play(SCRIPT, answer(Say("a summary")), answer(Say("a summary")))
            terminal.type("/compact")
            terminal.sees("Compacted")
        case "after an approval of another plan":
            play(SCRIPT, PLANS, EXITS, DONE)
            terminal.type("plan it")
            terminal.sees("manually approve edits")
            terminal.answer("2", lambda screen: "manually approve edits" not in screen)
            terminal.sees("DONE")
            _back_to_plan_mode(terminal)
        case "acceptEdits":
            terminal.sees("accept edits on")
            _back_to_plan_mode(terminal)
        case "bypassPermissions":
            terminal.sees("bypass permissions on")
            _back_to_plan_mode(terminal)


def _back_to_plan_mode(terminal: Terminal) -> None:
    """Press Shift+Tab until it is plan mode, each time after the screen has changed."""
    while "plan mode on" not in terminal.screen():
        shown = terminal.mode()
        terminal.press("BTab")
        terminal.until(lambda _, shown=shown: terminal.mode() not in ("", shown), "another mode")  # type: ignore[misc]  # bound now
