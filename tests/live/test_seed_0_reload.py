"""A plan survives /clear in the conversation that works on it, and reaches no other. In a terminal."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from asbuilt.session.hook_command import hook_argv
from tests.live.conversation import EVENTS, SCRIPT, Place
from tests.live.terminal import Terminal
from tests.model import Call, Say, Usage, answer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.model import Model

pytestmark = pytest.mark.live

PLAN = """\
# Rate limiting

## Phase 1: Bucket

- [x] the bucket

## Phase 2a: Redis store

- [x] connect
- [ ] expiry
- [ ] two workers share one bucket
"""
HERE = r"{{re:create your plan at (\S+?) using}}"
HALF, FULL = Usage(cached=520_000), Usage(cached=620_000)
"""Of a window of a million tokens, which Claude Code's default model has."""


def place_of(room: Path, model: Model, **settings: object) -> Place:
    """Put every hook of ours into the user's settings."""
    place = Place(room, model)
    hooks = {
        event: [{"hooks": [{"type": "command", "command": shlex.join(hook_argv(event)), "timeout": 20}]}]
        for event in EVENTS
    }
    # Auto mode asks a server that is not there.
    permissions = {"defaultMode": "default", "disableAutoMode": "disable"}
    place.settle({"hooks": hooks, "plansDirectory": "./plans", "permissions": permissions, **settings})
    return place


def asked(model: Model, prompt: str) -> str:
    """Give all words of the last request that carries a prompt of the person's."""
    return next(one.words for one in reversed(model.requests(SCRIPT)) if prompt in one.words)


def told(words: str) -> list[str]:
    """Find what asbuilt has said in a request: the first row of each."""
    return re.findall(r"asbuilt: .*", words)


def flat(screen: str) -> str:
    """Read a screen without the pane at its side and the breaks of its lines."""
    return " ".join(word for row in screen.splitlines() for word in row.partition("│")[0].split())


def test_a_plan_survives_clear_in_its_own_conversation_only(room: Path, model: Model) -> None:
    place = place_of(room, model)
    state = {"ASBUILT_HOME": str(room / "state")}
    model.play(
        SCRIPT,
        answer(Call("Write", {"file_path": HERE, "content": PLAN})),
        answer(Call("ExitPlanMode", {})),
        answer(Say("It begins."), usage=HALF),
        answer(Say("The store connects."), usage=FULL),
        answer(Say("Saved. Reload with: the plan."), usage=FULL),
        answer(Say("I wait for a yes.")),
        answer(Say("Forty-two.")),
        answer(Say("Good morning.")),
    )
    with Terminal(place, "--permission-mode", "plan", environment=state) as terminal:
        terminal.type("make a plan")
        terminal.sees("Ready to code")
        terminal.press("2")
        terminal.sees("It begins")
        terminal.type("go on with it")
        screen = flat(terminal.sees("Saved. Reload with"))
        (plan,) = (place.shop / "plans").glob("*.md")
        name = plan.stem
        assert f"CONTEXT WARNING: 52% used. {name}: 2 items open, 2a in work. Place saved;" in screen
        assert screen.count("asbuilt: context 62% used, stopping once to save. Tick what is proven in") == 1
        # The turn that was kept from ending has ended; nothing stopped it again.
        assert [one.step for one in model.requests(SCRIPT)] == [0, 1, 2, 3, 4]

        terminal.type("/clear")
        restored = rf"restored {name} \(saved \d+s ago by this conversation\)"
        terminal.until(lambda screen: re.search(restored, flat(screen)) is not None, restored)
        with Terminal(place, environment=state) as other:
            line = f"asbuilt: {name} is active in another conversation; not loaded."
            other.until(lambda screen: line in flat(screen), line)
            other.type("may I come in?")
            other.sees("I wait for a yes")
            assert told(asked(model, "may I come in?")) == [line]

        terminal.type("what is six times seven?")
        terminal.sees("Forty-two")
        said = asked(model, "what is six times seven?")
        assert PLAN.rstrip() in said
        assert (
            'ACTION REQUIRED: continue with 2a "expiry"; 2 items open, 2a in work. The user\'s message'
            in said
        )
        assert "comes first: where it asks for something else, do that and leave the plan." in said

        plan.write_text(PLAN.replace("[ ]", "[x]"))
        terminal.type("/clear")
        terminal.until(lambda screen: "Forty-two" not in screen, "a cleared screen")
        terminal.type("good morning")
        terminal.sees("Good morning")
        assert told(asked(model, "good morning")) == []
    assert model.left(SCRIPT) == 0
    assert not (room / "state" / "conversations.log").exists()


def test_a_plan_that_was_approved_by_clearing_the_context_survives_clear(room: Path, model: Model) -> None:
    place = place_of(room, model, showClearContextOnPlanAccept=True)
    model.play(
        SCRIPT,
        answer(Call("Write", {"file_path": HERE, "content": PLAN})),
        answer(Call("ExitPlanMode", {})),
        answer(Say("It begins.")),
        answer(Say("On it.")),
    )
    state = {"ASBUILT_HOME": str(room / "state")}
    with Terminal(place, "--permission-mode", "plan", environment=state) as terminal:
        terminal.type("make a plan")
        terminal.sees(r"1\. Yes, clear context")
        terminal.press("1")
        terminal.sees("It begins")
        (plan,) = (place.shop / "plans").glob("*.md")
        said = f"works on {plan.stem}: 2 items open, 2a in work. Tick an item in plans/{plan.name} when"
        (row,) = told(asked(model, "Implement the following plan"))
        assert row == f"asbuilt: this conversation {said} it is proven. /clear brings the plan back here."
        terminal.sees(r"\? for shortcuts|\(shift\+tab to cycle\)")
        terminal.type("/clear")
        terminal.until(lambda screen: f"restored {plan.stem}" in flat(screen), "the plan")
        terminal.type("go on")
        terminal.sees("On it")
        assert 'ACTION REQUIRED: continue with 2a "expiry"' in asked(model, "go on")
    assert model.left(SCRIPT) == 0
