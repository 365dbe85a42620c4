"""The picture that `plan show` draws tells the truth in eighty columns, or is a list."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.cli.plans import (
    BRACKETS,
    CHECKLIST,
    HEADINGS,
    NARRATIVE,
    RATE_LIMIT,
    put,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _phases(*depends: str, title: str = "Work") -> str:
    parts = [
        f"## Phase {at} - {title} {at}\n\n### Verification\n\n`make check-{at}`\n\n### Dependencies\n\n{on}\n"
        for at, on in enumerate(depends, 1)
    ]
    return "# Shapes\n\n" + "\n".join(parts)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param(
            RATE_LIMIT,
            snapshot("""\
exit 0
--- stdout
Rate limiting for the public API   plans/shapes.md   approved
  wave 1               wave 2                      wave 3
  ✓ 1 Token bucket ─┬─ ● 2a Redis store ────────┬─ ○ 3 Middleware and 429
                    └─ ○ 2b Limits per API key ─┘
1 of 4 phases marked done (25%), 2 of 9 items. Next 2a. 106 lines. No problems.
"""),
            id="waves side by side",
        ),
        pytest.param(
            _phases("None.", "None.", "None.", "Phases 1, 2 and 3."),
            snapshot("""\
exit 0
--- stdout
Shapes   plans/shapes.md
  wave 1         wave 2
  ○ 1 Work 1 ─┬─ ○ 4 Work 4
  ○ 2 Work 2 ─┤
  ○ 3 Work 3 ─┘
0 of 4 phases marked done (0%). Next 1. 41 lines. No problems.
"""),
            id="three abreast",
        ),
        pytest.param(
            _phases(
                "None.", "Phase 1.", "Phase 1.", "Phases 2 and 3.", "Phase 4.", "Phase 4.", "Phases 5, 6."
            ),
            snapshot("""\
exit 0
--- stdout
Shapes   plans/shapes.md
  wave 1         wave 2         wave 3         wave 4         wave 5
  ○ 1 Work 1 ─┬─ ○ 2 Work 2 ─┬─ ○ 4 Work 4 ─┬─ ○ 5 Work 5 ─┬─ ○ 7 Work 7
              └─ ○ 3 Work 3 ─┘              └─ ○ 6 Work 6 ─┘
0 of 7 phases marked done (0%). Next 1. 71 lines. No problems.
"""),
            id="twice two abreast",
        ),
        pytest.param(
            _phases("None.", "Phase 1.", "Phase 2."),
            snapshot("""\
exit 0
--- stdout
Shapes   plans/shapes.md
  ○ 1  Work 1  pending  1 check  next
  ○ 2  Work 2  pending  1 check
  ○ 3  Work 3  pending  1 check
0 of 3 phases marked done (0%). Next 1. 31 lines. No problems.
"""),
            id="one after the other",
        ),
        pytest.param(
            _phases("None.", "None.", "Phase 1.", "Phase 2.", "Phases 3 and 4."),
            snapshot("""\
exit 0
--- stdout
Shapes   plans/shapes.md
  wave 1 ○ 1  Work 1  pending  1 check  next
  wave 1 ○ 2  Work 2  pending  1 check
  wave 2 ○ 3  Work 3  pending  1 check  after 1
  wave 2 ○ 4  Work 4  pending  1 check  after 2
  wave 3 ○ 5  Work 5  pending  1 check
0 of 5 phases marked done (0%). Next 1. 51 lines. No problems.
"""),
            id="crossing: a list, since joints would lie",
        ),
        pytest.param(
            _phases("None.", "Phase 1.", "Phase 1.", "Phases 2 and 3.", title="A long name for a phase"),
            snapshot("""\
exit 0
--- stdout
Shapes   plans/shapes.md
  wave 1 ○ 1  A long name for a phase 1  pending  1 check  next
  wave 2 ○ 2  A long name for a phase 2  pending  1 check
  wave 2 ○ 3  A long name for a phase 3  pending  1 check
  wave 3 ○ 4  A long name for a phase 4  pending  1 check
0 of 4 phases marked done (0%). Next 1. 41 lines. No problems.
"""),
            id="too wide for a picture",
        ),
        pytest.param(
            _phases("None.", "Phase 3.", "Phase 2.", "Phase 3."),
            snapshot("""\
exit 0
--- stdout
Shapes   plans/shapes.md
  wave 1  ○ 1  Work 1  pending  1 check  next
  no wave ○ 2  Work 2  pending  1 check  after 3
  no wave ○ 3  Work 3  pending  1 check  after 2
  no wave ○ 4  Work 4  pending  1 check  after 3
0 of 4 phases marked done (0%). Next 1. 41 lines.
✗ line 21: phases wait for each other: 2 -> 3 -> 2
1 error.
--- stderr
Next: asbuilt plan check shapes
"""),
            id="a cycle",
        ),
        pytest.param(
            "",
            snapshot("""\
exit 0
--- stdout
(no title)   plans/shapes.md
No trackable tasks found. 0 lines.
✗ line 1: has no title
✗ line 1: has no recognizable phase
2 errors.
--- stderr
Next: asbuilt plan check shapes
"""),
            id="nothing",
        ),
        pytest.param(
            "# Only a title\n",
            snapshot("""\
exit 0
--- stdout
Only a title   plans/shapes.md
No trackable tasks found. 1 line.
✗ line 1: has no recognizable phase
1 error.
--- stderr
Next: asbuilt plan check shapes
"""),
            id="only a title",
        ),
        pytest.param(
            CHECKLIST,
            snapshot("""\
exit 0
--- stdout
Release chores   plans/shapes.md
  ✓ bump-the-version  done c0ffee1
  ○ tag-the-release   pending       next
  ○ announce-it       pending
1 of 3 tasks marked done (33%). Next tag-the-release. Current: Tag the release.
5 lines.
! line 4: phase tag-the-release has no check that can be run (1 more like it)
2 warnings.
--- stderr
Next: asbuilt plan check shapes
"""),
            id="boxes",
        ),
        pytest.param(
            HEADINGS,
            snapshot("""\
exit 0
--- stdout
Release chores   plans/shapes.md
  ✓ prepare  done     2/2 items
  ○ publish  pending  0/2 items  next
2 of 4 tasks marked done (50%). Next publish. Current: Tag the release. 11
lines.
! line 8: phase publish has no check that can be run
1 warning.
--- stderr
Next: asbuilt plan check shapes
"""),
            id="boxes under headings",
        ),
        pytest.param(
            BRACKETS,
            snapshot("""\
exit 0
--- stdout
Nightly export   plans/shapes.md   implementing
  ✓ 1  Writer  done
  ○ 2  Job     pending  next
1 of 2 phases marked done (50%), 1 of 2 items. Next 2. 11 lines.
! line 1: has no Artifacts (5 more like it)
! line 1: has no Artifacts & Outputs (6 more like it)
! line 9: phase 2 has no check that can be run
14 warnings.
--- stderr
Next: asbuilt plan check shapes
"""),
            id="a task plan",
        ),
        pytest.param(
            "# "
            + "A title that goes on " * 6
            + "\n\n## Phase 1: "
            + "words " * 30
            + "\n\n- [ ] a\n- [ ] b\n",
            snapshot("""\
exit 0
--- stdout
A title that goes on A title that goes on A title that goes on A title that goes
on A title that goes on A title that goes on
plans/shapes.md
  ○ 1  words words words words words words words word…  pending  0/2 items  next
0 of 1 phase marked done (0%), 0 of 2 items. Next 1. 6 lines.
! line 3: phase 1 has no check that can be run
1 warning.
--- stderr
Next: asbuilt plan check shapes
"""),
            id="long words",
        ),
        pytest.param(
            "# 速率限制\n\n## Phase 1: 令牌桶 ✅\n\n## Phase 2: 缓存\nDepends on Phase 1.\n\n"
            "## Phase 3: 指标\nDepends on Phase 1.\n",
            snapshot("""\
exit 0
--- stdout
速率限制   plans/shapes.md
  wave 1         wave 2
  ✓ 1 令牌桶 ─┬─ ○ 2 缓存
              └─ ○ 3 指标
1 of 3 phases marked done (33%). Next 2. 9 lines.
! line 5: phase 2 has no check that can be run (1 more like it)
2 warnings.
--- stderr
Next: asbuilt plan check shapes
"""),
            id="wide characters",
        ),
    ],
)
def test_the_picture(asbuilt: Callable[..., str], shop: Path, text: str, shown: str) -> None:
    put(shop, shapes=text)
    told = asbuilt("plan", "show", "shapes")
    assert told == shown
    assert max(len(row) for row in told.split("\n")) <= 80


def test_thirty_phases_are_thirty_rows_of_at_most_eighty_columns(
    asbuilt: Callable[..., str], shop: Path
) -> None:
    on = ["None."] + [f"Phase {max(1, at // 3)}." for at in range(1, 30)]
    put(shop, shapes=_phases(*on, title="A step of a migration with many words in its name"))
    rows = asbuilt("plan", "show", "shapes").split("\n")
    assert max(map(len, rows)) <= 80
    assert rows[2:8] + rows[30:] == snapshot(
        [
            "Shapes   plans/shapes.md",
            "  wave 1 ○ 1   A step of a migration with many words…  pending  1 check  next",
            "  wave 2 ○ 2   A step of a migration with many words…  pending  1 check",
            "  wave 2 ○ 3   A step of a migration with many words…  pending  1 check",
            "  wave 2 ○ 4   A step of a migration with many words…  pending  1 check",
            "  wave 2 ○ 5   A step of a migration with many words…  pending  1 check",
            "  wave 4 ○ 28  A step of a migration with many words…  pending  1 check  after 9",
            "  wave 4 ○ 29  A step of a migration with many words…  pending  1 check  after 9",
            "  wave 4 ○ 30  A step of a migration with many words…  pending  1 check  after 9",
            "0 of 30 phases marked done (0%). Next 1. 301 lines. No problems.",
            "",
        ]
    )


def test_a_narrative_shows_what_can_be_inferred_and_why(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, story=NARRATIVE)
    (shop / "tools").mkdir()
    (shop / "tools" / "convert.py").write_text("")
    assert asbuilt("plan", "show", "story") == snapshot("""\
exit 0
--- stdout
Moving settings to TOML   plans/story.md
  ◇ 1  the loader accepts `settings.toml` next to the old file  unknown  next
  ◇ 2  `tools/convert.py` converts what is there                unknown
  1  inferred open, medium confidence: settings.toml does not exist
  2  inferred done, low confidence: tools/convert.py exists
0 of 2 phases marked done (0%). Next 1. 5 lines.
! line 3: phase 1 has no check that can be run (1 more like it)
2 warnings.
--- stderr
Next: asbuilt plan check story
""")
    told = json.loads(asbuilt("plan", "show", "story", "--json").removeprefix("exit 0\n--- stdout\n"))
    assert [(phase["status"], phase["inferred"]) for phase in told["phases"]] == snapshot(
        [
            (
                "unknown",
                {"outcome": "open", "confidence": "medium", "because": ["settings.toml does not exist"]},
            ),
            ("unknown", {"outcome": "done", "confidence": "low", "because": ["tools/convert.py exists"]}),
        ]
    )
