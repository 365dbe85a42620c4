"""A repository whose board shows everything: parallel phases, a lie, questions, a failure, agents at work.

Tests and the pictures of the docs use it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, get_args

from asbuilt.events.questions import QuestionKind
from asbuilt.journal import approvals, repositories, runs
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.ids import LOCAL
from tests.journeys.test_commands import Office, until

if TYPE_CHECKING:
    from pathlib import Path

RATE_LIMIT: Final = """\
# Rate limiting

## Goal
Every key gets at most 100 requests a minute; more get a 429 with Retry-After.

## Phase 1 — Token bucket
### Dependencies
None.
### Work Items
- [ ] `bucket.py` has a token bucket that refills over time
### Verification
- `grep -q refill bucket.py`

## Phase 2a — Store the buckets
### Dependencies
Phase 1.
### Work Items
- [ ] `store.py` keeps a bucket for each key
- [ ] `store.py` forgets buckets that are full again
### Verification
- `grep -q forget store.py`

## Phase 2b — Answer 429
### Dependencies
Phase 1.
### Work Items
- [ ] `reply.py` sends 429 with Retry-After
### Verification
- `grep -q Retry-After reply.py`

## Phase 3 — Put it into the middleware
### Dependencies
Phase 2a, Phase 2b.
### Work Items
- [ ] `middleware.py` limits every request
### Verification
- `grep -q limit middleware.py`
"""
RATE_LIMIT_SCRIPT: Final = """\
[[turn]]
phase = "1"
role = "implement"
acts = [
  { run = "ls" },
  { write = "bucket.py", text = \"\"\"
class Bucket:
    def __init__(self, size, per_second):
        self.size, self.per_second = size, per_second

    def refill(self, seconds):
        self.left = min(self.size, self.left + seconds * self.per_second)
\"\"\" },
  { usage = 18200, output = 2400, cost_usd = 0.21 },
  { say = "The bucket refills by the time that passed." },
]
[[turn]]
phase = "2a"
role = "implement"
acts = [
  { write = "store.py", text = "buckets = {}\\n" },
  { usage = 22400, output = 1900, cost_usd = 0.24 },
  { say = "Both items are done and all tests pass." },
]
[[turn]]
phase = "2a"
role = "fix"
acts = [
  { write = "store.py", text = "buckets = {}\\n\\n\\ndef forget(key):\\n    buckets.pop(key, None)\\n" },
  { usage = 9100, output = 800, cost_usd = 0.09 },
  { say = "The store now forgets full buckets." },
]
[[turn]]
phase = "2b"
role = "implement"
acts = [
  { write = "reply.py", text = "def too_many(seconds):\\n    return 429, {'Retry-After': str(seconds)}\\n" },
  { usage = 15300, output = 1100, cost_usd = 0.16 },
  { say = "The reply has Retry-After." },
]
[[turn]]
phase = "3"
role = "implement"
acts = [
  { write = "middleware.py", text = "def limit(request):\\n    return request\\n" },
  { write = ".gitlab-ci.yml", text = "test:\\n  script: [pytest]\\n" },
  { usage = 25100, output = 3000, cost_usd = 0.31 },
  { say = "Every request goes through the limit." },
]
[[turn]]
role = "verify"
acts = [{ usage = 6000, output = 400, cost_usd = 0.05 }, { verdict = "pass" }]
"""
SEARCH: Final = """\
# Search orders by customer

## Phase 1 — Index
### Work Items
- [ ] `index.py` has an index over customers
### Verification
- `grep -q customers index.py`
"""
SEARCH_SCRIPT: Final = """\
[[turn]]
role = "implement"
acts = [{ write = "index.py", text = "orders = {}\\n" }, { say = "The index is built and tested." }]
[[turn]]
role = "fix"
acts = [{ append = "index.py", text = "# again\\n" }, { say = "Fixed." }]
"""
EXPORT: Final = """\
# Export invoices

## Phase 1 — CSV
### Work Items
- [ ] `export.py` writes CSV
### Verification
- `grep -q csv export.py`

## Phase 2 — Columns of the tax office
### Dependencies
Phase 1.
### Work Items
- [ ] `columns.py` lists the columns
### Verification
- `grep -q vat columns.py`
"""
EXPORT_SCRIPT: Final = """\
[[turn]]
phase = "1"
role = "implement"
acts = [{ write = "export.py", text = "import csv\\n" }, { say = "CSV is written." }]
[[turn]]
phase = "2"
role = "implement"
acts = [
  { say = "I read the invoices first." },
  { run = "grep -rn invoice . | head" },
  { write = "columns.py", text = "COLUMNS = ('number', 'date', 'net', 'vat')\\n" },
  { run = "python3 columns.py" },
  { hang = true },
]
[[turn]]
role = "verify"
acts = [{ verdict = "pass" }]
"""
REFUNDS: Final = """\
# Refunds

## Goal
`refund.py` pays an order back, once.

## Scope
`refund.py` (new), beside `plans/search.md`

## Non-Scope
Partial refunds: no customer asked for them.

## Phase 1 — Pay back
Effort: S. Depends on nothing.
### Work Items
- [ ] `refund.py` pays an order back and refuses a second time
### Verification
- `grep -q twice refund.py`

## Risks
The bank is slow: the refund stays pending.

## Open Questions
None.
"""


class Scene:
    """An office with four plans: one waits for a sign-off, one failed, one is worked on, one wants a yes."""

    def __init__(self, folder: Path) -> None:
        self.office = Office(folder, "shop-api")
        office = self.office
        (office.shop / "plans" / "greet.md").unlink()
        for name, plan in (("rate-limit", RATE_LIMIT), ("search", SEARCH), ("export", EXPORT)):
            (office.shop / "plans" / f"{name}.md").write_text(plan, encoding="utf-8")
        office.git("add", ".")
        office.git("commit", "-qm", "Plans")
        self.run("rate-limit", RATE_LIMIT_SCRIPT, "--finish", "--auto", "--lanes", "2")
        self.run("search", SEARCH_SCRIPT, "--auto")
        self.run("export", EXPORT_SCRIPT, "--finish", "--auto", "--detach")
        draft = f'[[turn]]\nphase = "draft"\nrole = "plan"\nacts = [{{ say = {json.dumps(REFUNDS)} }}]\n'
        office.script.write_text(draft, encoding="utf-8")
        office.asbuilt("author", "refund an order", "--name", "refunds", "--script", str(office.script))
        until(lambda: "export/2" in self.working())

    def run(self, plan: str, script: str, *options: str) -> str:
        """Run a plan with its own script."""
        file = self.office.script.with_name(f"{plan}.toml")
        file.write_text(script, encoding="utf-8")
        return self.office.asbuilt("run", plan, *options, "--script", str(file))

    def working(self) -> list[str]:
        """Return the phases that agents work on."""
        shown = self.office.asbuilt("status", "--json").partition("--- stdout\n")[2]
        return [
            f"{plan['plan']}/{phase['id']}"
            for plan in json.loads(shown)["plans"]
            for phase in plan["phases"]
            if phase["state"] == "implementing"
        ]

    def ask_every_kind(self) -> None:
        """Add a question of each kind that no run of the scene has asked."""
        store = SqliteStore(self.office.state / "journal.db")
        with store.write() as session:
            repo = next(iter(repositories.every(session, LOCAL))).repo
            asked = approvals.waiting(session, LOCAL, repo)
            there = {one.kind for one in asked}
            run = next(run for run in (runs.find(session, LOCAL, repo, one.run) for one in asked) if run)
            for kind in get_args(QuestionKind):
                if kind not in there:
                    words = f"continue with {kind}?\na) the first way\nb) the other way"
                    wish = approvals.Wish(run.run, kind, words, "1")
                    approvals.ask(session, run.address, key=f"{run.run}/{kind}", wish=wish, actor="asbuilt")


def links_in(page: str) -> set[str]:
    """Return the paths of the board that a page links to."""
    return {one for one in re.findall(r'href="(/[^"]*)"', page) if not one.startswith("/static")}
