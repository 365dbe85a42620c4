"""The journeys that faults strike: each a plan, a script and what is asked for, one run after another."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from msgspec import to_builtins

from asbuilt.lifecycle.tasks.model import Task
from asbuilt.lifecycle.tasks.planner_context import order_for
from tests.authoring.desk import say, turn
from tests.journeys.shop import LANDED, PLAN, SCRIPT
from tests.tasks.bench import PATH, STATE, TODO, result

_ONE: Final = PLAN[: PLAN.index("## Phase 2a")]
_TWO: Final = PLAN[: PLAN.index("## Phase 2b")]
_RIGHT: Final = SCRIPT.replace("wrong", "goodbye")
_LIMIT_S: Final = 3
_ORDER: Final = order_for(Task(number=1, slug="say_hello"), "plan", ())
_LIMITED: Final = f"""\
[[turn]]
phase = "1"
role = "implement"
start = 1
acts = [{{ write = "greet.py", text = "print('hel" }}, {{ limit = {_LIMIT_S} }}]
[[turn]]
phase = "1"
role = "implement"
acts = [{{ write = "greet.py", text = "print('hello')\\n" }}, {{ say = "done" }}]
{SCRIPT}"""


class Leg(NamedTuple):
    """One run of a journey: what is asked for, and the state it ends in."""

    options: dict[str, Any]
    ends: str


class Journey(NamedTuple):
    """What somebody wants done, however often it is struck."""

    legs: tuple[Leg, ...]
    subjects: tuple[str, ...]
    """The commits that it brings, the newest first."""
    lands: tuple[str, ...]
    starts: int
    """Agent starts when nothing strikes."""
    plan: str = PLAN
    script: str = SCRIPT
    is_of_a_task: bool = False
    """What is asked for is a plan of a numbered task; else the plan is there already."""


JOURNEYS: Final = {
    "four": Journey(
        legs=(Leg({"mode": "finish"}, "landed"),),
        subjects=("Mark plan.md", "Both", "Shout", "Part", "Greet"),
        lands=LANDED,
        starts=10,
    ),
    "one": Journey(
        legs=(Leg({"mode": "finish"}, "landed"),),
        subjects=("Mark plan.md", "Greet"),
        lands=("greet.py", "plan.md"),
        starts=2,
        plan=_ONE,
    ),
    "direct": Journey(
        legs=(Leg({"mode": "finish", "landing": "direct"}, "landed"),),
        subjects=("Mark plan.md", "Part", "Mark plan.md", "Greet"),
        lands=("greet.py", "part.py", "plan.md"),
        starts=4,
        plan=_TWO,
        script=_RIGHT,
    ),
    "held": Journey(
        legs=(Leg({"mode": "finish", "hold": True}, "held"), Leg({"kind": "land"}, "landed")),
        subjects=("Mark plan.md", "Greet"),
        lands=("greet.py", "plan.md"),
        starts=2,
        plan=_ONE,
    ),
    "undo": Journey(
        legs=(Leg({"mode": "finish"}, "landed"), Leg({"kind": "undo"}, "undone")),
        subjects=("Reopen plan.md", 'Revert "Greet"', "Mark plan.md", "Greet"),
        lands=(),
        starts=2,
        plan=_ONE,
    ),
    "question": Journey(
        legs=(Leg({"mode": "finish", "auto": False}, "held"),),
        subjects=(),
        lands=(),
        starts=5,
        plan=_TWO,
        script=_RIGHT,
    ),
    "limit": Journey(
        legs=(Leg({"mode": "finish"}, "landed"),),
        subjects=("Mark plan.md", "Greet"),
        lands=("greet.py", "plan.md"),
        starts=3,
        plan=_ONE,
        script=_LIMITED,
    ),
    "task": Journey(
        legs=(Leg({"kind": "task", "mode": "task", "auto": False, "task": to_builtins(_ORDER)}, "done"),),
        subjects=("task 1: create implementation plan",),
        lands=(PATH, STATE, TODO),
        starts=1,
        script=turn("plan", say(result())),
        is_of_a_task=True,
    ),
}
