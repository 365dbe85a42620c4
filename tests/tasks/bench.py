"""A repository with tasks, scripted planners, and a worker that can be killed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from asbuilt.agents.attempt_folder import Folder
from asbuilt.flows.tasks.postflight import found_at
from asbuilt.git.repository import open_repository
from asbuilt.journal.ids import LOCAL
from asbuilt.ledger import tasks
from asbuilt.lifecycle.tasks.model import Failed
from asbuilt.lifecycle.tasks.planner_context import order_for
from asbuilt.lifecycle.tasks.state_json import read_state
from asbuilt.lifecycle.tasks.statuses import Status
from asbuilt.lifecycle.tasks.todo import agree
from tests.authoring.desk import say, turn
from tests.journeys.shop import REPO, Shop

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.lifecycle.tasks.model import Task
    from asbuilt.lifecycle.tasks.todo import Pair

WANT = "Say hello to whoever is named on the command line."
PATH = "specs/001_say_hello/plans/01_say-hello.md"
STATE, TODO = "specs/state.json", "specs/TODO.md"
PLAN = """\
# Say hello

Effort: 2.5 hours

## Goal
`greet.py NAME` says hello to NAME.

## Scope
`greet.py` (new)

## Non-Scope
Other languages.

## Phase 1 — Greet
### Work Items
- [ ] `greet.py` says hello to the name that it is given
### Verification
- `python greet.py Ann | grep -q Ann`
### Dependencies
None.

## Phase 2 — Refuse
### Work Items
- [ ] `greet.py` without a name exits with 2
### Verification
- `grep -q usage greet.py`
### Dependencies
Phase 1.

## Risks
None.

## Open Questions
None.
"""
REPORT = "# Greeting\n\n## Findings\n" + "What is there already, and where it is, in many words. " * 6


def record(status: str = "planned", kind: str = "plan", path: str = PATH, **more: object) -> str:
    """Write the record of a result."""
    artifacts = [{"type": kind, "path": path, "summary": "Two phases."}]
    told = {"status": status, "artifacts": artifacts, "metadata": {}, "errors": [], **more}
    return f"<result>\n{json.dumps(told)}\n</result>"


def result(text: str = PLAN, status: str = "planned", **more: Any) -> str:  # noqa: ANN401
    """Write what an agent hands in."""
    return f"Here it is.\n<artifact>\n{text}</artifact>\n{record(status, **more)}"


def add_task(shop: Shop) -> None:
    """Write a task down; its plan will lie at PATH."""
    shop.plan = PATH
    with shop.store.write() as session:
        tasks.add(
            session, LOCAL, REPO, slug="say_hello", kind="general", description=WANT, key="1", actor="you"
        )


def task_of(shop: Shop) -> Task:
    """Read the task."""
    with shop.store.read() as session:
        return tasks.every(session, LOCAL, REPO)[1]


def views_of(shop: Shop) -> Pair:
    """Read both views as the branch has them."""
    return found_at(open_repository(shop.checkout), shop.git("rev-parse", "main")).pair


def unsettled(shop: Shop) -> list[str]:
    """Say what of a postflight is not done, or was done twice; nothing when it is whole."""
    task, pair = task_of(shop), views_of(shop)
    told = agree(pair)
    if (task.status, task.pending, [one.path for one in task.artifacts]) != (Status.PLANNED, None, [PATH]):
        told.append(f"the task is {task}")
    if read_state(pair.state).tasks != {1: task}:
        told.append("the views do not show the ledger")
    with shop.store.read() as session:
        kinds = [one.kind for one in tasks.history(session, LOCAL, REPO)]
    if kinds != ["task.added", "task.changed", "task.changed"]:
        told.append(f"the ledger has {kinds}")
    once = ("run.started", "task.judged", "task.posted", "landing.done", "landing.tidied", "run.ended")
    told += [
        f"{kind} is there {shop.kinds().count(kind)} times" for kind in once if shop.kinds().count(kind) != 1
    ]
    return told


class Bench(Shop):
    """A repository whose owner numbers what is wanted."""

    def __init__(self, folder: Path, where: str) -> None:
        super().__init__(folder, where)
        add_task(self)

    def work(self, *turns: str, operation: str = "plan", **flags: Any) -> str:  # noqa: ANN401
        """Ask for a plan, or for research; the agents play these turns."""
        self.script.write_text("".join(turns), encoding="utf-8")
        files = self.git("ls-tree", "-r", "--name-only", "main").splitlines()
        order = order_for(self.task, operation, files, **flags)
        self.plan = order.path
        return self.request(kind="task", mode="task", slug="say-hello", task=to_builtins(order), auto=False)

    def plans(self, text: str, *acts: str) -> str:
        """Ask for a plan by an agent that hands this in."""
        return self.work(turn("plan", *acts, say(text)))

    @property
    def task(self) -> Task:
        """Read the task."""
        return task_of(self)

    def failures(self) -> list[dict[str, Any]]:
        """Read what went wrong with it."""
        with self.store.read() as session:
            told = tasks.history(session, LOCAL, REPO)
        return [to_builtins(one.event.error) for one in told if isinstance(one.event, Failed)]

    def views(self) -> Pair:
        """Read both views as the branch has them."""
        return views_of(self)

    def asked(self, run: str, name: str = "plan.1") -> str:
        """Read what an agent was told."""
        return Folder(self.attempt(run, name)).brief()[0].ask
