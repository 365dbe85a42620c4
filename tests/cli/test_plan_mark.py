"""`plan mark` states one thing in the file, in the file's own manner, and every other byte stays."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.events.phases import PhaseMarked
from asbuilt.events.plans import PlanCompleted
from asbuilt.journal.encoding.codec import event_of
from tests.cli.plans import BRACKETS, CHECKLIST, HEADINGS, PROGRESS, RATE_LIMIT, SECTIONS, marked, put
from tests.library.interference import is_told_who_writes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "arguments", "told"),
    [
        pytest.param(
            RATE_LIMIT,
            ("2a", "done", "--commit", "a1b2c3d"),
            snapshot("""\
exit 0
--- stdout
plans/plan.md: phase 2a is marked done.
--- stderr
Marked, not proven: no check was run.
Next: asbuilt plan show plans
- | 2a — Redis store | 🟡 | | |
+ | 2a — Redis store | ✅ Done | `a1b2c3d` | |
"""),
            id="tracker",
        ),
        pytest.param(
            RATE_LIMIT,
            ("2A", "pending"),
            snapshot("""\
exit 0
--- stdout
plans/plan.md: phase 2a is marked pending.
--- stderr
Next: asbuilt plan show plans
- | 2a — Redis store | 🟡 | | |
+ | 2a — Redis store | ⬚ | | |
"""),
            id="tracker, taken back",
        ),
        pytest.param(
            RATE_LIMIT,
            ("3", "blocked", "--note", "waits | for\nRedis"),
            snapshot("""\
exit 0
--- stdout
plans/plan.md: phase 3 is marked blocked.
--- stderr
Next: asbuilt plan show plans
- | 3 — Middleware and 429 | ⬚ | | |
+ | 3 — Middleware and 429 | ❌ Blocked | | waits \\| for Redis |
"""),
            id="a note with a pipe",
        ),
        pytest.param(
            RATE_LIMIT,
            ("2a", "done", "--items"),
            snapshot("""\
exit 0
--- stdout
plans/plan.md: phase 2a is marked done.
--- stderr
Marked, not proven: no check was run.
Next: asbuilt plan show plans
- | 2a — Redis store | 🟡 | | |
+ | 2a — Redis store | ✅ Done | | |
- - [ ] Store a bucket under its key
+ - [x] Store a bucket under its key
- - [ ] Refill in one round trip
+ - [x] Refill in one round trip
- - [ ] Let keys expire
+ - [x] Let keys expire
"""),
            id="with its items",
        ),
        pytest.param(
            RATE_LIMIT,
            ("2a", "done", "--item", "3"),
            snapshot("""\
exit 0
--- stdout
plans/plan.md: item 3 of phase 2a is marked done.
--- stderr
Marked, not proven: no check was run.
Next: asbuilt plan show plans
- - [ ] Let keys expire
+ - [x] Let keys expire
"""),
            id="one item",
        ),
        pytest.param(
            RATE_LIMIT,
            ("1", "done"),
            snapshot("""\
exit 0
--- stdout
plans/plan.md: phase 1 is marked done already.
--- stderr
Next: asbuilt plan show plans
"""),
            id="as it is already",
        ),
        pytest.param(
            SECTIONS,
            ("1", "in-progress", "--note", "one more"),
            snapshot("""\
exit 0
--- stdout
plans/plan.md: phase 1 is marked in progress.
--- stderr
Next: asbuilt plan show plans
- **Status:** ✅ Done (9f8e7d6)
+ **Status:** 🟡 In progress: one more
"""),
            id="a status line",
        ),
        pytest.param(
            SECTIONS,
            ("2", "done", "--commit", "a1b2c3d"),
            snapshot("""\
exit 0
--- stdout
plans/plan.md: phase 2 is marked done.
--- stderr
Marked, not proven: no check was run.
Next: asbuilt plan show plans
+ **Status:** ✅ Done (a1b2c3d)
"""),
            id="no status line yet",
        ),
        pytest.param(
            CHECKLIST,
            ("tag-the-release", "done", "--commit", "a1b2c3d"),
            snapshot("""\
exit 0
--- stdout
plans/plan.md: phase tag-the-release is marked done.
--- stderr
Marked, not proven: no check was run.
Next: asbuilt plan show plans
- - [ ] Tag the release
+ - [x] Tag the release (a1b2c3d)
"""),
            id="a box",
        ),
        pytest.param(
            HEADINGS,
            ("publish", "done", "--note", "at noon"),
            snapshot("""\
exit 0
--- stdout
plans/plan.md: phase publish is marked done.
--- stderr
! Not written: the note: a box has no place for one.
Marked, not proven: no check was run.
Next: asbuilt plan show plans
- - [ ] Tag the release
+ - [x] Tag the release
- - [ ] Announce it
+ - [x] Announce it
"""),
            id="boxes",
        ),
        pytest.param(
            BRACKETS,
            ("2", "in_progress"),
            snapshot("""\
exit 0
--- stdout
plans/plan.md: phase 2 is marked in progress.
--- stderr
Next: asbuilt plan show plans
- ### Phase 2: Job [NOT STARTED]
+ ### Phase 2: Job [IN PROGRESS]
"""),
            id="a bracket",
        ),
        pytest.param(
            BRACKETS.replace("\n", "\r\n"),
            ("2", "done"),
            snapshot("""\
exit 0
--- stdout
plans/plan.md: phase 2 is marked done.
--- stderr
Marked, not proven: no check was run.
Next: asbuilt plan show plans
- ### Phase 2: Job [NOT STARTED]\r
+ ### Phase 2: Job [COMPLETED]\r
"""),
            id="CRLF",
        ),
    ],
)
def test_each_format_is_marked_in_its_own_manner(
    asbuilt: Callable[..., str], shop: Path, text: str, arguments: tuple[str, ...], told: str
) -> None:
    assert marked(asbuilt, shop, text, *arguments) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            RATE_LIMIT,
            snapshot("""\
exit 0
--- stdout
plans/plan.md: the plan is marked complete.
--- stderr
Marked, not proven: no check was run.
Next: asbuilt plan show plans
- status: approved
+ status: complete
+ completed: [NOW]
"""),
        ),
        (
            CHECKLIST,
            snapshot("""\
exit 0
--- stdout
plans/plan.md: the plan is marked complete.
--- stderr
Marked, not proven: no check was run.
Next: asbuilt plan show plans
+ ---
+ status: complete
+ completed: [NOW]
+ ---
+ \n\
"""),
        ),
        (
            BRACKETS,
            snapshot("""\
exit 0
--- stdout
plans/plan.md: the plan is marked complete.
--- stderr
Marked, not proven: no check was run.
Next: asbuilt plan show plans
- - **Status**: [IMPLEMENTING]
+ - **Status**: [COMPLETED]
+ - **Completed**: [NOW]
"""),
        ),
    ],
    ids=["front matter", "none yet", "metadata"],
)
def test_a_whole_plan_is_marked_complete_with_the_time(
    asbuilt: Callable[..., str], shop: Path, text: str, told: str
) -> None:
    said = marked(asbuilt, shop, text, "--complete")
    assert re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[NOW]", said) == told


def test_the_progress_document_is_marked_along(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, PROGRESS=PROGRESS)
    assert marked(asbuilt, shop, SECTIONS, "2", "done", "--commit", "a1b2c3d") == snapshot("""\
exit 0
--- stdout
plans/plan.md, plans/PROGRESS.md: phase 2 is marked done.
--- stderr
Marked, not proven: no check was run.
Next: asbuilt plan show plans
+ **Status:** ✅ Done (a1b2c3d)
""")
    assert (shop / "plans" / "PROGRESS.md").read_text() == PROGRESS.replace(
        "| 2 | | |", "| 2 | ✅ Done | `a1b2c3d` |"
    )


def test_a_progress_document_that_cannot_be_marked_is_named(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, PROGRESS="# Progress\n\nAll is well.\n")
    assert marked(asbuilt, shop, SECTIONS, "2", "done") == snapshot("""\
exit 0
--- stdout
plans/plan.md: phase 2 is marked done.
--- stderr
! Not written: plans/PROGRESS.md does not speak of phase 2.
Marked, not proven: no check was run.
Next: asbuilt plan show plans
+ **Status:** ✅ Done
""")


def test_when_the_progress_document_cannot_be_written_neither_is(
    asbuilt: Callable[..., str], shop: Path
) -> None:
    put(shop, PROGRESS=PROGRESS)
    (shop / "plans" / "PROGRESS.md").chmod(0o444)
    assert marked(asbuilt, shop, SECTIONS, "2", "done") == snapshot("""\
exit 1
--- stderr
error: plans/PROGRESS.md is write-protected
  Why:  The file is write-protected. It has not changed.
  Next:
        chmod u+w [TMP]/shop-api/plans/PROGRESS.md
        # then run the same command again
""")
    assert (shop / "plans" / "PROGRESS.md").read_text() == PROGRESS


def test_a_note_that_has_no_place_is_said_to_be_left_out(asbuilt: Callable[..., str], shop: Path) -> None:
    text = (
        RATE_LIMIT.replace(" Notes |", "")
        .replace("|--------|-------|\n", "|--------|\n")
        .replace(" | |\n", " |\n")
    )
    assert marked(asbuilt, shop, text, "2b", "done", "--note", "x") == snapshot("""\
exit 0
--- stdout
plans/plan.md: phase 2b is marked done.
--- stderr
! Not written: the note: the tracker has no column for notes.
Marked, not proven: no check was run.
Next: asbuilt plan show plans
- | 2b — Limits per API key | ⬚ | |
+ | 2b — Limits per API key | ✅ Done | |
""")


def test_quiet_says_only_what_was_done(asbuilt: Callable[..., str], shop: Path) -> None:
    assert marked(asbuilt, shop, CHECKLIST, "announce-it", "done", "-q") == snapshot("""\
exit 0
--- stdout
plans/plan.md: phase announce-it is marked done.
- - [ ] Announce it
+ - [x] Announce it
""")


@pytest.mark.skipif(not is_told_who_writes(), reason="this system does not tell who has a file open")
def test_an_open_file_is_left_to_whoever_has_it_open(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, plan=CHECKLIST)
    with (shop / "plans" / "plan.md").open("r+"):
        told = asbuilt("plan", "mark", "plan", "announce-it", "done")
    assert told == snapshot("""\
exit 4
--- stderr
error: plans/plan.md is open for writing in another program
  Why:  What it writes next would be lost; nothing was written.
  Next: Save and close it there, then run the same command again.
""")
    assert (shop / "plans" / "plan.md").read_text() == CHECKLIST


def test_no_byte_outside_of_the_mark_changes(asbuilt: Callable[..., str], shop: Path) -> None:
    data = (
        b"\xef\xbb\xbf# \xff\r\n\r\n## Phase 1: x\r\n\r\n- [ ] a\t\xe2\x80\xa8\r\n- [ ] b\x00\r\n\r\nno end"
    )
    (shop / "plans").mkdir()
    file = shop / "plans" / "odd.md"
    file.write_bytes(data)
    file.chmod(0o640)
    asbuilt("plan", "mark", "odd", "1", "done", "--item", "2")
    assert file.read_bytes() == data.replace(b"- [ ] b", b"- [x] b")
    assert (oct(file.stat().st_mode & 0o777), [path.name for path in file.parent.iterdir()]) == (
        "0o640",
        ["odd.md"],
    )


def test_a_mark_by_hand_is_in_the_journal_with_who_made_it(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    state = str(shop.parent / "state")
    for words in (("2a", "done"), ("2a", "done"), ("2a", "nothing"), ("--complete",)):
        asbuilt("plan", "mark", "rate-limit", *words, ASBUILT_HOME=state, LOGNAME="ann")
    told = asbuilt("log", "rate-limit", "--json", ASBUILT_HOME=state).split("\n")[2]
    assert [
        (one["seq"], one["actor"], event_of(one["kind"], one["v"], one["data"]))
        for one in json.loads(told)["events"]
    ] == [
        (1, "ann", PhaseMarked(phase="2a", status="done", by="hand")),
        (2, "ann", PhaseMarked(phase="2a", status="done", by="hand")),
        (3, "ann", PlanCompleted(status="complete", by="hand")),
    ]
