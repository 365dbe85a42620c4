"""An agent's permission questions, answered by role."""

from __future__ import annotations

import pytest

from asbuilt.policy.roles import refusal


@pytest.mark.parametrize("path", ["/w/a.py", "/w/.github/x", "/w/.gitignore", "/w/sub/.git/x"])
def test_a_worker_edits_its_workspace(path: str) -> None:
    assert refusal("workspace", "edit", path, workspace="/w", held=True) is None


@pytest.mark.parametrize("path", ["", "/w", "/w-evil/a", "/etc/passwd", "/w/.git", "/w/.git/hooks/x"])
def test_a_worker_edits_nothing_else(path: str) -> None:
    assert refusal("workspace", "edit", path, workspace="/w/", held=True) is not None


def test_a_reader_edits_nothing_and_runs_only_what_the_kernel_holds() -> None:
    assert refusal("read-only", "edit", "/w/a.py", workspace="/w", held=True) == "This role changes nothing."
    assert refusal("read-only", "run", "", workspace="/w", held=True) is None
    assert refusal("read-only", "run", "", workspace="/w", held=False) is not None
    assert refusal("workspace", "run", "", workspace="/w", held=False) is None


def test_what_is_not_understood_is_refused() -> None:
    assert (
        refusal("workspace", "other", "/w/a", workspace="/w", held=True)
        == "asbuilt does not know this kind of call."
    )
    assert refusal("workspace", "read", "", workspace="/w", held=True) is None
