"""What is remembered of conversations goes a day after their end, and never while they live."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.session.context.notes import is_name, keep_note, note_in, notes_in, shelf
from asbuilt.session.conversation import folder_of, key_of, lives
from asbuilt.session.conversation_state import KEPT_S, State, keep_state, state_in
from asbuilt.session.conversations import clean, records

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_state_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    state = State(
        "s",
        "/t",
        7,
        3.5,
        "/shop",
        "auto",
        "/p.md",
        "2a",
        1.5,
        True,
        1_000_000,
        True,
        ("context-critical",),
        1,
        2,
        "/p",
    )
    keep_state(str(tmp_path), state)
    assert state_in(str(tmp_path)) == state


@given(
    st.one_of(
        st.binary(max_size=50), st.just(b'{"plan": 7}'), st.just(b'{"stopped_for": "x"}'), st.just(b"[]")
    )
)
def test_a_state_that_cannot_be_read_is_none(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "state").write_bytes(data)
    assert state_in(str(folder)) is None


def test_a_conversation_lives_as_long_as_its_process_and_not_as_its_number() -> None:
    mine = key_of({"CLAUDE_PID": str(os.getpid())})
    assert lives(mine)
    assert not lives(f"{os.getpid()}-1")
    ended = subprocess.Popen(["true"])  # noqa: S607
    gone = key_of({"CLAUDE_PID": str(ended.pid)})
    ended.wait()
    assert not lives(gone)


def test_only_what_ended_a_day_ago_is_removed(tmp_path: Path) -> None:
    environ = {"ASBUILT_HOME": str(tmp_path)}
    now = time.time()
    alive, dead, fresh = key_of({"CLAUDE_PID": str(os.getpid())}), "1-1", "1-2"
    for key in (alive, dead, fresh):
        keep_state(folder_of(environ, key), State(session=key, at=now))
    old = now - KEPT_S - 60
    for key in (alive, dead):
        os.utime(f"{folder_of(environ, key)}/state", (old, old))
    clean(environ, now=now)
    assert {one.key: one.is_alive for one in records(environ)} == {alive: True, fresh: False}


def test_nothing_to_clean_is_as_good(tmp_path: Path) -> None:
    clean({"ASBUILT_HOME": str(tmp_path / "none")}, now=0)
    assert records({"ASBUILT_HOME": str(tmp_path / "none")}) == []


def test_notes_are_kept_by_repository_and_listed_newest_first(tmp_path: Path) -> None:
    environ = {"ASBUILT_HOME": str(tmp_path / "state")}
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "src").mkdir()
    folder = shelf(environ, str(tmp_path / "shop"))
    assert folder == shelf(environ, str(tmp_path / "shop" / "src"))
    assert folder != shelf(environ, str(tmp_path))
    assert notes_in(folder) == []
    keep_note(folder, "first", "one")
    os.utime(f"{folder}/first.md", (1, 1))
    keep_note(folder, "second", "two\n")
    assert [note.name for note in notes_in(folder)] == ["second", "first"]
    assert note_in("second", folder) == "two\n"
    assert note_in("third", folder) is None


@given(st.text(max_size=100))
def test_the_name_of_a_note_never_leads_out(name: str) -> None:
    if is_name(name):
        assert "/" not in name
        assert not name.startswith(".")
