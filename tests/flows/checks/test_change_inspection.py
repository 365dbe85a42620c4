"""What is noticed about a kept commit, from the trees, the frozen plan and the user's rules alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import ChecksDone
from asbuilt.events.options_json import read_options
from asbuilt.events.phases import PhaseBegun
from asbuilt.flows.checks.change_inspection import inspect
from asbuilt.flows.run.record import Record
from asbuilt.git.workspace.workspaces import put_back
from asbuilt.journal import runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.proof.projects.model import Given, Suite
from asbuilt.proof.projects.recorded import written
from asbuilt.proof.remarks import Remark
from asbuilt.proof.suites.model import Severity
from tests.git.conftest import shop
from tests.git.shop import ADA

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.git.shop import Shop

__all__ = ["shop"]

PLAN = """\
# Shop

## Non-Scope
- `vendor/`

## Phase 1: Greet
### Work Items
- [ ] `greet.py` greets
- [ ] the CI runs it

## Phase 2: Part
**Out of scope:** `greet.py`
### Work Items
- [ ] it parts
"""
TEST = "from greet import greet\n\n\ndef test_greet():\n    assert greet() == 1\n"


@pytest.fixture
def record(shop: Shop, tmp_path: Path) -> Iterator[Record]:
    shop.commit("base", {"plan.md": PLAN, "tests/test_greet.py": TEST, "vendor/a.js": "1"})
    store = SqliteStore(tmp_path / "journal.db")
    store.migrate(STEPS)
    options = {"checkout": str(shop.root), "branch": "main", "slug": "plan", "scope": {"outside": "block"}}
    with store.write() as session:
        address = Address(LOCAL, "6f9c", "plan.md")
        run = runs.request(
            session, address, run="01r", slug="plan", options=read_options(options), actor="you"
        )
    made = Record(run=run, store=store, blobs=Blobs(tmp_path / "blobs"))
    made.append(written(Given((Suite("", "pytest -q"),))), "tests")
    text = made.blobs.put(PLAN.encode())
    made.append(PhaseBegun(phase="1", intent="sha256:1", text=text), "1/begun")
    yield made
    store.close()


def kept(shop: Shop, files: dict[str, str]) -> str:
    """Keep a workspace with these files as the run does: the plan is put back."""
    workspace = shop.workspace()
    for name, text in files.items():
        shop.write(name, text, at=workspace.path)
    found = shop.keep(workspace)
    base = shop.tip()
    return put_back(shop.repository, workspace, "plan.md", kept=found, base=base, author=ADA).commit


def noticed(record: Record, shop: Shop, files: dict[str, str]) -> list[tuple[str, str, str]]:
    seen = inspect(record, shop.repository, "1", kept(shop, files))
    return [(one.rule, one.severity.value, one.cited) for one in seen.remarks]


def test_suite_scope_and_plan_are_looked_at_together(record: Record, shop: Shop) -> None:
    files = {
        "greet.py": "def greet():\n    return 1\n",
        "tests/test_greet.py": TEST.replace(" == 1", ""),
        "vendor/a.js": "2",
        ".gitlab-ci.yml": "test: []",
        "AGENTS.md": "be kind",
        "plan.md": PLAN.replace("greets", "may greet"),
    }
    assert noticed(record, shop, files) == [
        ("plan-changed", "fails", ""),
        ("not-compared", "sign_off", ""),
        ("ci-changed", "allowed", "line 9: - [ ] the CI runs it"),
        ("agent-setting-changed", "sign_off", ""),
        ("out-of-scope", "fails", ""),
    ]


def test_a_change_in_its_place_is_worth_no_word(record: Record, shop: Shop) -> None:
    assert noticed(record, shop, {"greet.py": "def greet():\n    return 1\n"}) == []


def test_marks_that_an_agent_set_are_a_note(record: Record, shop: Shop) -> None:
    files = {"greet.py": "x = 1\n", "plan.md": PLAN.replace("- [ ] `greet", "- [x] `greet")}
    assert noticed(record, shop, files) == [("plan-marked", "note", "")]


def test_what_was_noticed_of_the_same_change_stands_but_for_what_was_only_seen_then(
    record: Record, shop: Shop
) -> None:
    commit = kept(shop, {"AGENTS.md": "be kind"})
    first = inspect(record, shop.repository, "1", commit)
    earlier = Remark("agent-setting-changed", Severity.NOTE, "AGENTS.md", now="as it was kept")
    chance = Remark("flaky-test", Severity.SIGN_OFF, "tests.test_greet::test_greet")
    remarks = record.keep([earlier, chance])
    checked = ChecksDone(phase="1", number=1, outcome="PASS", inspected=first.of, remarks=remarks)
    record.append(checked, "1/1/checks")
    assert inspect(record, shop.repository, "1", commit) == first._replace(remarks=(earlier,))
    assert inspect(record, shop.repository, "1", commit, again=True) == first
    other = kept(shop, {"AGENTS.md": "be kinder"})
    assert inspect(record, shop.repository, "1", other).of != first.of
