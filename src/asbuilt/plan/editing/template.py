"""The plan that `plan new` writes. It has no check, because one that always passes proves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.plan.markdown.frontmatter import scalar

if TYPE_CHECKING:
    from datetime import date

_HEAD = """\
---
title: {quoted}
created: {created}
status: active
---

# {title}

## Goal

What is true when this is done, in one sentence.

## Scope

The files and parts that change.

## Non-Scope

What stays as it is, and why.

## Progress Tracker

| Phase | Status | Commit | Notes |
|-------|--------|--------|-------|
{rows}
"""

_PHASE = """
## Phase {number} — {name}

### Work Items

- [ ] One thing that can be judged on its own

### Acceptance Criteria

- [ ] A fact that can be observed

### Verification

A command that fails before the work and passes after it, in backticks.

### Dependencies

{dependencies}
"""

_TAIL = """
## Risks

What could go wrong, and what then.

## Open Questions

None.
"""


def blank_plan(title: str, *, phases: int, created: date) -> str:
    """Return a new plan with `phases` phases to fill in."""
    names = [f"Name of phase {number}" for number in range(1, phases + 1)]
    rows = "\n".join(f"| {number} — {name} | ⬚ | | |" for number, name in enumerate(names, 1))
    head = _HEAD.format(title=title, quoted=scalar(title), created=created.isoformat(), rows=rows)
    sections = (
        _PHASE.format(
            number=number, name=name, dependencies=f"Phase {number - 1}." if number > 1 else "None."
        )
        for number, name in enumerate(names, 1)
    )
    return head + "".join(sections) + _TAIL
