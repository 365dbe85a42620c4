"""Facts of a run that proves something: its tests, setup and baseline, folded from its events."""

from __future__ import annotations

from typing import ClassVar

from asbuilt.events.event import Entry, Outcome
from asbuilt.events.options import RunOptions
from asbuilt.events.phases import BaselineDone, SetupDone, TestsResolved, WorkspaceMade
from asbuilt.events.runs import RunStarted, SettingsChanged
from asbuilt.lifecycle.run.facts import PASS, RunFacts
from asbuilt.proof.judgement import already_failing, is_red
from asbuilt.proof.projects.model import Resolved
from asbuilt.proof.projects.recorded import read_back


class ProvingFacts(RunFacts):
    """A run that runs tests and checks."""

    builds: ClassVar[bool] = False
    """Agents change files: it needs a workspace, and tests that can prove their work."""
    wanted: str | None = None
    """The phase that the user named; None: any."""
    revision: int = 0
    """Revision of its settings."""
    checked: bool = True
    """Every open phase of its plan has its own checks."""
    tests: Resolved | None = None
    tests_agreed: bool = False
    """The user agreed to this proposal before, in any run, or the plan's own work brought the tests."""
    has_test_files: bool = True
    """The base has test files."""
    workspace: bool = False
    setup: Outcome | None = None
    setup_reason: str = ""
    baseline: Outcome | None = None
    baseline_shown: str = ""
    baseline_asks: bool = False
    baseline_ran: int | None = None
    """Number of tests that ran on the base; None if they were not counted."""
    baseline_is_red: bool = False
    """Every test fails on the base."""

    def take(self, options: RunOptions) -> None:
        """Copy the options that decisions depend on."""
        super().take(options)
        self.wanted = options.phase

    def fold(self, entry: Entry) -> None:
        """Fold an event about what the run proves with."""
        event = entry.event
        match event:
            case RunStarted():
                self.checked = event.checked
            case SettingsChanged():
                _record_setting(self, event)
            case TestsResolved() | SetupDone() | BaselineDone():
                _record_preparation(self, event)
            case WorkspaceMade():
                self.workspace = True


def _record_setting(facts: ProvingFacts, event: SettingsChanged) -> None:
    """Clear results that depend on a changed setting, so that they are computed again."""
    facts.revision = event.revision
    if event.key in ("checks.tests", "checks.suites", "checks.counts"):
        # Other tests may need another setup; an unchanged setup keeps its cached results.
        facts.tests, facts.tests_agreed, facts.setup, facts.baseline = None, False, None, None
    elif event.key in ("checks.setup", "setup.env", "setup.credentials"):
        facts.setup = facts.baseline = None
    elif event.key in ("checks.services", "checks.env"):
        facts.baseline = None


def _record_preparation(facts: ProvingFacts, event: TestsResolved | SetupDone | BaselineDone) -> None:
    if event.revision < facts.revision:
        return  # Started under older settings; it runs again.
    match event:
        case TestsResolved():
            facts.tests, facts.tests_agreed = read_back(event), event.brought or event.agreed is not None
            facts.has_test_files = event.has_files
        case SetupDone():
            facts.setup, facts.setup_reason = event.outcome, f"`{event.command}`: {event.why}"
        case BaselineDone():
            facts.baseline, facts.baseline_ran = event.outcome, event.ran
            facts.baseline_shown, facts.baseline_asks = event.why, event.asks
            facts.baseline_is_red = is_red(event.ran, event.failed)
            if event.outcome in (PASS, "FAIL") and event.ran:
                failing = already_failing(event.ran, event.failed)
                facts.baseline_shown = failing or f"{event.ran} ran, {event.failed} failed"
