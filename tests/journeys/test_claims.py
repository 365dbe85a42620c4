"""What a run claims: its plan with the phase that is busy, and the issues that the plan names."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing

import pytest

from tests.journeys.test_commands import Office, office, until

__all__ = ["office"]
pytestmark = pytest.mark.crash
PLAN = """\
---
issue: 7
---
# Greetings

## Phase 1 — Greet
### Work Items
- [ ] `greet.py` says hello
### Verification
- `grep -q hello greet.py`

## Phase 2 — Part
### Work Items
- [ ] `part.py` says goodbye
### Verification
- `grep -q goodbye part.py`
"""
SCRIPT = """\
[[turn]]
phase = "1"
role = "implement"
acts = [{ sleep = 12 }, { write = "greet.py", text = "hello" }, { say = "done" }]
[[turn]]
phase = "2"
role = "implement"
acts = [{ sleep = 8 }, { write = "part.py", text = "goodbye" }, { say = "done" }]
[[turn]]
role = "verify"
acts = [{ verdict = "pass" }]
"""


def claimed(office: Office) -> tuple[list[str | None], list[int]]:
    """Return the phases of claimed plans, and the claimed issues."""
    with office.typed("claim", "list", "--json") as process:
        shown = json.loads(process.communicate(timeout=60)[0])
    return [one["phase"] for one in shown["claims"]], [one["number"] for one in shown["issues"]]


def fall_due(office: Office) -> None:
    with closing(sqlite3.connect(office.state / "journal.db")) as journal, journal:
        journal.execute("UPDATE schedules SET due_at = '2026-01-01T00:00:00.000Z'")


def deferrals(office: Office) -> int:
    """Return how often the busy phase has deferred the schedule."""
    with office.typed("status", "greet", "--json") as process:
        (plan,) = json.loads(process.communicate(timeout=60)[0])["plans"]
    number: int = plan["schedule"]["deferrals"]
    return number


def test_a_claim_names_the_busy_phase_to_schedules_and_issues_are_the_plans_until_it_is_complete(
    office: Office,
) -> None:
    office.script.write_text(SCRIPT, encoding="utf-8")
    (office.shop / "plans" / "greet.md").write_text(PLAN, encoding="utf-8")
    office.git("commit", "-qam", "issue")
    office.run("--every", "4h")
    with office.typed("run", "greet", "--finish", "--auto", "--script", str(office.script)) as run:
        until(lambda: claimed(office) == (["1"], [7]))
        for number in (1, 2):
            fall_due(office)
            until(lambda number=number: deferrals(office) == number)  # type: ignore[misc]
        until(lambda: claimed(office) == (["2"], [7]))
        fall_due(office)
        until(lambda: deferrals(office) == 1)
        run.communicate(timeout=120)
    assert (run.returncode, claimed(office)) == (0, ([], []))
    said = re.findall(r"Phase (\d) already in progress, deferring", office.asbuilt("log", "greet"))
    assert said == ["1", "1", "2"]
    assert "the plan is already complete" in office.run("--finish", "--auto")
    assert claimed(office) == ([], [])


def test_an_issue_that_another_plan_has_is_reported_and_the_run_continues_without_it(office: Office) -> None:
    for name in ("greet", "other"):
        plan = PLAN.replace("greet.py", "other.py") if name == "other" else PLAN
        (office.shop / "plans" / f"{name}.md").write_text(plan, encoding="utf-8")
    office.git("add", ".")
    office.git("commit", "-qm", "two plans of one issue")
    office.script.write_text('[[turn]]\nphase = "1"\nacts = [{ hang = true }]\n', encoding="utf-8")
    first = office.typed("run", "greet", "--auto", "--script", str(office.script))
    try:
        until(lambda: claimed(office) == (["1"], [7]))
        script = SCRIPT.replace("greet.py", "other.py").replace("{ sleep = 12 }, ", "")
        (office.script.parent / "other.toml").write_text(script, encoding="utf-8")
        said = office.asbuilt("run", "other", "--auto", "--script", str(office.script.parent / "other.toml"))
        assert said.startswith("exit 0")
        assert "ISSUE #7 is claimed by plans/greet.md; this run" in " ".join(said.split())
        assert office.git("log", "--format=%s", "-2").splitlines() == ["Mark plans/other.md", "Greet"]
        assert claimed(office) == (["1"], [7])
    finally:
        office.asbuilt("stop", "greet")
        first.communicate(timeout=120)
    assert claimed(office) == ([], [])
