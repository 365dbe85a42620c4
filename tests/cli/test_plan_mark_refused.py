"""What `plan mark` cannot state for certain it refuses, and not a byte is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.cli.plans import (
    CHECKLIST,
    NARRATIVE,
    RATE_LIMIT,
    marked,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "arguments", "told"),
    [
        pytest.param(
            NARRATIVE,
            ("1", "done"),
            snapshot("""\
exit 1
--- stderr
error: phase 1 has no place for a status
  Why:  It is written in prose, so the position of a mark is ambiguous.
  Next: asbuilt plan open plans
        # to add a table with the columns Phase and Status
"""),
            id="prose has no place",
        ),
        pytest.param(
            CHECKLIST,
            ("announce-it", "blocked"),
            snapshot("""\
exit 1
--- stderr
error: phase announce-it has only boxes, and a box can only be done or open
  Why:  A checkbox cannot express blocked.
  Next: asbuilt plan mark plans announce-it done
        # or pending
"""),
            id="a box has two states",
        ),
        pytest.param(
            RATE_LIMIT,
            ("2", "done"),
            snapshot("""\
exit 3
--- stderr
error: the plan has no phase 2; it has 1, 2a, 2b, 3
  Why:  2a and 2b are run and proven apart.
  Next: asbuilt plan show plans
"""),
            id="no such phase",
        ),
        pytest.param(
            RATE_LIMIT,
            ("2a", "done", "--item", "9"),
            snapshot("""\
exit 3
--- stderr
error: phase 2a has no item 9; it has 3
  Why:  Items are counted from 1 within their phase.
  Next: asbuilt plan show plans --phase 2a
"""),
            id="no such item",
        ),
        pytest.param(
            RATE_LIMIT,
            ("2a", "blocked", "--item", "1"),
            snapshot("""\
exit 2
--- stderr
error: an item is done or pending, not blocked
  Why:  A box has two states.
  Next: asbuilt plan mark plans 2a blocked
        # marks the phase instead
"""),
            id="an item is not blocked",
        ),
        pytest.param(
            RATE_LIMIT,
            ("2a", "done", "--commit", "HEAD"),
            snapshot("""\
exit 2
--- stderr
error: "HEAD" is not a commit hash
  Why:  A hash is 7 to 40 of the characters 0-9 and a-f; anything else could not
        be found again.
  Next: git log --oneline
        # prints the hashes
"""),
            id="no hash",
        ),
        pytest.param(
            RATE_LIMIT,
            ("2a", "finished"),
            snapshot("""\
exit 2
--- stderr
error: asbuilt plan mark: STATUS: 'finished' is not one of 'pending',
       'in-progress', 'in_progress', 'done', 'blocked'
  Next: asbuilt plan mark -h
        # shows examples and options
"""),
            id="no such status",
        ),
        pytest.param(
            RATE_LIMIT,
            ("2a",),
            snapshot("""\
exit 2
--- stderr
error: mark takes a phase and its status, or --complete
  Why:  asbuilt does not guess a phase or a status.
  Next: asbuilt plan mark plan 1 done
    or  asbuilt plan mark plan --complete
"""),
            id="no status",
        ),
        pytest.param(
            RATE_LIMIT,
            (),
            snapshot("""\
exit 2
--- stderr
error: mark takes a phase and its status, or --complete
  Why:  asbuilt does not guess a phase or a status.
  Next: asbuilt plan mark plan 1 done
    or  asbuilt plan mark plan --complete
"""),
            id="nothing to mark",
        ),
        pytest.param(
            RATE_LIMIT,
            ("2a", "done", "--complete"),
            snapshot("""\
exit 2
--- stderr
error: mark takes a phase and its status, or --complete
  Why:  asbuilt does not guess a phase or a status.
  Next: asbuilt plan mark plan 1 done
    or  asbuilt plan mark plan --complete
"""),
            id="both",
        ),
        pytest.param(
            RATE_LIMIT,
            ("--complete", "--note", "x"),
            snapshot("""\
exit 2
--- stderr
error: --complete does not go with --note
  Why:  The command can apply only one of them; nothing was written.
  Next: asbuilt plan mark -h
        # shows examples; mark one after the other
"""),
            id="a note for the whole",
        ),
        pytest.param(
            RATE_LIMIT,
            ("2a", "done", "--item", "1", "--items"),
            snapshot("""\
exit 2
--- stderr
error: --item does not go with --items
  Why:  The command can apply only one of them; nothing was written.
  Next: asbuilt plan mark -h
        # shows examples; mark one after the other
"""),
            id="item and items",
        ),
        pytest.param(
            RATE_LIMIT,
            ("2a", "done", "--json"),
            snapshot("""\
exit 2
--- stdout
{"schema":"asbuilt.error/1","error":"UsageWrong","what":"asbuilt plan mark has no option --json","why":"",\
"next":"`asbuilt plan mark -h` shows examples and options.",\
"next_command":"asbuilt plan mark -h","exit":2}
--- stderr
error: asbuilt plan mark has no option --json
  Next: asbuilt plan mark -h
        # shows examples and options
"""),
            id="no JSON",
        ),
    ],
)
def test_what_cannot_be_marked_is_told_and_nothing_is_written(
    asbuilt: Callable[..., str], shop: Path, text: str, arguments: tuple[str, ...], told: str
) -> None:
    assert marked(asbuilt, shop, text, *arguments) == told
