"""What an ended run means for its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.lifecycle.status.ended_runs import (
    changed_nothing,
    is_continued,
    reverted_nothing,
    waits_for_schedule,
)

if TYPE_CHECKING:
    from asbuilt.events.options import RunKind


@pytest.mark.parametrize(
    ("kind", "state", "continued"),
    [
        ("run", "failed", True),
        ("run", "stopped", True),
        ("run", "landed", False),
        ("land", "failed", True),
        ("author", "stopped", True),
        ("verify", "failed", False),
        ("undo", "failed", False),
        ("undo", "stopped", False),
        ("undo", "undone", False),
    ],
)
def test_a_run_command_continues_failed_and_stopped_work_but_never_an_ended_undo(
    kind: RunKind, state: str, *, continued: bool
) -> None:
    assert is_continued(kind, state) is continued


@pytest.mark.parametrize(
    ("kind", "state", "nothing"),
    [
        ("undo", "failed", True),
        ("undo", "stopped", True),
        ("undo", "undone", False),
        ("undo", "waiting", False),
        ("land", "failed", False),
    ],
)
def test_an_undo_that_failed_or_was_stopped_reverted_nothing(
    kind: RunKind, state: str, *, nothing: bool
) -> None:
    assert reverted_nothing(kind, state) is nothing


@pytest.mark.parametrize(
    ("kind", "state", "nothing"),
    [
        ("run", "done", True),
        ("verify", "done", True),
        ("author", "done", False),
        ("undo", "failed", True),
        ("undo", "stopped", True),
        ("undo", "undone", False),
        ("run", "failed", False),
        ("land", "failed", False),
        ("verify", "failed", False),
    ],
)
def test_a_run_that_found_nothing_to_do_or_an_undo_that_reverted_nothing_leaves_the_plan_as_it_was(
    kind: RunKind, state: str, *, nothing: bool
) -> None:
    assert changed_nothing(kind, state) is nothing


@pytest.mark.parametrize(
    ("kind", "state", "waits"),
    [
        ("run", "landed", True),
        ("undo", "undone", True),
        ("run", "stopped", True),
        ("run", "failed", True),
        ("land", "failed", False),
        ("run", "held", False),
        ("run", "pr-ready", False),
        ("run", "running", False),
    ],
)
def test_a_scheduled_plan_waits_for_its_time_unless_its_last_run_waits_for_the_user(
    kind: RunKind, state: str, *, waits: bool
) -> None:
    assert waits_for_schedule(kind, state) is waits
