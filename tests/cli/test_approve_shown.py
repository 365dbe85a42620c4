"""A plan is put to a person on one screen, and to a script as a whole."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from inline_snapshot import snapshot

from asbuilt.plan.reader import read
from tests.cli.inbox import DRAFT, TIGHTER, Desk, Inbox, desk, inbox

__all__ = ["desk", "inbox"]


def test_a_draft_is_shown_on_one_screen(desk: Desk) -> None:
    desk.draft(DRAFT)
    assert desk.typed("approve", "show", "a1") == snapshot("""\
exit 0
--- stdout
Approve rate-limit?   a1   revision 1, sha256:f059
Rate limiting for the public API
Goal   No API key can exceed its limit on /v1.
Not    Billing by use.
  1   Token bucket                         S  2 items  1 check
  2a  Redis store                             3 items  1 check   after 1
  2b  Limits per API key                      2 items  1 check   after 1
  3   Middleware and 429                      2 items  1 check   after 2a, 2b
Tests    detected when the run begins
Touches  src/api/limits/
Agents   scripted implements and verifies, in separate processes
Cost     Estimate: none yet. Limit: $15.00 (API prices) a run
Lands    on main, when you confirm
  asked 2h ago; not answered
--- stderr
Next: asbuilt approve yes a1
  or  edit it first: asbuilt approve yes a1 --edit
""")


def test_a_newer_revision_is_shown_with_what_differs(inbox: Inbox) -> None:
    inbox.draft(DRAFT)
    inbox.draft(TIGHTER)
    assert inbox.typed("approve", "show", "a2").partition("Lands")[2] == snapshot("""\
    on main, when you confirm
What differs from revision 1:
  - - [ ] At most 5 ms added per request
  + - [ ] At most 2 ms added per request
  asked 2h ago; not answered
--- stderr
Next: asbuilt approve yes a2
  or  edit it first: asbuilt approve yes a2 --edit
""")


def test_what_a_plan_allows_in_so_many_words_is_shown(inbox: Inbox) -> None:
    inbox.draft(DRAFT.replace("### Verification", "**Allows:** dependency redis\n\n### Verification", 1))
    shown = inbox.typed("approve", "show", "a1")
    assert [line for line in shown.splitlines() if "Allows" in line] == ["Allows   dependency redis"]


def test_the_whole_text_can_be_read(desk: Desk) -> None:
    desk.draft(DRAFT)
    assert desk.typed("approve", "show", "a1", "--full") == f"exit 0\n--- stdout\n{DRAFT}"


def test_a_long_plan_still_fits_a_screen(desk: Desk) -> None:
    phases = "".join(f"## Phase {n} — Step {n}\n\n- [ ] item {n}\n\n" for n in range(1, 40))
    desk.draft(f"# Long\n\n## Goal\n\n{'Many words. ' * 200}\n\n{phases}")
    rows = desk.typed("approve", "show", "a1").partition("--- stderr")[0].splitlines()
    assert len(rows) <= 26
    assert max(map(len, rows)) <= 80


def test_a_script_gets_the_same_and_the_whole_text(desk: Desk) -> None:
    desk.draft(DRAFT)
    desk.draft(TIGHTER)
    told: dict[str, Any] = json.loads(desk.typed("approve", "show", "a2", "--json").split("\n", 2)[2])
    draft = told.pop("draft")
    asked_at = datetime.fromisoformat(told.pop("asked_at"))
    assert abs(datetime.now(UTC) - asked_at) < timedelta(minutes=2)
    assert {name: told[name] for name in ("id", "run", "kind", "plan")} == {
        "id": "a2", "run": "rate-limit.1", "kind": "plan", "plan": "plans/rate-limit.md"
    }  # fmt: skip
    assert draft.pop("text") == TIGHTER
    assert (draft.pop("intent"), draft.pop("digest")) == (
        read(TIGHTER.encode()).intent,
        read(TIGHTER.encode()).digest,
    )
    assert draft == snapshot(
        {
            "revision": 2,
            "label": "",
            "by": "agent",
            "title": "Rate limiting for the public API",
            "goal": "No API key can exceed its limit on /v1.",
            "not": "Billing by use.",
            "scope": "src/api/limits/",
            "phases": [
                {"id": "1", "title": "Token bucket", "size": "S", "items": 2, "checks": 1, "after": []},
                {"id": "2a", "title": "Redis store", "size": "", "items": 3, "checks": 1, "after": ["1"]},
                {
                    "id": "2b",
                    "title": "Limits per API key",
                    "size": "",
                    "items": 2,
                    "checks": 1,
                    "after": ["1"],
                },
                {
                    "id": "3",
                    "title": "Middleware and 429",
                    "size": "",
                    "items": 2,
                    "checks": 1,
                    "after": ["2a", "2b"],
                },
            ],
            "checks": 4,
            "terms": {
                "tests": "detected when the run begins",
                "touches": "src/api/limits/",
                "agents": "scripted implements and verifies, in separate processes",
                "cost": "Estimate: none yet. Limit: $15.00 (API prices) a run",
                "lands": "on main, when you confirm",
            },
            "since": "revision 1",
            "changes": [
                {"sign": "-", "line": 58, "text": "- [ ] At most 5 ms added per request"},
                {"sign": "+", "line": 58, "text": "- [ ] At most 2 ms added per request"},
            ],
            "tried": None,
        }
    )
