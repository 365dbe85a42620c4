"""The hook is removed on purpose: what it would have refused runs in the ring, and changes nothing."""

from __future__ import annotations

import subprocess

import pytest

from asbuilt.agents.sandbox.launch import probe
from tests.attack.gate.ringed import Listener, broken, look, staged, unsafe_rows

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(probe().level != "bwrap", reason="NOT RUN: bubblewrap does not hold here"),
]
ROWS = unsafe_rows()
STEP = 16
"""CI takes every so manieth row; `just gate-ring` takes all."""


def test_whoever_is_not_in_the_ring_is_seen_and_heard() -> None:
    with staged() as (stage, folder), Listener() as listener:
        before = stage.digest()
        command = f"touch pwned; echo x > /dev/tcp/127.0.0.1/{listener.port}"
        assert look(stage, folder, command) != 0
        assert (stage.digest(), listener.heard()) == (before, False)
        subprocess.run(["bash", "-c", command], cwd=stage.repository, check=True)  # noqa: S607
        assert stage.digest() != before
        assert listener.heard()


def test_a_slice_of_the_unsafe_rows_changes_no_file_and_reaches_nobody() -> None:
    assert broken(ROWS[::STEP]) == []
