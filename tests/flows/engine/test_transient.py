from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.attempts import FolderAttempts
from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.errors import (
    AsbuiltError,
    ForgeBusy,
    GateStopped,
    GitFailed,
    HostFailed,
    RepositoryBusy,
    StoreFailed,
)
from asbuilt.events.options import RunOptions
from asbuilt.events.runs import RunEnded, TroubleMet
from asbuilt.flows.engine.transient import ErrorText, retry_at, transient_error
from asbuilt.flows.kinds import Performer
from asbuilt.flows.segment import Runs
from asbuilt.journal import claims, runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.events import history
from asbuilt.journal.home import open_home
from asbuilt.journal.ids import LOCAL, Address, new_id
from asbuilt.lifecycle.limits import TRANSIENT_LIMIT
from tests.journal.conftest import postgres, store, where

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.journal.database.store import Store

__all__ = ["postgres", "store", "where"]
PLAN = Address(LOCAL, "6f9c", "plan.md")


def _said(kind: type[AsbuiltError], why: str = "so") -> AsbuiltError:
    return kind("what", why=why, next_step="next")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (_said(StoreFailed), ErrorText("what. Why: so.", "next")),
        (_said(HostFailed), ErrorText("what. Why: so.", "next")),
        (_said(RepositoryBusy), ErrorText("what. Why: so.", "next")),
        (_said(GitFailed, "git said: No space left on device"),
         ErrorText("what. Why: git said: No space left on device.", "next")),
        (_said(GitFailed, "git was ended by signal 9"),
         ErrorText("what. Why: git was ended by signal 9.", "next")),
        (OSError(errno.ENOSPC, "No space left on device", "blobs"),
         ErrorText("No space left on device: blobs")),
        (_said(GitFailed, "git said: couldn't write 'refs/x.lock'"),
         ErrorText("what. Why: git said: couldn't write 'refs/x.lock'.", "next")),
        (_said(GitFailed, "git said: unable to write file x: Permission denied"), None),
        (_said(GitFailed, "git said: not a commit"), None),
        (_said(GateStopped), None),
        (FileNotFoundError(errno.ENOENT, "No such file or directory"), None),
    ],
)  # fmt: skip
def test_what_may_pass_is_waited_for_and_nothing_else(
    error: AsbuiltError | OSError, words: ErrorText | None
) -> None:
    assert transient_error(error) == words


def _runs(home: Path, store: Store) -> Runs:
    opened = open_home(home)
    blobs = Blobs(opened.blobs)
    attempts = FolderAttempts(opened.path, sandbox_required=False)
    processes = SandboxProcesses(scratch=opened.path / "scratch", homes=())
    return Runs(store, blobs, Performer(opened, store, blobs, attempts, processes))


def test_a_segment_that_is_lost_is_followed_by_the_next_until_the_run_is_given_up(
    tmp_path: Path, store: Store
) -> None:
    flow = _runs(tmp_path, store)
    run = new_id()
    with store.write() as session:
        runs.request(session, PLAN, run=run, slug="plan", options=RunOptions(), actor="you")
        claims.acquire(session, PLAN, run=run, mode="phase", host="here", actor="you")
    waits = []
    for n in range(1, TRANSIENT_LIMIT + 2):
        with store.read() as session:
            (segment,) = runs.open_segments(session, LOCAL)
        assert segment.n == n
        flow.lost(segment, "ERROR, boom")
        flow.lost(segment, "ERROR, boom")
        waits.append(segment.why)
    with store.read() as session:
        assert runs.open_segments(session, LOCAL) == []
        found = runs.find(session, LOCAL, "6f9c", run)
        assert found is not None
        assert (found.state, found.is_over, claims.find(session, PLAN)) == ("failed", True, None)
        told = [one.event for one in history(session, PLAN)]
    *troubles, ended = (event for event in told if isinstance(event, TroubleMet | RunEnded))
    assert waits == ["start", *["trouble"] * TRANSIENT_LIMIT]
    assert isinstance(ended, RunEnded)
    assert ended.reason == "stopped by transient errors 11 times; last: segment 11 ended early: ERROR, boom"
    retries = [event.retry_at or "" for event in troubles if isinstance(event, TroubleMet)]
    assert len(retries) == len(troubles) == TRANSIENT_LIMIT
    assert retries == sorted(retries)


@pytest.mark.parametrize(
    ("again_s", "at"),
    [
        (None, "2026-01-02T03:04:10.000Z"),
        (1.0, "2026-01-02T03:04:10.000Z"),
        (1800.0, "2026-01-02T03:34:05.000Z"),
        (1e9, "2026-01-02T06:04:05.000Z"),
    ],
)
def test_a_forge_is_not_asked_before_it_wants_to_be(again_s: float | None, at: str) -> None:
    busy = ForgeBusy("what", why="why", next_step="next", again_s=again_s)
    assert retry_at(busy, 0, "2026-01-02T03:04:05.000Z") == at
