"""A refinement changes what is open. What is done keeps its bytes, whatever the new text says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from asbuilt.errors import EditRefused, PlanUnreadable
from asbuilt.plan.editing.refinement import changed_phases, refine
from asbuilt.plan.model import Status
from asbuilt.plan.reader import read
from tests.plan.strategies import Written, among, damaged, plans, sentences

if TYPE_CHECKING:
    from asbuilt.plan.model import Phase, Plan

PLAN = """\
---
title: Rate limits
created: 2026-01-12
status: active
---

# Rate limits

## Goal

No key exceeds its limit.

## Progress Tracker

| Phase | Status | Commit | Notes |
|-------|--------|--------|-------|
| 1 — Bucket | ✅ Done | `a1b2c3d` | quick |
| 2 — Store | ⬚ | | |

## Phase 1 — Bucket

- [x] write `bucket.py` (a1b2c3d)

### Verification

- `pytest -q tests/test_bucket.py`

## Phase 2 — Store

- [ ] write `store.py`

### Verification

- `pytest -q tests/test_store.py`
"""
DONE = PLAN[PLAN.index("## Phase 1") : PLAN.index("## Phase 2")]
ROW = "| 1 — Bucket | ✅ Done | `a1b2c3d` | quick |"
OPEN = PLAN[PLAN.index("## Phase 2") :]


def refined(proposed: str, *done: str, plan: str = PLAN) -> str:
    return refine(read(plan.encode()), proposed.encode(), done or ("1",)).decode()


def test_an_open_phase_takes_the_new_text() -> None:
    new = PLAN.replace("write `store.py`", "write `redis.py`").replace("No key exceeds", "Nobody exceeds")
    assert refined(new) == new


def test_what_the_new_text_says_of_a_completed_phase_is_left_aside() -> None:
    worse = PLAN.replace("write `bucket.py` (a1b2c3d)", "write nothing").replace("quick |", "slow |")
    assert refined(worse.replace("`a1b2c3d`", "")) == PLAN


def test_a_completed_phase_may_be_left_out() -> None:
    without = PLAN.replace(DONE, "").replace(ROW + "\n", "").replace("`store.py`", "`redis.py`")
    assert refined(without) == PLAN.replace("`store.py`", "`redis.py`")


def test_several_completed_phases_that_are_left_out_keep_their_order() -> None:
    two = "# P\n\n" + "".join(f"## Phase {n} ✅\n\ntext {n}\n\n" for n in (1, 2)) + "## Phase 3\n\nopen\n"
    assert refined("# P\n\n## Phase 3\n\nother\n", "1", "2", plan=two) == two.replace("open", "other")


def test_phases_may_be_added_behind_a_completed_one_that_ends_the_file() -> None:
    alone = "# P\n\n## Phase 1 ✅\n\nall of it"
    new = "# P\n\n## Phase 1\n\nsome of it\n\n## Phase 2\n\nmore\n"
    assert refined(new, plan=alone) == "# P\n\n## Phase 1 ✅\n\nall of it\n\n## Phase 2\n\nmore\n"


def test_open_phases_keep_the_marks_that_the_file_has_for_them() -> None:
    begun = PLAN.replace("| ⬚ |", "| 🟡 |").replace(
        "- [ ] write `store.py`", "- [x] write `store.py`\n- [ ] test it"
    )
    new = begun.replace("| 🟡 |", "| ⬚ |").replace("[x] write `store.py`", "[ ] write `store.py`")
    assert refined(new.replace("test it", "test it twice"), plan=begun) == begun.replace(
        "test it", "test it twice"
    )


def test_front_matter_is_the_file_s() -> None:
    new = PLAN.replace("status: active", "status: complete\ncompleted: 2026-01-13")
    assert refined(new) == PLAN
    assert refined(PLAN.partition("---\n\n")[2]) == PLAN


def test_line_ends_are_the_file_s() -> None:
    crlf = PLAN.replace("\n", "\r\n")
    new = PLAN.replace("`store.py`", "`redis.py`")
    assert refined(new, plan=crlf) == new.replace("\n", "\r\n")


def test_a_section_about_a_phase_that_is_only_a_row_is_left_out() -> None:
    rows = PLAN[: PLAN.index("## Phase 1")] + OPEN
    assert refined(PLAN.replace("quick", "slow"), plan=rows) == rows


@pytest.mark.parametrize(
    ("new", "told"),
    [
        ("Some words.\n", "the new text has no recognizable phase"),
        (PLAN.replace("| 2 — Store | ⬚ |", "| 2 — Store | ✅ |"), "the new text says that phase 2 is done"),
        (PLAN.replace("[ ] write", "[x] write"), "the new text says that work of phase 2 is done"),
        (
            PLAN.replace("## Goal", "```text\n## Goal"),
            "the new text has no recognizable phase",
        ),
        (
            PLAN.replace(DONE, DONE + DONE.replace("Bucket", "Bucket again")),
            "phase 1 is done, and the new text has it 2 times, on lines 20 and 28",
        ),
        (
            PLAN[: PLAN.index("## Progress")] + DONE + OPEN,
            "the new text has no progress tracker, and the file has one",
        ),
        (
            PLAN.replace("## Goal", "## Validation Commands\n\n- `make check`\n\n## Goal"),
            "phase 1 is done, and beside the new text it would read another way",
        ),
        (
            PLAN.replace("| Phase | Status | Commit | Notes |", "| Phase | Notes | Commit | Status |"),
            "phase 1 is done, and beside the new text it would read another way",
        ),
    ],
)
def test_a_text_beside_which_nothing_could_stay_is_refused(new: str, told: str) -> None:
    with pytest.raises(EditRefused) as refused:
        refined(new)
    assert refused.value.what == told


def test_what_changes_is_told_by_phase() -> None:
    new = PLAN.replace("`store.py`", "`redis.py`") + "\n## Phase 3 — Docs\n\n- [ ] write them\n"
    dropped = PLAN.replace(OPEN, "")
    before = read(PLAN.encode())
    assert changed_phases(before, read(refined(new).encode())) == {"2": "changed", "3": "new"}
    assert changed_phases(read(new.encode()), before) == {"2": "changed", "3": "dropped"}
    assert changed_phases(before, read(dropped.replace("| 2 — Store | ⬚ | | |\n", "").encode())) == {
        "2": "dropped"
    }


@st.composite
def rewritten(draw: st.DrawFn, data: bytes) -> bytes:
    """The text of a plan as an agent may give it back: lines lost, doubled, ticked, moved and made up."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, max(0, len(lines) - 1)))
        match draw(among(("drop", "double", "tick", "say", "open", "cut"))):
            case "drop":
                del lines[at : at + draw(st.integers(1, 6))]
            case "double":
                lines[at:at] = lines[at : at + draw(st.integers(1, 6))]
            case "tick":
                lines = [line.replace("[ ]", "[x]").replace("⬚", "✅") for line in lines]
            case "say":
                lines.insert(at, draw(sentences))
            case "open":
                lines[at:at] = draw(among(("```", "## Phase 7 — More\n\n- [ ] more", "---", "<!--"))).split(
                    "\n"
                )
            case "cut":
                del lines[at:]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


@st.composite
def refinements(draw: st.DrawFn) -> tuple[bytes, bytes, frozenset[str]]:
    """A plan, a new text for it, and which of its phases are done."""
    data = draw(plans()).data
    others = st.one_of(*(rewritten(data) for _ in range(6)), damaged())
    ids = sorted({phase.id for phase in read(data).phases})
    done = draw(st.sets(among(tuple(ids)), min_size=1)) if ids else set()
    return data, draw(others), frozenset(done)


def kept_of(plan: Plan, phase: Phase) -> tuple[bytes, str | None, Status, str | None]:
    """What a person would look at to see that a phase was not touched."""
    row = None if phase.row is None else plan.source.lines[phase.row.line - 1]
    return plan.verbatim(phase).rstrip(b"\r\n"), row, phase.status, phase.commit


@given(refinements())
def test_whatever_is_proposed_completed_phases_and_marks_stay(
    given_: tuple[bytes, bytes, frozenset[str]],
) -> None:
    data, proposed, done = given_
    before = read(data)
    try:
        result = refine(before, proposed, done)
    except (EditRefused, PlanUnreadable):
        return
    after = read(result)
    kept = {phase.id: kept_of(before, phase) for phase in before.phases if phase.id in done}
    assert {phase.id: kept_of(after, phase) for phase in after.phases if phase.id in done} == kept
    for phase in before.phases:
        assert phase.id not in done or before.verbatim(phase) in result
    head = before.source.starts[before.front.after] if before.front.present else 0
    assert after.source.text[:head] == before.source.text[:head]
    for was in before.phases:
        now = next((phase for phase in after.phases if phase.id == was.id), None)
        if now is not None and was.spot is not None and was.status is not Status.UNKNOWN:
            assert now.status is was.status
    assert after.status == before.status
    assert after.source.bom == before.source.bom


@given(plans())
def test_a_plan_refined_by_its_own_text_is_the_same_plan(written: Written) -> None:
    plan = read(written.data)
    done = {phase.id for phase in plan.phases if phase.status is Status.DONE}
    names = [phase.id for phase in plan.phases]
    assume(names and len({*names}) == len(names))
    assert refine(plan, written.data, done) == written.data
