"""The last line of `doctor` says of a problem what `run` does about it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from asbuilt._version import VERSION
from asbuilt.agents.sandbox.unavailable import why_landlock
from asbuilt.cli.commands.doctor.facts import ErrorFacts, ForgeFacts, GateFacts
from asbuilt.cli.commands.doctor.rows import conclusion, judge
from tests.cli.machines import READY

_NO_GH = ErrorFacts(what="gh is not signed in", why="w", next_step="n")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"git": replace(READY.git, operations=("merge",))}, "Fix it before you run a plan."),
        ({"git": replace(READY.git, branch=None)}, "Fix it before you run a plan."),
        ({"git": replace(READY.git, has_commits=False)}, "Fix it before you run a plan."),
        (
            {"sandbox": replace(READY.sandbox, level="none", refusals=(why_landlock(""),))},
            "A run asks you first; --auto stops.",
        ),
        (
            {"gate": GateFacts(installed=True, enabled=True, version=VERSION, output="exit 0")},
            "Runs start.",
        ),
        ({"store": replace(READY.store, free_bytes=1_000_000)}, "Runs start."),
        ({"forge": ForgeFacts(host="github.com", error=_NO_GH, wanted=True)}, "Runs start."),
    ],
    ids=["in a merge", "no branch", "no commit", "no sandbox", "dead gate", "full disk", "no forge"],
)
def test_the_conclusion_says_of_a_problem_what_a_run_does_about_it(
    changed: dict[str, Any], told: str
) -> None:
    facts = replace(READY, **changed)
    assert conclusion(judge(facts), facts) == f"1 problem. {told}"
