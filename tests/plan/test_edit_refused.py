"""What an edit must not do: guess, change something else, or overwrite what it did not read."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from asbuilt.errors import EditRefused, NotFound, PlanChanged, UsageWrong
from asbuilt.plan.editing.edit import mark_item, mark_phase, the_phase
from asbuilt.plan.model import Status
from asbuilt.plan.reader import read

CHECKLIST = """\
# Chores

## Prepare
- [x] Bump version (c0ffee1)
- [ ] Update changelog <- CURRENT
"""


def test_an_edit_is_bound_to_the_bytes_it_was_made_for() -> None:
    data = CHECKLIST.encode()
    edit = mark_phase(read(data), "prepare", Status.DONE).edit
    with pytest.raises(PlanChanged):
        edit.apply(data + b" ")


def test_a_progress_documents_word_is_not_this_files_word() -> None:
    data = b"# T\n\n## Phase 1: A\nWords.\n"
    progress = read(b"# P\n\n| Phase | Status |\n|---|---|\n| 1 | Done |\n")
    plan = read(data, progress_document=progress)
    assert plan.phases[0].status is Status.DONE
    assert mark_phase(plan, "1", Status.DONE).edit.apply(data)[0].decode() == snapshot("""\
# T

## Phase 1: A
**Status:** ✅ Done

Words.
""")


def test_words_in_a_note_change_nothing_else() -> None:
    before = read(b"# T\n\n## Phase 1: A\n**Status:** x\n\n## Phase 2: B\n")
    edit = mark_phase(before, "2", Status.DONE, note="the panel depends on phase 9").edit
    after = read(edit.apply(before.source.data)[0])
    old, new = before.phases[1], after.phases[1]
    assert new == old._replace(
        status=Status.DONE, span=new.span, lines=new.lines, spot=new.spot, line_spot=new.line_spot
    )


@pytest.mark.parametrize(("phase", "error"), [("9", NotFound), ("1", EditRefused), ("4", NotFound)])
def test_a_phase_that_is_not_there_once_is_not_marked(phase: str, error: type[Exception]) -> None:
    plan = read(b"# T\n\n## Phase 1: A\n\n## Phase 1: B\n\n## Phase 4a: C\n")
    with pytest.raises(error):
        the_phase(plan, phase)


def test_what_no_plan_can_say_is_refused_in_words() -> None:
    plan = read(CHECKLIST.encode())
    for ask in (
        lambda: mark_phase(plan, "prepare", Status.UNKNOWN),
        lambda: mark_phase(plan, "prepare", Status.DONE, commit="HEAD"),
        lambda: mark_item(plan, "prepare", 1, done=False, commit="a1b2c3d"),
    ):
        with pytest.raises(UsageWrong):
            ask()
    with pytest.raises(NotFound):
        mark_item(plan, "prepare", 3, done=True)
    with pytest.raises(EditRefused):
        mark_phase(plan, "prepare", Status.BLOCKED)
    with pytest.raises(EditRefused):
        mark_phase(read(b"# T\n\nFirst this. Then that.\n"), "1", Status.DONE)
