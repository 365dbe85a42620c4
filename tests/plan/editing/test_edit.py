"""Marks as people see them: the whole file before and after. What holds of all is in test_properties.py."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from asbuilt.errors import EditRefused
from asbuilt.plan.editing.edit import mark_item, mark_phase
from asbuilt.plan.model import Status
from asbuilt.plan.reader import read


def marked(
    text: str,
    phase: str,
    status: Status = Status.DONE,
    *,
    commit: str | None = None,
    note: str | None = None,
    items: bool = False,
) -> str:
    """Mark a phase and return the whole file."""
    data = text.encode("utf-8", "surrogateescape")
    edit = mark_phase(read(data), phase, status, commit=commit, note=note, items=items).edit
    return edit.apply(data)[0].decode("utf-8", "surrogateescape")


TRACKER = """\
# T

| Phase | Status | Commit | Notes |
|-------|--------|--------|-------|
| 1 — A | ✅ Done | `a1b2c3d` | 3 tests |
|2 — B|🟡||x \\| y|
"""


def test_a_tracker_row_gets_status_commit_and_note() -> None:
    assert marked(TRACKER, "2", commit="c0ffee1", note="a | b") == snapshot("""\
# T

| Phase | Status | Commit | Notes |
|-------|--------|--------|-------|
| 1 — A | ✅ Done | `a1b2c3d` | 3 tests |
|2 — B|✅ Done| `c0ffee1` |a \\| b|
""")


def test_a_reopened_tracker_row_loses_its_commit_and_keeps_its_note() -> None:
    assert marked(TRACKER, "1", Status.PENDING) == snapshot("""\
# T

| Phase | Status | Commit | Notes |
|-------|--------|--------|-------|
| 1 — A | ⬚ |  | 3 tests |
|2 — B|🟡||x \\| y|
""")


def test_what_a_row_says_already_is_left_as_it_is() -> None:
    assert marked(TRACKER, "1") == TRACKER
    assert marked(TRACKER, "2", Status.IN_PROGRESS) == TRACKER


def test_a_note_that_ends_in_a_backslash_does_not_escape_the_pipe() -> None:
    assert marked(TRACKER, "2", note="C:\\") == snapshot("""\
# T

| Phase | Status | Commit | Notes |
|-------|--------|--------|-------|
| 1 — A | ✅ Done | `a1b2c3d` | 3 tests |
|2 — B|✅ Done||C:\\ |
""")


def test_a_row_without_outer_pipes_keeps_all_its_cells() -> None:
    text = "# T\n\nPhase | Status | Commit\n---|---|---\n1 — A | Done | a1b2c3d\n"
    assert marked(text, "1", Status.PENDING) == snapshot("""\
# T

Phase | Status | Commit
---|---|---
1 — A | ⬚ | –
""")
    text = "# T\n\nCommit | Phase | Status\n---|---|---\na1b2c3d | 1 — A | Done\n"
    assert marked(text, "1", Status.PENDING) == snapshot("""\
# T

Commit | Phase | Status
---|---|---
– | 1 — A | ⬚
""")


def test_a_tracker_without_a_commit_column_takes_the_hash_into_the_status() -> None:
    text = "# T\n\n| Status | Phase |\n|---|---|\n| pending | 1 — A |\n"
    after = marked(text, "1", commit="c0ffee1")
    assert after == snapshot("""\
# T

| Status | Phase |
|---|---|
| complete (c0ffee1) | 1 — A |
""")
    assert marked(after, "1", Status.BLOCKED) == snapshot("""\
# T

| Status | Phase |
|---|---|
| blocked | 1 — A |
""")


def test_a_tracker_in_a_quote_or_a_list_is_marked_in_place() -> None:
    text = "# T\n\n> | Phase | Status |\n> |---|---|\n>| 1 — A | ⬚ (later) |\n"
    assert marked(text, "1") == snapshot("""\
# T

> | Phase | Status |
> |---|---|
>| 1 — A | ✅ Done |
""")
    text = "# T\n\n- progress:\n\n  | Phase | Status |\n  |---|---|\n  | 1 — A | ⬚ |\n"
    assert marked(text, "1") == snapshot("""\
# T

- progress:

  | Phase | Status |
  |---|---|
  | 1 — A | ✅ Done |
""")


def test_a_row_with_missing_cells_is_refused_only_where_a_cell_is_missing() -> None:
    text = "# T\n\n| Phase | Status | Commit |\n|---|---|---|\n| 1 — A | ⬚ |\n| 2 — B |\n"
    assert marked(text, "1") == snapshot("""\
# T

| Phase | Status | Commit |
|---|---|---|
| 1 — A | ✅ Done |
| 2 — B |
""")
    for phase, commit in (("1", "c0ffee1"), ("2", None)):
        with pytest.raises(EditRefused) as refused:
            marked(text, phase, commit=commit)
        assert refused.value.what == f"line {4 + int(phase)}: the tracker row has fewer cells than its header"


def test_a_note_without_a_column_is_told_to_be_left_out() -> None:
    plan = read(b"# T\n\n| Phase | Status |\n|---|---|\n| 1 | x |\n")
    assert mark_phase(plan, "1", Status.DONE, note="n").left_out == (
        "the note: the tracker has no column for notes",
    )


SECTIONS = """\
# T

## Phase 1: Line
**Status:** pending
Words.

## Phase 2: Bracket [NOT STARTED]
Words.

## ⬚ Phase 3: Glyph

## Phase 4: Boxes
- [ ] one
- [x] two (a1b2c3d)

## Phase 5: Bare
Words.
"""


def test_each_section_is_marked_in_its_own_manner() -> None:
    text = SECTIONS
    for phase in "12345":
        text = marked(text, phase, commit="c0ffee1")
    assert text == snapshot("""\
# T

## Phase 1: Line
**Status:** complete (c0ffee1)
Words.

## Phase 2: Bracket [COMPLETED]
**Status:** ✅ Done (c0ffee1)

Words.

## ✅ Phase 3: Glyph
**Status:** ✅ Done (c0ffee1)

## Phase 4: Boxes
- [x] one (c0ffee1)
- [x] two (a1b2c3d)

## Phase 5: Bare
**Status:** ✅ Done (c0ffee1)

Words.
""")


def test_a_state_that_boxes_cannot_say_is_put_under_the_heading() -> None:
    text = SECTIONS
    for phase in "12345":
        text = marked(text, phase, Status.BLOCKED, note="waits for a key")
    assert text == snapshot("""\
# T

## Phase 1: Line
**Status:** blocked: waits for a key
Words.

## Phase 2: Bracket [BLOCKED]
**Status:** ❌ Blocked: waits for a key

Words.

## ❌ Phase 3: Glyph
**Status:** ❌ Blocked: waits for a key

## Phase 4: Boxes
**Status:** ❌ Blocked: waits for a key

- [ ] one
- [x] two (a1b2c3d)

## Phase 5: Bare
**Status:** ❌ Blocked: waits for a key

Words.
""")


def test_marking_a_done_phase_done_again_keeps_its_hash() -> None:
    text = "# T\n\n## Phase 1: A\n**Status:** ✅ Done (9f8e7d6): 3 tests\n"
    assert marked(text, "1") == text
    assert marked(text, "1", note="4 tests") == snapshot("""\
# T

## Phase 1: A
**Status:** ✅ Done (9f8e7d6): 4 tests
""")


def test_items_are_ticked_with_the_phase_when_asked_for() -> None:
    text = "# T\n\n## Phase 1: A [IN PROGRESS]\n- [ ] one\n- [~] two\n"
    assert marked(text, "1", items=True) == snapshot("""\
# T

## Phase 1: A [COMPLETED]
- [x] one
- [x] two
""")
    assert marked(text, "1", Status.BLOCKED, items=True) == snapshot("""\
# T

## Phase 1: A [BLOCKED]
- [ ] one
- [~] two
""")


def test_a_heading_at_the_end_of_a_file_without_newline_gets_its_line() -> None:
    assert marked("# T\n\n## Phase 1: A", "1") == snapshot("""\
# T

## Phase 1: A
**Status:** ✅ Done
""")
    assert marked("# T\r\n\r\nPhase 1: A\r\n---", "1") == snapshot("""\
# T\r
\r
Phase 1: A\r
---\r
**Status:** ✅ Done\r
""")


CHECKLIST = """\
# Chores

## Prepare
- [x] Bump version (c0ffee1)
- [ ] Update changelog <- CURRENT

## Publish
> - [ ] Tag the release
>   1. [ ] Sign it  \n\
"""


def test_a_checklist_is_ticked_with_the_hash_behind_each_box() -> None:
    text = marked(CHECKLIST, "prepare", commit="a1b2c3d")
    assert marked(text, "publish", commit="a1b2c3d") == snapshot("""\
# Chores

## Prepare
- [x] Bump version (c0ffee1)
- [x] Update changelog (a1b2c3d) <- CURRENT

## Publish
> - [x] Tag the release (a1b2c3d)
>   1. [x] Sign it (a1b2c3d)  \n\
""")


def test_unticking_takes_the_hashes_away() -> None:
    assert marked(CHECKLIST, "prepare", Status.PENDING) == snapshot("""\
# Chores

## Prepare
- [ ] Bump version
- [ ] Update changelog <- CURRENT

## Publish
> - [ ] Tag the release
>   1. [ ] Sign it  \n\
""")


def test_a_hash_for_a_phase_whose_boxes_are_all_ticked_stands_at_the_last() -> None:
    assert marked("# T\n\n## A\n- [x] one (c0ffee1)\n- [X] two\n", "a", commit="a1b2c3d") == snapshot("""\
# T

## A
- [x] one (c0ffee1)
- [X] two (a1b2c3d)
""")


def test_one_item_is_ticked_and_the_others_stay() -> None:
    data = CHECKLIST.encode()
    edit = mark_item(read(data), "publish", 2, done=True, commit="a1b2c3d")
    assert edit.apply(data)[0].decode() == snapshot("""\
# Chores

## Prepare
- [x] Bump version (c0ffee1)
- [ ] Update changelog <- CURRENT

## Publish
> - [ ] Tag the release
>   1. [x] Sign it (a1b2c3d)  \n\
""")


def test_marks_survive_crlf_bom_tabs_and_odd_bytes() -> None:
    text = "\ufeff# T\r\n\r\n## Phase 1: A\udcff\r\n-\t[ ]\ta\u2028b\0c\r\n\r\n> 1) [ ] x"
    assert marked(text, "1", commit="c0ffee1") == snapshot("""\
\ufeff# T\r
\r
## Phase 1: A\udcff\r
-	[x]	a\u2028b\x00c (c0ffee1)\r
\r
> 1) [x] x (c0ffee1)\
""")
