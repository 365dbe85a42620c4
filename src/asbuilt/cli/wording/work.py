"""Wordings of what agents do and what asbuilt runs: preparation, attempts, checks, verdicts, phases.

Rule: a line says what an agent claims, or what asbuilt ran. Only asbuilt's own checks make proven.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from asbuilt.cli.ui.words import counted
from asbuilt.events import attempts, phases
from asbuilt.events.authoring import StageJudged, TaskJudged, TaskPosted
from asbuilt.events.event import Event
from asbuilt.proof.judgement import already_failing
from asbuilt.proof.projects.model import suites_of
from asbuilt.proof.projects.recorded import read_back

Words = tuple[str, str, bool]
"""The keyword, the rest of the line, and whether it is news. False: bookkeeping."""
Kind = TypeVar("Kind", bound=Event)
HASH: Final = 7
"""Characters of a commit hash that are shown."""
_SOURCES: Final = {"given": "configured"}


def wording(kind: type[Kind], words: Callable[[Kind], Words]) -> tuple[type[Event], Callable[[Event], Words]]:
    """Pair a kind of event with its wording, so that one table holds kinds with different fields."""

    def checked(event: Event) -> Words:
        if not isinstance(event, kind):
            raise TypeError(f"{type(event).__name__} is not {kind.__name__}")
        return words(event)

    return kind, checked


def outcome_words(word: str, outcome: str, why: str = "") -> Words:
    """Return the words for an outcome."""
    return word, f"{outcome.replace('_', ' ')} {why}", True


def _tests(event: phases.TestsResolved) -> Words:
    several = " + ".join(suite.shown for suite in suites_of(read_back(event)))
    command = event.command or several
    source = "added by this plan" if event.brought else _SOURCES.get(event.source, event.source)
    return (
        "TESTS",
        f"{command} ({source})" if command else "none found; only the plan's checks will run",
        True,
    )


def _baseline(event: phases.BaselineDone) -> Words:
    failing = already_failing(event.ran, event.failed)
    if failing and event.outcome in ("PASS", "FAIL"):
        return "BASELINE", failing, True
    return outcome_words("BASELINE", event.outcome, event.why)


def _attempt_begun(event: attempts.AttemptBegun) -> Words:
    agent = f", {event.agent}" if event.agent else ""
    return event.role.upper(), f"attempt {event.number}{agent}", True


def _attempt_ended(event: attempts.AttemptEnded) -> Words:
    if event.ending == "done" and event.output is not None:
        return "SUBMITTED", "judged next", False
    if event.ending == "done":
        says = event.says.strip()
        return "SAYS DONE", f'agent: "{says}"' if says else "the agent says that it is done", True
    cause = event.cause
    word = event.ending if cause is None or cause in ("usage_limit", "crash") else cause
    refused = "".join(f"; the sandbox refused it {target}" for target in event.refused)
    return word.upper().replace("_", " "), f"{event.reason}{refused}", True


def _verifier_ended(event: attempts.Ended) -> Words:
    return "VERIFIER", ": ".join(filter(None, (event.ending, event.reason))), True


def _checks(event: attempts.ChecksDone) -> Words:
    return _ran(event.outcome, event.failures, again="; run before on this tree" if event.reused else "")


def _ran(outcome: str, failures: tuple[str, ...], *, again: str = "") -> Words:
    return outcome.replace("_", " "), ("; ".join(failures) or "every check that asbuilt ran") + again, True


def _verifier_begun(event: attempts.VerifierBegun) -> Words:
    if event.role == "test":
        return "TEST", f"a tester drives the interface of attempt {event.number}", True
    return "VERIFY", f"another agent judges attempt {event.number}", True


def _verdict(event: attempts.Judged) -> Words:
    who = "tester" if isinstance(event, attempts.VerdictGiven) and event.role == "test" else "verifier"
    said, rejected = ("; ".join(map(str, failures)) for failures in (event.said, event.rejected))
    says = f"{who} says {event.outcome}" + (f": {said}" if said else "")
    rejects = f"asbuilt rejects the {who}'s verdict: {rejected}"
    parts = [says] * bool(said or not rejected) + [rejects] * bool(rejected)
    return "VERDICT", "; ".join(parts), True


def _drift(event: attempts.DriftFound) -> Words:
    asked = (question.partition("\n")[0] for *_, question in event.asks)
    found = (*asked, *event.stops, *event.notes)
    return "DRIFT", "; ".join(found) or "a number of the plan is not what was measured", bool(found)


def _stage_judged(event: StageJudged) -> Words:
    match event.outcome:
        case "accepted":
            return "ACCEPTED", "the submission is valid", True
        case "asks":
            return "ASKS", counted(event.many, "question") + " for you", True
        case "proposed":
            return "PROPOSED", "several plans, to be made into one", True
        case "refused":
            return "REFUSED", event.why, True
        case _:
            return "GAVE UP", event.why, True


def _task_judged(event: TaskJudged) -> Words:
    holds = event.outcome == "finished"
    return "JUDGED", "the submission is valid" if holds else f"{event.outcome}: {event.why}", True


def _joined(event: phases.PhaseJoined) -> Words:
    if event.state == "ready":
        return "READY", f"attempt {event.number} is proven; merged next", False
    return event.state.upper(), event.reason, True


def _merged(event: phases.PhaseMerged) -> Words:
    if event.conflicts:
        return "CONFLICT", f"{', '.join(event.conflicts)}; sent back to the agent", True
    return "MERGED", f"with the phases proven since, as attempt {event.number}", True


def _phase_begun(event: phases.PhaseBegun) -> Words:
    if event.edited:
        return "EDITED", "its text was changed in the plan; the new text is built", True
    return "BEGIN", f"intent {str(event.intent)[:15]}", False


def _proven(event: phases.PhaseProven) -> str:
    asks = f"{counted(event.sign_offs, 'change')} to sign off" if event.sign_offs else ""
    return ", ".join(filter(None, (event.commit[:HASH], asks)))


def _marked(event: phases.PhaseMarked) -> Words:
    return "MARKED", f"{event.status} by hand" + (f", item {event.item}" if event.item else ""), True


WORK: Final = (
    wording(phases.TestsResolved, _tests),
    wording(phases.WorkspaceMade, lambda _: ("WORKSPACE", "made", False)),
    wording(phases.SetupDone, lambda event: outcome_words("SETUP", event.outcome, event.why)),
    wording(phases.BaselineDone, _baseline),
    wording(phases.PhaseBegun, _phase_begun),
    wording(attempts.AttemptBegun, _attempt_begun),
    wording(attempts.AttemptEnded, _attempt_ended),
    wording(StageJudged, _stage_judged),
    wording(TaskJudged, _task_judged),
    wording(TaskPosted, lambda event: ("POSTED", f"task {event.task} is {event.status}", True)),
    wording(attempts.AttemptLost, lambda event: ("LOST", event.reason, True)),
    wording(attempts.TreeRefused, lambda event: ("TOO LARGE", event.reason, True)),
    wording(attempts.TreeKept, lambda event: ("KEPT", f"tree {event.tree[:HASH]}", False)),
    wording(
        attempts.AttemptLetGo,
        lambda event: ("DELETED", f"attempt {event.number}, {event.commit[:HASH]}", True),
    ),
    wording(attempts.ChecksDone, _checks),
    wording(attempts.VerifierBegun, _verifier_begun),
    wording(attempts.VerifierEnded, _verifier_ended),
    wording(attempts.DriftFound, _drift),
    wording(attempts.VerdictGiven, _verdict),
    wording(phases.PhaseRechecked, lambda event: _ran(event.outcome, event.failures)),
    wording(phases.PhaseForked, lambda event: ("LANE", f"opened on {event.base[:HASH]}", False)),
    wording(phases.PhaseJoined, _joined),
    wording(phases.PhaseMerged, _merged),
    wording(phases.PhaseDelegated, lambda event: ("DELEGATE", f"to {event.plan}", True)),
    wording(phases.PhaseReturned, lambda event: ("RETURNED", f"{event.state} {event.reason}".rstrip(), True)),
    wording(phases.PhaseProven, lambda event: ("PROVEN", _proven(event), True)),
    wording(attempts.TogetherDone, lambda event: outcome_words("TOGETHER", event.outcome)),
    wording(attempts.TogetherJudging, lambda _: ("VERIFY", "another agent judges all phases together", True)),
    wording(attempts.TogetherUnjudged, _verifier_ended),
    wording(attempts.TogetherJudged, _verdict),
    wording(phases.PhaseMarked, _marked),
    wording(phases.PicturesTaken, lambda event: ("PICTURES", f"{event.outcome} {event.why}", False)),
    wording(phases.SignOffWanted, lambda event: ("SIGN-OFF", event.question, False)),
)
