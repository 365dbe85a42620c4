"""The template of new plans. It has no check, because one that always passes proves nothing.

Words in braces are filled in: `{title}`, `{quoted}` (the title as YAML) and `{created}`. A section whose
heading has `{number}`, and every other line with it, is repeated for each phase with `{name}` and
`{dependencies}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from asbuilt.plan.markdown.frontmatter import scalar

TEMPLATE: Final = """\
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
| {number} — {name} | ⬚ | | |

## Phase {number} — {name}

### Work Items

- [ ] One thing that can be judged on its own

### Acceptance Criteria

- [ ] A fact that can be observed

### Verification

A command that fails before the work and passes after it, in backticks.

### Dependencies

{dependencies}

## Risks

What could go wrong, and what then.

## Open Questions

None.
"""
_HEADING: Final = re.compile(r"(#{1,6}) +(.*)")
_NUMBER: Final = "{number}"
_TRACKER: Final = "progress tracker"


def blank_plan(title: str, *, phases: int, created: date, template: str = TEMPLATE) -> str:
    """Return a new plan with `phases` phases to fill in."""
    text = ""
    for block in _blocks(template):
        numbers = range(1, phases + 1) if _NUMBER in block.partition("\n")[0] else (0,)
        for number in numbers:
            named = block.replace("{name}", f"Name of phase {number}").replace(_NUMBER, str(number))
            text += named.replace("{dependencies}", f"Phase {number - 1}." if number > 1 else "None.")
    for word, value in (("quoted", scalar(title)), ("created", created.isoformat()), ("title", title)):
        text = text.replace(f"{{{word}}}", value)
    return text


def sections_of(template: str) -> list[str]:
    """Return the headings of a template's own sections: no phase, no tracker."""
    found = [_HEADING.match(block) for block in _blocks(template)]
    named = [match[2].strip() for match in found if match and len(match[1]) == 2]
    return [name for name in named if _NUMBER not in name and name.casefold() != _TRACKER]


def _blocks(template: str) -> Iterator[str]:
    """Yield the parts of a template: a section that is repeated, or one line."""
    block, level, is_code = "", 0, False
    for line in template.splitlines(keepends=True):
        is_code ^= line.lstrip().startswith(("```", "~~~"))
        heading = None if is_code else _HEADING.match(line)
        if not level or (heading and len(heading[1]) <= level):
            yield from filter(None, [block])
            block, level = "", len(heading[1]) if heading and _NUMBER in heading[2] else 0
        block += line
        if not level:
            yield block
            block = ""
    yield from filter(None, [block])
