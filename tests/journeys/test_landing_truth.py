"""A landing and an undo report what the branch has, where it has it, and a command that leads on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journeys.shop import PLAN
from tests.journeys.test_commands import office
from tests.journeys.test_landing_again import HELLO, commit, log
from tests.journeys.test_next_steps import Walk, code_of, nexts

if TYPE_CHECKING:
    from tests.journeys.test_commands import Office

__all__ = ["office"]
pytestmark = pytest.mark.crash
_ONE = PLAN.partition("## Phase 2a")[0]


@pytest.fixture
def one(office: Office) -> Office:
    """Give the plan one phase."""
    (office.shop / "plans" / "greet.md").write_text(_ONE, encoding="utf-8")
    commit(office, "one phase")
    return office


def test_an_undo_reverts_on_the_branch_where_the_work_landed_not_where_the_last_run_did(
    office: Office,
) -> None:
    office.git("branch", "other")
    assert "landed on main" in office.run("--auto")
    office.git("switch", "-q", "other")
    assert "landed on other" in office.run("--auto")
    assert "greet.3: reverted on other; the plan is open again" in office.asbuilt("land", "greet", "--undo")
    assert log(office)[0] == "Mark plans/greet.md"
    assert "greet.4: reverted on main; the plan is open again" in office.asbuilt("land", "greet", "--undo")
    assert log(office)[:2] == ["Reopen plans/greet.md", 'Revert "Greet"']
    assert "all work of greet is reverted already" in office.asbuilt("land", "greet", "--undo")
