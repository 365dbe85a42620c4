"""What a person has to know before a yes, read from the text alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.pages.drafts import Change, Row, Summary, changes, summary_of
from asbuilt.plan.reader import read

PLAN = """\
# Plan: Retry policy

## Goal
No sync aborts; the user
sees one warning.

- at most one per file

## Out of Scope
Throttling.

## Scope
`sync/client.py`

## Phase 1 — Extract

### Goal
One function performs every request.

**Effort:** small

- [ ] move it

### Dependencies
None.

## Phase 2 — Wire
Size: L (two days)

- [ ] use it

### Verification
- `pytest -q`

### Dependencies
Phase 1.

## Phase 3 — Tell

- [ ] show it

### Dependencies
Phase 1.

## Risks
None.
"""


def test_a_plan_is_told_by_its_own_sections_and_phases() -> None:
    assert summary_of(read(PLAN.encode())) == Summary(
        title="Retry policy",
        goal="No sync aborts; the user sees one warning. at most one per file",
        excluded="Throttling.",
        scope="`sync/client.py`",
        phases=(
            Row("1", "Extract", "S", 1, 0, ()),
            Row("2", "Wire", "L", 1, 1, ("1",)),
            Row("3", "Tell", "", 1, 0, ("1",)),
        ),
        checks=1,
        side_by_side=(("2", "3"),),
    )


@pytest.mark.parametrize("text", ["", "# Only a title\n", "words\n\n- [ ] a task\n"])
def test_what_a_plan_does_not_say_is_left_out(text: str) -> None:
    told = summary_of(read(text.encode()))
    assert (told.goal, told.excluded, told.scope) == ("", "", "")


def test_lines_that_differ_are_told_with_their_place() -> None:
    assert changes(read(b"a\nb\nc"), read(b"a\nx\nc\nd")) == (
        Change("-", 2, "b"),
        Change("+", 2, "x"),
        Change("+", 4, "d"),
    )


def test_marks_of_progress_are_no_difference_and_leave_room_for_one() -> None:
    before = b"---\nissue: 4\n---\n# T\n\n## Phase 1 - A\n\n- [ ] It greets\n- [ ] It shouts\n"
    after = before.replace(b"[ ]", b"[x]").replace(b"issue: 4", b"issue: 4\nstatus: done")
    assert changes(read(before), read(after)) == ()
    assert changes(read(before), read(after.replace(b"shouts", b"sings"))) == (
        Change("-", 9, "- [ ] It shouts"),
        Change("+", 10, "- [x] It sings"),
    )


texts = st.lists(st.sampled_from("abc"), max_size=12)


@given(texts, texts)
def test_what_differs_makes_one_text_of_the_other(before: list[str], after: list[str]) -> None:
    found = changes(read("\n".join(before).encode()), read("\n".join(after).encode()))
    gone = {one.line for one in found if one.sign == "-"}
    kept = [text for line, text in enumerate(before, 1) if line not in gone]
    for one in found:
        if one.sign == "+":
            kept.insert(one.line - 1, one.text)
    assert kept == after
    assert all(before[one.line - 1] == one.text for one in found if one.sign == "-")
