"""A journal that a newer version wrote: refused in words, and left as it is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("typed", [("status",), ("approve",), ("claim", "list")])
def test_a_journal_of_a_newer_version_is_left_as_it_is(
    asbuilt: Callable[..., str], tmp_path: Path, typed: tuple[str, ...]
) -> None:
    state = tmp_path / "home" / ".local" / "state" / "asbuilt"
    state.mkdir(parents=True, mode=0o700)
    with closing(sqlite3.connect(state / "journal.db")) as journal:
        journal.execute("PRAGMA journal_mode=WAL")
        journal.execute("CREATE TABLE anything (a)")
        journal.execute("PRAGMA user_version = 99")
        journal.commit()
    before = (state / "journal.db").read_bytes()
    shown = " ".join(asbuilt(*typed).split())
    assert shown.startswith(
        "exit 1 --- stderr error: the journal has schema 99; this asbuilt [VERSION] knows"
    )
    assert shown.endswith("Next: Install the newer asbuilt again, or set ASBUILT_HOME to another folder.")
    assert (state / "journal.db").read_bytes() == before
