"""Outcomes in a plan's own text: the whole file before and after."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from asbuilt.flows.run.drift import Correction
from asbuilt.flows.run.marks import marked, reopened

AT = datetime(2026, 1, 12, 9, 3, tzinfo=UTC)
OPEN = """\
---
status: active
completed: TBD
---
# T

| Phase | Status | Commit |
|---|---|---|
| 1 | ⬚ |  |
| 2 | ⬚ |  |

## Phase 1 — One
### Work Items
- [ ] one
## Phase 2 — Two
### Work Items
- [ ] two
"""
DONE = """\
---
status: complete
completed: 2026-01-12T09:03:00Z
---
# T

| Phase | Status | Commit |
|---|---|---|
| 1 | ✅ Done | `aaaaaaaaaa` |
| 2 | ✅ Done | `bbbbbbbbbb` |

## Phase 1 — One
### Work Items
- [x] one
## Phase 2 — Two
### Work Items
- [x] two
"""
LANDED = {"1": "a" * 40, "2": "b" * 40}


def test_what_has_landed_is_marked_once_however_often_and_opened_again_as_it_was() -> None:
    done = marked(OPEN.encode(), LANDED, completed=AT)
    assert done.decode() == DONE
    assert marked(done, LANDED, completed=AT) == done
    assert marked(done, LANDED, completed=AT + timedelta(days=1)) == done
    assert reopened(done, ["1", "2"]).decode() == OPEN


def test_a_number_is_put_right_once_and_one_that_somebody_has_changed_is_left_alone() -> None:
    text = OPEN.replace("- [ ] one\n", "- [ ] one\n### Acceptance Criteria\n- [ ] at most 60 lines\n")
    numbers = {
        "1": (Correction(1, 93, "at most 60 lines", "2026-11-15"),),
        "2": (Correction(1, 5, "exactly 4", "2026-11-15"),),
    }
    done = marked(text.encode(), {"1": LANDED["1"]}, corrected=numbers)
    assert "- [ ] at most 93 lines <!-- Auto-corrected 2026-11-15: was 60, measured 93 -->\n" in done.decode()
    assert marked(done, {"1": LANDED["1"]}, corrected=numbers) == done
    other = text.replace("at most 60 lines", "at most 60 calls")
    assert "- [ ] at most 60 calls\n" in marked(other.encode(), LANDED, corrected=numbers).decode()


def test_a_plan_that_states_no_status_of_its_own_gets_none() -> None:
    bare = OPEN.split("---\n", 2)[2].encode()
    assert marked(bare, LANDED, completed=AT).decode() == DONE.split("---\n", 2)[2]
    assert reopened(bare, ["9"]) == bare


def test_a_completion_without_its_time_gets_one_and_a_task_plan_keeps_its_own() -> None:
    undated = DONE.replace("2026-01-12T09:03:00Z", "TBD").encode()
    assert marked(undated, LANDED, completed=AT).decode() == DONE
    task = b"# T\n\n- **Task**: 7\n- **Status**: [IN PROGRESS]\n\n### Phase 1: One [NOT STARTED]\n- [ ] one\n"
    done = marked(task, {"1": LANDED["1"]}, completed=AT)
    assert b"- **Completed**: 2026-01-12T09:03:00Z\n" in done
    assert marked(done, {"1": LANDED["1"]}, completed=AT + timedelta(days=1)) == done
