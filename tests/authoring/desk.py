"""An authoring in a repository of its own, with scripted agents and a worker that can be killed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from asbuilt.agents.attempt_folder import Folder
from asbuilt.flows.requests import Asker, answer
from asbuilt.journal import approvals
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.ids import LOCAL
from asbuilt.lifecycle.authoring.modes import MODES, authoring_of
from asbuilt.lifecycle.authoring.options import Options, choose
from asbuilt.lifecycle.authoring.session_state import Session
from tests.journeys.shop import REPO, Shop

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.ports import Brief

PROMPT = "say hello to whoever is named on the command line"
PLAN = """\
# Greet by name

## Goal
`greet.py NAME` says hello to NAME.

## Scope
`greet.py` (new), `mine.md`

## Non-Scope
Other languages: nobody asked for them.

## Phase 1 — Greet
Effort: S. Depends on nothing.
### Work Items
- [ ] `greet.py` says hello to the name that it is given
### Verification
- `python greet.py Ann | grep -q Ann`

## Risks
No name is given: exit 2 with a usage line.

## Open Questions
None.
"""
BETTER = PLAN.replace("exit 2 with a usage line", "say hello to the world")


def say(text: str) -> str:
    """Write an act of a script that hands a text in."""
    return f"{{ say = {json.dumps(text)} }}"


def turn(stage: str, *acts: str, attempt: int | None = None) -> str:
    """Write a turn of a script."""
    which = f"attempt = {attempt}\n" if attempt else ""
    return f'[[turn]]\nphase = "{stage}"\n{which}acts = [{", ".join(acts)}]\n'


class Desk(Shop):
    """A repository in which somebody wants a plan."""

    def __init__(self, folder: Path, where: str) -> None:
        super().__init__(folder, where)
        self.commit("mine.md", "# Mine\n", "a file to read")
        self.plan = "plans/greet.md"

    def author(self, *turns: str, mode: str = "light", agents: int = 1, **chosen: Any) -> str:  # noqa: ANN401
        """Ask for a plan; the agents play these turns."""
        length = chosen.pop("length", "control")
        told = {name: chosen.pop(name, None) for name in ("effort", "principles")}
        in_conversation = chosen.pop("in_conversation", False)
        more = {name: chosen.pop(name) for name in ("setup",) if name in chosen}
        self.script.write_text("".join(turns), encoding="utf-8")
        stages = MODES[mode].stages
        if stages is not None:
            chosen |= {"phases": list(stages), "max_phases": len(stages)}
        options = choose(**chosen)
        assert isinstance(options, Options), options
        session = Session(prompt=PROMPT, options=options, started_at="2026-11-15T12:00:00.000Z")
        authoring = to_builtins(
            authoring_of(MODES[mode], session, explorers=agents, planners=agents, **told)
        ) | {"in_conversation": in_conversation}
        return self.request(
            kind="author", mode="author", slug="greet", authoring=authoring, length=length, auto=False, **more
        )

    def waits(self, run: str) -> list[approvals.Approval]:
        """Wait until an authoring waits for a person, and give what it has asked."""
        asked: list[approvals.Approval] = []

        def is_waiting() -> bool:
            with self.store.read() as session:
                asked[:] = approvals.waiting(session, LOCAL, REPO)
            now = self.run(run)
            return now.is_over or (now.state == "waiting" and bool(asked))

        self.until(is_waiting)
        return asked

    def answers(self, said: approvals.Answer, note: str | None = None) -> None:
        """Answer the oldest question that waits."""
        with self.store.read() as session:
            asked = approvals.waiting(session, LOCAL, REPO)[0]
        answer(self.store, LOCAL, REPO, asked.number, reply=said, note=note, asker=Asker("you", "here", {}))

    def text(self, digest: str) -> str:
        """Read a text by its digest."""
        return Blobs(self.home / "blobs").get(digest).decode()

    def brief(self, run: str, name: str) -> Brief:
        """Read what an attempt was told."""
        return Folder(self.attempt(run, name)).brief()[0]

    def said(self, run: str, name: str) -> str:
        """Read all that an attempt has written down."""
        return (self.attempt(run, name) / "events.jsonl").read_text(encoding="utf-8")

    @property
    def filed(self) -> str:
        """Read the plan's file."""
        return (self.checkout / self.plan).read_text(encoding="utf-8")
