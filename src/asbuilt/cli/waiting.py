"""For whom a plan waits, since when, until when, and what happens if nobody acts: these words, once.

The one rule: every door says it with these words, from what the journal and the agent's own folder tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from asbuilt.cli.clock import ago, at, lasting, parsed, stamp, until
from asbuilt.lifecycle.health import OVERALL_S, STALL_S
from asbuilt.lifecycle.phases import REPEAT_LIMIT

if TYPE_CHECKING:
    from datetime import datetime

    from asbuilt.journal.claims import Claim
    from asbuilt.journal.views import PlanView, RunView

Kind = Literal["agent", "verifier", "asbuilt", "person", "limit", "time", "worker", "claim", "nobody"]

_AT_WORK: Final = {
    "Start": "looks at the repository",
    "ResolveTests": "finds out how the project is tested",
    "MakeWorkspace": "makes a workspace",
    "SetUp": "prepares a checkout",
    "Baseline": "runs the tests on the base",
    "Compare": "compares the plan with what is proven",
    "Recheck": "proves again what is done",
    "Keep": "keeps the tree of",
    "Check": "runs the checks of",
    "Commit": "commits",
    "ProveTogether": "proves all phases together",
    "Report": "writes the report",
    "Land": "lands what is proven",
    "Mark": "writes outcomes into the plan",
    "Tidy": "tidies up",
}
_OF_A_PHASE: Final = ("Keep", "Check", "Commit")


class Glance(Protocol):
    """When somebody looks, who is there to go on, and what is heard of agents."""

    @property
    def now(self) -> datetime:
        """The time of the look."""

    @property
    def worker(self) -> int | None:
        """The process that does the work; None when none lives."""

    def heard_at(self, attempt: str | None) -> str | None:
        """Tell when the agent of an attempt last gave a sign."""


class Waiting(NamedTuple):
    """What a plan waits for, in words and for scripts."""

    kind: Kind
    who: str
    """In a word: the agent, `you`, `asbuilt`."""
    brief: str
    """For a column: `claude, 6s ago`."""
    sentence: str
    """For whom, since when, until when, and what happens if nobody acts."""
    command: str | None = None
    """What goes on, when somebody has to act."""
    then: str = ""
    """What happens if nobody acts, where a sentence of its own says it."""
    since: str | None = None
    until: str | None = None
    heard_at: str | None = None

    def as_json(self, moment: Glance) -> dict[str, Any]:
        """Give it to a script."""
        return {
            "kind": self.kind,
            "who": self.who,
            "since": stamp(self.since) if self.since else None,
            "until": stamp(self.until) if self.until else None,
            "last_activity_s": _seconds_since(self.heard_at, moment),
            "says": self.sentence,
            "next": self.command,
        }


def waiting(view: PlanView, moment: Glance) -> Waiting:
    """Say what a plan waits for."""
    run = view.run
    claim = view.claim
    if claim is not None and (run is None or run.run.is_over or claim.run != run.run.run):
        return _claim(view.slug, claim, moment)
    if run is None:
        return Waiting("nobody", "", "", "It has not been run.", f"asbuilt run {view.slug}")
    return run_waiting(run, moment)


def run_waiting(run: RunView, moment: Glance) -> Waiting:
    """Say what one run waits for. First match wins."""
    if run.run.is_over:
        return _over(run, moment)
    if run.is_paused:
        return _paused(run, moment)
    if run.questions:
        return for_person(run, moment.now)
    if is_cut_off(run, moment):
        return _worker(run, moment)
    match run.waits_for.kind:
        case "agent" | "verifier":
            return _agent(run, moment)
        case "limit" | "time":
            return _parked(run, moment)
        case "resume":
            sentence = f"Pauses at the next safe point: {run.waits_for.why}."
            return Waiting("asbuilt", "asbuilt", "asbuilt", sentence)
        case _:
            return _asbuilt(run)


def is_cut_off(run: RunView, moment: Glance) -> bool:
    """Tell whether a run should be going on and nobody is there to do it."""
    due = run.waits_for.until
    is_due = due is None or parsed(due) <= moment.now
    return not run.run.is_over and not run.questions and moment.worker is None and is_due


def for_person(run: RunView, now: datetime) -> Waiting:
    """Say which question of a run waits for an answer."""
    asked = run.questions[0]
    age = ago(asked.asked_at, now)
    return Waiting(
        "person",
        "you",
        f"you ({asked.name}), {age}",
        f'Waits for you: {asked.name} "{asked.question}", asked {age} ago by {run.name}. Nothing happens'
        " until someone answers; no agent runs.",
        f"asbuilt approve yes {asked.name}",
        since=asked.asked_at,
    )


def _paused(run: RunView, moment: Glance) -> Waiting:
    waits = run.waits_for
    age = ago(waits.since or run.run.at, moment.now)
    return Waiting(
        "person",
        "you",
        f"you, {age}",
        f"Paused {age} ago: {waits.why}. Claim and workspace are kept; nothing happens until you resume it.",
        f"asbuilt resume {run.run.options['slug']}",
        since=waits.since or None,
    )


def _agent(run: RunView, moment: Glance) -> Waiting:
    waits, now = run.waits_for, moment.now
    agent = str(run.run.options.get("agent") or "the agent")
    number = waits.attempt or 1
    heard = moment.heard_at(run.attempt) or waits.since or None
    work = "verifying" if waits.kind == "verifier" else f"at work on attempt {number} of"
    since = f" since {at(waits.since, now)}" if waits.since else ""
    heard_of = f", last heard {ago(heard, now)} ago" if heard else ""
    is_last = waits.retries >= REPEAT_LIMIT
    then = "the run fails" if is_last else f"attempt {number + 1} starts"
    if waits.kind == "verifier":
        then = "another one judges"
    then = (
        f"Silent {lasting(STALL_S)}, or {lasting(OVERALL_S)} in all: ended, its tree kept;"
        f" then {waits.why or then}."
    )
    return Waiting(
        "verifier" if waits.kind == "verifier" else "agent",
        agent,
        f"{agent}, {ago(heard, now)} ago" if heard else agent,
        f"Waits for {agent}, {work} phase {waits.phase}{since}{heard_of}. {then}",
        then=then,
        since=waits.since or None,
        heard_at=heard,
    )


def _parked(run: RunView, moment: Glance) -> Waiting:
    waits, now = run.waits_for, moment.now
    since = f" since {at(waits.since, now)}" if waits.since else ""
    due = f"It goes on by itself {until(waits.until, now)}" if waits.until else "Nobody knows when it opens"
    alone = "" if moment.worker is not None else " No worker lives; then one has to be there."
    return Waiting(
        "limit" if waits.kind == "limit" else "time",
        "the clock",
        _clock(waits.until, moment) if waits.until else waits.why,
        f"Parked{since}: {waits.why}. {due}; its tree is kept.{alone}",
        since=waits.since or None,
        until=waits.until,
    )


def _worker(run: RunView, moment: Glance) -> Waiting:
    waits = run.waits_for
    heard = moment.heard_at(run.attempt) or waits.since or run.run.at
    where = f" in phase {waits.phase}" if waits.phase else ""
    return Waiting(
        "worker",
        "a worker",
        f"a worker, {ago(heard, moment.now)}",
        f"Cut off{where}, last heard {at(heard, moment.now)}: no worker lives. Nothing is lost; it goes on"
        " when one is there.",
        f"asbuilt resume {run.run.options['slug']}",
        since=heard,
        heard_at=heard,
    )


def _asbuilt(run: RunView) -> Waiting:
    waits = run.waits_for
    work = _AT_WORK.get(waits.why, "is at work")
    if waits.why in _OF_A_PHASE:
        work += f" phase {waits.phase}"
    return Waiting("asbuilt", "asbuilt", "asbuilt", f"asbuilt {work}; nobody has to act.")


def _claim(slug: str, claim: Claim, moment: Glance) -> Waiting:
    return Waiting(
        "claim",
        claim.run,
        f"{claim.run}'s claim",
        f"Held by {claim.run} since {at(claim.since, moment.now)}. It stays so until it is released; every"
        " run of it is declined.",
        f"asbuilt claim release {slug} --owner {claim.run}",
        since=claim.since,
    )


def _over(run: RunView, moment: Glance) -> Waiting:
    slug, branch = run.run.options["slug"], run.run.options.get("branch", "")
    ended = at(run.run.ended_at or run.run.at, moment.now)
    why = run.waits_for.why
    said = {
        "landed": f"Landed on {branch} {ended}.",
        "held": f"Proven {ended}, not landed: it waits for you. Nothing lands until you say so.",
        "undone": f"Taken back from {branch} {ended}; its phases are open again.",
        "stopped": f"Stopped {ended}: {why}. Everything is kept.",
        "failed": f"Failed {ended}: {why}",
    }.get(run.run.state, f"Ended {ended}: {why or run.run.state}.")
    command = {
        "held": f"asbuilt land {slug}",
        "undone": f"asbuilt run {slug}",
        "stopped": f"asbuilt resume {slug}",
        "failed": f"asbuilt resume {slug}",
    }.get(run.run.state)
    is_held = run.run.state == "held"
    brief = f"asbuilt why {slug}" if run.run.state == "failed" else f"you, {_age(run, moment)}" * is_held
    return Waiting(
        "person" if is_held else "nobody", "you" * is_held, brief, said, command, since=run.run.ended_at
    )


def _age(run: RunView, moment: Glance) -> str:
    return ago(run.run.ended_at or run.run.at, moment.now)


def _clock(text: str, moment: Glance) -> str:
    return until(text, moment.now).partition(", ")[0]


def _seconds_since(text: str | None, moment: Glance) -> int | None:
    return None if text is None else max(0, round((moment.now - parsed(text)).total_seconds()))
