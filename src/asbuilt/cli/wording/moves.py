"""Words for what asbuilt itself does, by its next move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from asbuilt.lifecycle.status.run_state import WaitsFor

AT_WORK: Final = {
    "Start": "waits for a free place in the worker",
    "ResolveTests": "looks for the tests",
    "MakeWorkspace": "creates a workspace",
    "SetUp": "runs the setup",
    "Baseline": "runs the tests on the base",
    "Begin": "starts the phase",
    "Keep": "saves the agent's files",
    "Check": "runs the checks on a clean checkout",
    "Fork": "starts phases side by side",
    "Join": "ends a phase that ran beside others",
    "MergePhase": "merges a phase with those proven since",
    "Commit": "commits what is proven",
    "ProveTogether": "proves all phases together",
    "Report": "writes the report",
    "Land": "lands what is proven",
    "Mark": "writes outcomes into the plan",
    "Tidy": "cleans up",
    "Compare": "compares the plan with what is proven",
    "Recheck": "runs the checks of finished phases again",
    "Judge": "validates the draft",
    "Draft": "runs the draft's checks and saves it",
    "File": "writes the plan's file",
    "Post": "writes the result into the task ledger",
    "Look": "polls the pull request",
    "Push": "builds, proves and pushes what is proven",
    "Propose": "opens the pull request",
    "Mend": "applies the fix to the pull request",
    "Merge": "merges the pull request",
    "CloseIssues": "closes the issues that the plan names",
    "Delegate": "starts the run of another plan for a phase",
    "ProveDelegated": "proves on the branch what another plan did",
    "CheckInvariants": "checks that nothing is left behind",
    "Ask": "asks you",
}


def at_work(waits: WaitsFor) -> str:
    """Return what asbuilt does, as a verb and its object."""
    if waits.setup:
        return f"sets up a clean checkout ({waits.setup}), then runs the draft's checks"
    return AT_WORK.get(waits.why, "is working")
