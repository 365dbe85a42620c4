"""Who may turn plan mode on."""

from __future__ import annotations

import pytest

from asbuilt.policy.plan_mode.entering import decision_for


@pytest.mark.parametrize(
    ("is_subagent", "is_on", "decision"),
    [(True, False, "deny"), (True, True, "deny"), (False, False, "ask"), (False, True, None)],
)
def test_an_agent_has_to_ask_and_a_subagent_is_refused(
    *, is_subagent: bool, is_on: bool, decision: str | None
) -> None:
    decided = decision_for(is_subagent=is_subagent, is_on=is_on)
    assert (decided and decided[0]) == decision
