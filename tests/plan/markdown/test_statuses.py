from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.plan.markdown.statuses import (
    GLYPH,
    WRITABLE,
    bracket_of,
    glyph_of,
    read_commit,
    read_status,
    stated_commit,
    write_status,
)
from asbuilt.plan.model import Status
from tests.plan.strategies import BRACKETS, GLYPHS

LIKE = (
    "", "✅ Done", "⬚", "🟡", "Done", "done", "pending", "in progress", "in_progress", "[x]", "[ ]", "[X]",
    "[~]", "[-] later", "COMPLETED",
    "done (a1b2c3d)", "complete: 3 tests", "a1b2c3d", "deadbeef", "**done**", "-", "(none)",
    *(f"[{word}]" for word in BRACKETS), *GLYPHS,
)  # fmt: skip


@given(st.sampled_from(sorted(WRITABLE)), st.sampled_from(LIKE) | st.text(max_size=12))
def test_a_status_written_like_any_text_is_read_back(status: Status, like: str) -> None:
    assert read_status(write_status(status, like)) is status
    assert read_status(write_status(status, like) + " (c0ffee1): a note") is status


@given(st.text(max_size=20))
def test_any_text_has_a_status(text: str) -> None:
    assert read_status(text) in Status


@pytest.mark.parametrize("status", sorted(WRITABLE))
def test_headings_and_metadata_are_read_back_too(status: Status) -> None:
    assert read_status(glyph_of(status)) is status
    assert GLYPH.fullmatch(glyph_of(status))
    assert read_status(bracket_of(status)) is status


@pytest.mark.parametrize(
    ("text", "commit"),
    [("✅ Done (a1b2c3d): after c0ffee1", "a1b2c3d"), ("done: after c0ffee1", None), ("c0ffee1", "c0ffee1")],
)
def test_a_hash_that_a_note_mentions_is_not_the_commit(text: str, commit: str | None) -> None:
    assert stated_commit(text) == commit


def test_what_a_mark_may_say_is_everything_but_unknown() -> None:
    assert set(Status) - WRITABLE == {Status.UNKNOWN}


@pytest.mark.parametrize(
    ("like", "written"),
    [
        ("🟡", "✅ Done"), ("pending", "complete"), ("done", "done"), ("done (a1b2c3d)", "done"),
        ("[NOT STARTED]", "[COMPLETED]"), ("[ ]", "[x]"),
        ("Pending", "✅ Done"), ("", "✅ Done"),
    ],
)  # fmt: skip
def test_a_status_is_written_in_the_manner_of_what_it_replaces(like: str, written: str) -> None:
    assert write_status(Status.DONE, like) == written


@pytest.mark.parametrize("text", ["wıp", "ın progress", "fınıshed", "ſtarted"])
def test_letters_that_only_look_like_the_words_letters_are_no_crash(text: str) -> None:
    assert read_status(text) is (Status.IN_PROGRESS if text == "ſtarted" else Status.UNKNOWN)


@pytest.mark.parametrize(
    ("text", "commit"),
    [("✅ Done (a1b2c3d)", "a1b2c3d"), ("`c0ffee1`", "c0ffee1"), ("done", None), ("a1b2c3dz", None)],
)
def test_a_commit_is_a_hash_that_stands_alone(text: str, commit: str | None) -> None:
    assert read_commit(text) == commit
