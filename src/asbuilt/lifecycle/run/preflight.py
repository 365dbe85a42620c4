"""Preflight before work starts: the sandbox, the tests, setup and baseline. Pure.

Rule: a missing setting is asked for; an unattended run stops and names the setting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.events.questions import BaselineKey, SandboxKey
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.facts import PASS, RunFacts
from asbuilt.lifecycle.run.questions import asked
from asbuilt.proof.evidence import in_quotes
from asbuilt.proof.projects.model import Detected, NeedsDocker, NoTests, Resolved
from asbuilt.proof.projects.recorded import proposal

if TYPE_CHECKING:
    from asbuilt.lifecycle.run.proving import ProvingFacts

_NONE: Final = "asbuilt config set checks.tests none"
_OWN: Final = 'asbuilt config set checks.tests "<command>"'


SETTLE: Final = "asbuilt doctor --tests --save"
"""The command that chooses a test command and saves it, in one step."""


def prepare(facts: ProvingFacts) -> moves.Move | None:
    """Choose the next move of the preparation; None once work can be proven."""
    unheld = held(facts)
    if unheld is not None:
        return unheld
    if facts.tests is None:
        return moves.ResolveTests()
    unsettled = _agreement(facts, facts.tests)
    if unsettled is not None:
        return unsettled
    if facts.builds and not facts.workspace:
        return moves.MakeWorkspace()
    if facts.setup is None:
        return moves.SetUp()
    if facts.setup != PASS:
        return moves.End("failed", f"the setup failed, so nothing could be proven: {facts.setup_reason}")
    if facts.baseline is None:
        return moves.Baseline()
    if facts.baseline == "NOT_RUN":
        return _unusable(facts, "no test ran on the base, so no test can prove anything.")
    shows_nothing = facts.builds and facts.baseline_is_red
    return None if facts.baseline in (PASS, "FAIL") and not shows_nothing else _unproving(facts)


def _unusable(facts: ProvingFacts, why: str) -> moves.End:
    alone = f"prove with the plan's own checks alone: `{_NONE}`"
    return moves.End("failed", why, _OWN, alone if facts.checked else "")


def _unproving(facts: ProvingFacts) -> moves.Move | None:
    """Stop if the base's tests prove nothing; if they did run, the user may continue."""
    shown, is_red = facts.baseline_shown, facts.baseline_is_red
    if not (facts.baseline_asks or is_red):
        why = "so new failures cannot be distinguished from old ones"
        return _unusable(facts, f"the tests could not be run on the base, {why}: {shown}.")
    why = f"the tests fail on {facts.branch}" if is_red else "the tests of the base prove nothing"
    if facts.auto and is_red:
        again = f"`asbuilt run {facts.slug}` `# after you repair the tests on {facts.branch}`"
        asking = f"with these tests, asking you first: `asbuilt run {facts.slug} --finish`"
        return moves.End("failed", f"{why}: {shown}.", again, asking)
    if facts.auto:
        return _unusable(facts, f"{why}: {shown}.")
    key = BaselineKey(run=facts.run, revision=facts.revision)
    words = f"although the tests fail on {facts.branch}" if is_red else "with tests that prove nothing"
    return asked(facts, key, "continue", f"continue {words}? {shown}", no=f"{why}: {shown}")


def held(facts: RunFacts) -> moves.Move | None:
    """Ask the user to agree, once per repository, to work without a sandbox."""
    if facts.sandbox_level != "none" or not facts.sandbox_required or facts.unsandboxed_agreed:
        return None
    if facts.auto:
        return moves.End(
            "failed",
            "Sandbox unavailable on this machine.",
            "asbuilt doctor",
            "work without a sandbox: `asbuilt config set sandbox.required false`",
        )
    question = "work without a sandbox? Agents and checks could write to any file that you can write to"
    return asked(
        facts, SandboxKey(run=facts.run), "ring", question, no="you said no to work without a sandbox"
    )


def _agreement(facts: ProvingFacts, tests: Resolved) -> moves.Move | None:
    """Ask the user to agree to tests that no setting names; an unattended run stops and names the setting."""
    if isinstance(tests, NoTests) and facts.builds and facts.auto and not (tests.is_stated or facts.checked):
        return moves.End("failed", "no tests were found, and not every phase has checks of its own.", _NONE)
    key = proposal(tests)
    if key is None or facts.tests_agreed:
        return None
    found = ", ".join(getattr(tests, "found", ()))
    if isinstance(tests, NeedsDocker):
        why = f"the tests start containers (see {found}), and the sandbox has no Docker"
        way = "checks.services starts Postgres, Redis or a program of your own beside each check"
        return moves.End(
            "failed", f"{why}; {way}.", 'asbuilt config set checks.tests "<command without Docker>"'
        )
    if facts.auto:
        if isinstance(tests, Detected):
            if _brings_first_tests(facts):
                return None
            return moves.End("failed", f"no test command is set; found {_commands(tests)} ({found}).", SETTLE)
        return moves.End("failed", f"no test command is set, and there is {found}.", _OWN)
    if not isinstance(tests, Detected):
        question = f"continue without tests? There is {found}, and no command that runs it is known"
    elif facts.baseline not in (PASS, "FAIL"):
        # The baseline runs first, so that the question shows its result; if it proves nothing, the run ends.
        return None
    else:
        outcome, use = ("passed", "to prove phases") if facts.baseline == PASS else ("failed", "anyway")
        shown = f"{outcome} on {facts.branch}: {facts.baseline_shown}"
        question = f"{_commands(tests)} {shown}. Use it {use}?"
    return asked(facts, key.of(facts.run), "tests", question, no="you said no to the tests")


def _brings_first_tests(facts: ProvingFacts) -> bool:
    """Return whether the found command has no test to run yet, and every phase has checks of its own.

    Whether it really runs none is known once it has run on the base.
    """
    is_empty = facts.baseline is None or (facts.baseline == PASS and facts.baseline_ran == 0)
    return facts.checked and not facts.has_test_files and is_empty


def _commands(tests: Detected) -> str:
    commands = ", ".join(f"`{suite.command}`{suite.shown[len(suite.command) :]}" for suite in tests.suites)
    return f"{commands}, without {', '.join(tests.unknown)}" if tests.unknown else commands


def set_tests(command: str) -> str:
    """Return the command that sets a test command."""
    return f"asbuilt config set checks.tests {in_quotes(command)}"
