"""Completing, correcting and filling in: the whole file before and after."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from inline_snapshot import snapshot

from asbuilt.errors import EditRefused, NotFound
from asbuilt.plan.editing.edit import complete, correct, fill_in, reopen, waive
from asbuilt.plan.reader import read

AT = datetime(2026, 1, 12, 9, 3, tzinfo=UTC)
ON = date(2026, 1, 12)


def completed(text: str) -> str:
    """Complete a plan and return the whole file."""
    data = text.encode()
    return complete(read(data), AT).apply(data)[0].decode()


def test_a_plan_with_front_matter_is_completed_at_its_keys() -> None:
    text = "---\ntitle: T\nstatus:   'active'   # for now\nowner: me\n---\n# T\n"
    assert completed(text) == snapshot("""\
---
title: T
status:   complete   # for now
owner: me
completed: 2026-01-12T09:03:00Z
---
# T
""")


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (
            "---\nstatus: active\nowner: me\n---\n# T\n",
            "---\nstatus: active\nowner: me\ncompleted: TBD\n---\n# T\n",
        ),
        ("---\ntitle: T\n---\n# T\n", "---\ntitle: T\nstatus: active\ncompleted: TBD\n---\n# T\n"),
        (
            "# T\n\n- **Task**: 14\n- **Status**: [PLANNED]\n\n### Phase 1: A\n",
            "# T\n\n- **Task**: 14\n- **Status**: [IN PROGRESS]\n- **Completed**: TBD\n\n### Phase 1: A\n",
        ),
    ],
)
def test_a_completed_plan_is_opened_again_at_its_keys(text: str, after: str) -> None:
    done = completed(text).encode()
    edit = reopen(read(done))
    assert edit.apply(done)[0].decode() == after
    assert read(done).intent == read(after.encode()).intent


def test_of_two_status_keys_the_last_counts() -> None:
    assert completed("---\nstatus: draft\nstatus: active\ncompleted:\n---\n# T\n") == snapshot("""\
---
status: draft
status: complete
completed: 2026-01-12T09:03:00Z
---
# T
""")


def test_front_matter_without_a_status_gets_both_keys_at_its_end() -> None:
    assert completed("---\r\ntitle: T\r\n---\r\n# T\r\n") == snapshot("""\
---\r
title: T\r
status: complete\r
completed: 2026-01-12T09:03:00Z\r
---\r
# T\r
""")
    assert completed("---\n  title: T\n# a remark\n---\n# T\n") == snapshot("""\
---
  title: T
# a remark
  status: complete
  completed: 2026-01-12T09:03:00Z
---
# T
""")
    assert completed("---\n---\n# T\n") == snapshot("""\
---
status: complete
completed: 2026-01-12T09:03:00Z
---
# T
""")


def test_a_plan_without_front_matter_gets_some() -> None:
    assert completed("\ufeff# T\r\n") == snapshot("""\
\ufeff---\r
status: complete\r
completed: 2026-01-12T09:03:00Z\r
---\r
\r
# T\r
""")


def test_a_status_of_several_lines_or_by_alias_becomes_one_line() -> None:
    assert completed("---\nstatus:\n  - active\n# a remark\nx: 1\n---\n# T\n") == snapshot("""\
---
status: complete
# a remark
x: 1
completed: 2026-01-12T09:03:00Z
---
# T
""")
    assert completed("---\nwas: &was active\nstatus: *was\n---\n# T\n") == snapshot("""\
---
was: &was active
status: complete
completed: 2026-01-12T09:03:00Z
---
# T
""")


def test_a_task_plan_is_completed_in_its_metadata() -> None:
    head = "# T\n\n- **Task**: 14\n- **Status**: [IN PROGRESS]\n  since Monday\n- **Effort**: 3 h\n"
    text = head + "\n## Phases\n### Phase 1: A\n"
    assert completed(text) == snapshot("""\
# T

- **Task**: 14
- **Status**: [COMPLETED]
  since Monday
- **Completed**: 2026-01-12T09:03:00Z
- **Effort**: 3 h

## Phases
### Phase 1: A
""")


def test_completion_is_stamped_in_utc() -> None:
    data = b"# T\n"
    east = AT.astimezone(timezone(timedelta(hours=5)))
    assert complete(read(data), east) == complete(read(data), AT)


def test_broken_front_matter_is_not_guessed_at() -> None:
    for text, what in (
        (
            "---\na: [\n---\n",
            "line 3: front matter is not YAML: expected the node content, but found '<stream end>'",
        ),
        ("---\n- a\n---\n", "line 2: front matter is not a list of `key: value` lines"),
        ("---\n{a: b}\n---\n", "line 2: front matter is one `{...}`; write one `key: value` a line"),
        ("---\na: b\n", "line 1: front matter opens here and never closes"),
    ):
        with pytest.raises(EditRefused) as refused:
            completed(text)
        assert refused.value.what == what


CRITERIA = """\
# T

## Phase 1: A

### Acceptance Criteria
- [ ] delays are 1, 2, 4
- [ ] `lines`: 60-90 lines in `retry.py`
- [ ] feels right
> - [ ] at most 1,000 rows,
>   give or take
"""


def corrected(text: str, bullet: int, actual: int) -> str:
    """Correct a number and return the whole file."""
    data = text.encode()
    return correct(read(data), "1", bullet, actual, ON).apply(data)[0].decode()


def test_a_correction_replaces_the_literal_and_leaves_an_audit_note() -> None:
    assert corrected(CRITERIA, 2, 93) == snapshot("""\
# T

## Phase 1: A

### Acceptance Criteria
- [ ] delays are 1, 2, 4
- [ ] `lines`: 88-98 lines in `retry.py` <!-- Auto-corrected 2026-01-12: was 60-90, arithmetic says 93 -->
- [ ] feels right
> - [ ] at most 1,000 rows,
>   give or take
""")
    assert corrected(CRITERIA, 3, 1_200) == snapshot("""\
# T

## Phase 1: A

### Acceptance Criteria
- [ ] delays are 1, 2, 4
- [ ] `lines`: 60-90 lines in `retry.py`
- [ ] feels right
> - [ ] at most 1200 rows, <!-- Auto-corrected 2026-01-12: was 1,000, arithmetic says 1200 -->
>   give or take
""")


def test_what_states_no_number_or_was_corrected_before_is_refused() -> None:
    with pytest.raises(EditRefused) as refused:
        corrected(CRITERIA, 1, 5)
    assert refused.value.what == "phase 1 states no number in bullet 1 that could be corrected"
    with pytest.raises(EditRefused) as refused:
        corrected(corrected(CRITERIA, 2, 93), 2, 94)
    assert refused.value.what == "bullet 2 of phase 1 was corrected before"


def waived(text: str, item: int, reason: str) -> str:
    """Waive an item and return the whole file."""
    data = text.encode()
    return waive(read(data), phase_id="1", item=item, reason=reason, on="2026-01-12").apply(data)[0].decode()


def test_a_waiver_is_noted_at_its_item_once_and_changes_no_intent() -> None:
    once = waived(CRITERIA, 3, "it --> <feels>\nright  to -- me")
    assert once == CRITERIA.replace(
        "- [ ] feels right",
        "- [ ] feels right <!-- Waived 2026-01-12: it -) (feels) right to - me -->",
    )
    assert waived(once, 3, "another word") == once
    assert read(once.encode()).intent == read(CRITERIA.encode()).intent
    assert [one.text for one in read(once.encode()).phases[0].criteria][2] == "feels right"
    with pytest.raises(NotFound) as refused:
        waived(CRITERIA, 5, "x")
    assert refused.value.what == "phase 1 has no item 5; it has 4"


def test_missing_metadata_is_filled_in_as_undecided() -> None:
    data = b"---\ntitle: T\n---\n# T\n"
    assert fill_in(read(data)).apply(data)[0].decode() == snapshot("""\
---
title: T
created: TBD
status: TBD
---
# T
""")
    data = b"# T\n\n- **Task**: 14\n- **Status**: [IN PROGRESS]\n  and on\n\n### Phase 1: A\n"
    assert fill_in(read(data)).apply(data)[0].decode() == snapshot("""\
# T

- **Task**: 14
- **Status**: [IN PROGRESS]
  and on
- **Effort**: TBD
- **Dependencies**: TBD
- **Research Inputs**: TBD
- **Artifacts**: TBD
- **Standards**: TBD
- **Type**: TBD

### Phase 1: A
""")
