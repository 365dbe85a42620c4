from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest

from asbuilt.agents.attempts import FolderAttempts
from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.events.options_json import read_options
from asbuilt.flows import requests
from asbuilt.flows.kinds import Performer
from asbuilt.flows.segment import Runs
from asbuilt.journal import approvals, runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.events import history
from asbuilt.journal.home import open_home
from asbuilt.journal.ids import LOCAL, Address
from tests.journal.conftest import postgres, store, where

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from asbuilt.journal.database.schema import Step
    from asbuilt.journal.database.store import Dispatch, Session, Store

__all__ = ["postgres", "store", "where"]
PLAN = Address(LOCAL, "6f9c", "plan.md")
ASKER = requests.Asker("you", "here", {})
Answer = TypeVar("Answer")


class Interrupted:
    """A store before whose second transaction that writes somebody else comes in between.

    The first one starts the execution of the segment, before anything is decided.
    """

    def __init__(self, store: Store, act: Callable[[], object]) -> None:
        self._store = store
        self.is_shared = store.is_shared
        self.dispatch: Dispatch | None = None
        self._acts: list[Callable[[], object]] = [act, lambda: None]

    def write(self) -> AbstractContextManager[Session]:
        if self._acts:
            self._acts.pop()()
        return self._store.write()

    def read(self) -> AbstractContextManager[Session]:
        return self._store.read()

    def listen(self, wake: Callable[[], object], ended: threading.Event) -> None:
        self._store.listen(wake, ended)

    def written_at(self) -> float | None:
        return self._store.written_at()

    def version(self) -> int:
        return self._store.version()

    def migrate(self, steps: Sequence[Step]) -> None:
        self._store.migrate(steps)

    def close(self) -> None:
        self._store.close()


def _step(name: str, act: Callable[..., Answer], *arguments: object) -> Answer:
    del name
    return act(*arguments)


@pytest.mark.parametrize("said", ["stop", "resume"])
def test_what_is_said_between_the_decision_to_wait_and_the_waiting_is_heard(
    tmp_path: Path, store: Store, said: str
) -> None:
    home = open_home(tmp_path / "state")
    options = {"mode": "phase", "slug": "plan", "branch": "main", "desktop": False}
    run = requests.request(store, home.runs, PLAN, slug="plan", options=read_options(options), asker=ASKER)
    assert isinstance(run, runs.Run)
    requests.pause(store, run, reason="lunch", asker=ASKER)
    speak = {
        "stop": lambda: requests.stop(store, run, reason="enough", asker=ASKER),
        "resume": lambda: requests.resume(store, run, asker=ASKER),
    }[said]
    between = Interrupted(store, speak)
    blobs = Blobs(home.blobs)
    attempts = FolderAttempts(home.path, sandbox_required=False)
    processes = SandboxProcesses(scratch=home.scratch, homes=())
    flow = Runs(between, blobs, Performer(home, between, blobs, attempts, processes), step=_step)
    flow.segment(LOCAL, "6f9c", run.run, 1)
    with store.read() as session:
        (segment,) = runs.open_segments(session, LOCAL)
        assert (segment.n, segment.why, segment.due_at <= session.now) == (2, "paused", True)
        assert approvals.waiting(session, LOCAL, "6f9c") == []


def test_a_run_whose_claim_a_person_breaks_is_asked_to_stop_in_the_same_breath(
    tmp_path: Path, store: Store
) -> None:
    home = open_home(tmp_path / "state")
    options = {"mode": "phase", "slug": "plan", "branch": "main", "desktop": False}
    run = requests.request(store, home.runs, PLAN, slug="plan", options=read_options(options), asker=ASKER)
    assert isinstance(run, runs.Run)
    with store.write() as session:
        held = requests.take_away(session, PLAN, reason="its machine is gone", asker=ASKER)
        assert held is not None
        assert held.run == run.run
    with store.read() as session:
        found = runs.find(session, LOCAL, "6f9c", run.run)
        told = [one.kind for one in history(session, PLAN)]
    assert found is not None
    assert found.stop == "its claim was broken: its machine is gone"
    assert told == ["claim.acquired", "run.requested", "claim.broken", "run.stop_asked"]
