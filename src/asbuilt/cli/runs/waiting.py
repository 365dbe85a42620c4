"""What a plan waits for, since when, until when, and what happens if nothing is done.

Rule: every command takes these sentences from here. They use only the journal and the attempt's folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from asbuilt.cli.ui import timetable
from asbuilt.cli.ui.clock import ago, at, lasting, parsed, stamp, until
from asbuilt.lifecycle.authoring.facts import role_of
from asbuilt.lifecycle.plan_run.decide import REPEAT_LIMIT
from asbuilt.lifecycle.run.team import agent_of
from asbuilt.lifecycle.status.health import OVERALL_S, STALL_S

if TYPE_CHECKING:
    from datetime import datetime

    from asbuilt.cli.shell.reading import Moment, Seen
    from asbuilt.journal.approvals import Approval
    from asbuilt.journal.claims import Claim
    from asbuilt.journal.queries.overview import PlanView, RunView
    from asbuilt.journal.reviews import Review
    from asbuilt.journal.schedules import Schedule

Kind = Literal[
    "agent", "verifier", "asbuilt", "person", "limit", "time", "schedule", "disk", "worker", "claim", "nobody"
]  # fmt: skip

AT_WORK: Final = {
    "Start": "looks at the repository",
    "ResolveTests": "finds out how the project is tested",
    "MakeWorkspace": "makes a workspace",
    "SetUp": "prepares a checkout",
    "Baseline": "runs the tests on the base",
    "Keep": "keeps the tree of",
    "Check": "runs the checks of",
    "Commit": "commits",
    "ProveTogether": "proves all phases together",
    "Report": "writes the report",
    "Land": "lands what is proven",
    "Mark": "writes outcomes into the plan",
    "Tidy": "tidies up",
    "Compare": "compares the plan with what was proven",
    "Recheck": "proves again what is done",
    "Judge": "judges what was handed in",
    "Draft": "writes the draft down",
    "File": "writes the plan's file",
    "Post": "writes into the ledger what has come of the task",
    "Look": "asks the forge how the pull request stands",
    "Push": "builds, proves and pushes what is proven",
    "Propose": "opens the pull request",
    "Mend": "takes over what was mended",
    "Merge": "merges the pull request",
    "CloseIssues": "tells the issues that the plan names",
    "CheckInvariants": "sees that nothing is left behind",
}
"""What asbuilt does, by its next move. For moves in `_OF_A_PHASE` the phase is appended."""
_OF_A_PHASE: Final = ("Keep", "Check", "Commit")


class Waiting(NamedTuple):
    """What a plan waits for, in words and as data."""

    kind: Kind
    who: str
    """One word: the agent, `you`, `asbuilt`."""
    brief: str
    """Short form for a column: `claude, 6s ago`."""
    sentence: str
    """What it waits for, since when, until when, and what happens if nothing is done."""
    command: str | None = None
    """The command that continues the work, if the user has to act."""
    since: str | None = None
    until: str | None = None
    heard_at: str | None = None

    def as_json(self, now: datetime) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "kind": self.kind,
            "who": self.who,
            "since": stamp(self.since) if self.since else None,
            "until": stamp(self.until) if self.until else None,
            "last_activity_s": _seconds_since(self.heard_at, now),
            "says": self.sentence,
            "next": self.command,
        }


def waiting(view: PlanView, moment: Moment) -> Waiting:
    """Return what a plan waits for."""
    run = view.run
    seen = moment.seen(run)
    claim = view.claim
    if claim is not None and (run is None or run.run.is_over or claim.run != run.run.run):
        return _claim(view.slug, claim, seen)
    if view.schedule is not None and (run is None or run.run.state in ("landed", "done")):
        return _scheduled(view.schedule, seen)
    if run is None:
        return Waiting("nobody", "", "", "It has not been run.", f"asbuilt run {view.slug}")
    return run_waiting(run, seen)


def _scheduled(one: Schedule, seen: Seen) -> Waiting:
    alone = "" if seen.is_served else " No worker lives; then one has to be there."
    return Waiting(
        "schedule",
        "the clock",
        _clock(one.due_at, seen),
        f"Its next phase is run by itself: {timetable.sentence(one, seen.now)}.{alone}",
        None if seen.is_served else "asbuilt worker",
        until=one.due_at,
    )


def run_waiting(run: RunView, seen: Seen) -> Waiting:
    """Return what a run waits for. First match wins."""
    if run.run.is_over:
        return _over(run, seen)
    if run.is_paused:
        return _paused(run, seen)
    if run.questions:
        return for_person(run, seen.now)
    if run.waits_for_conversation:
        return in_conversation(run)
    if seen.is_full:
        return _disk(run, seen)
    if is_cut_off(run, seen):
        return _worker(run, seen)
    match run.waits_for.kind:
        case "agent" | "verifier":
            return _agent(run, seen)
        case "limit" | "time":
            return _parked(run, seen)
        case "resume":
            why = run.waits_for.why
            return Waiting("asbuilt", "asbuilt", "asbuilt", f"Pauses at its next safe point: {why}.")
        case _:
            return _asbuilt(run)


def is_cut_off(run: RunView, seen: Seen) -> bool:
    """Return whether a run should continue, but no worker is alive."""
    due = run.waits_for.until
    is_due = due is None or parsed(due) <= seen.now
    waits = run.run.is_over or run.is_paused or bool(run.questions)
    return not waits and not seen.is_served and is_due


def answering(asked: Approval, name: str) -> str:
    """Return the command for a question. Plans and open questions are shown first; others are answered."""
    return f"asbuilt approve {'show' if asked.kind in ('plan', 'question') else 'yes'} {name}"


def for_person(run: RunView, now: datetime) -> Waiting:
    """Return the wait for the run's first question."""
    asked = run.questions[0]
    age = ago(asked.asked_at, now)
    whom = "your sign-off" if asked.kind == "sign-off" else "you"
    reviewed = under_review(run.review, asked, now)
    return Waiting(
        "person",
        "you",
        f"{whom} ({asked.name}), {age}",
        f'Waits for {whom}: {asked.name} "{asked.gist}", asked {age} ago by {run.name}. Nothing happens'
        f" until someone answers; no agent runs.{reviewed and ' '}{reviewed}",
        answering(asked, asked.name),
        since=asked.asked_at,
    )


def under_review(review: Review | None, asked: Approval, now: datetime) -> str:
    """Return the state of a question's review, and when the worker last polled it; empty without a review."""
    if review is None or review.question != asked.number:
        return ""
    looked = f"looked at {ago(review.looked_at, now)} ago" if review.looked_at else "not looked at yet"
    failed = review.failed
    trouble = (
        f" The last look failed: {failed.what.removesuffix('.')}. {failed.next}" if failed is not None else ""
    )
    return f"Reviewers have it: {review.url}, {looked}.{trouble}".rstrip()


def in_conversation(run: RunView) -> Waiting:
    """Return the wait for the user's conversation with an agent."""
    waits = run.waits_for
    return Waiting(
        "person",
        "you",
        "a conversation",
        f"Waits for {waits.why}, at the stage {waits.phase}. In Claude Code, /asbuilt:author next goes on.",
        since=waits.since or None,
    )


def _paused(run: RunView, seen: Seen) -> Waiting:
    waits = run.waits_for
    age = ago(waits.since, seen.now) if waits.since else "just now"
    return Waiting(
        "person",
        "you",
        f"you, {age}",
        f"Paused {age} ago: {waits.why}. Claim and workspace are kept; nothing happens until you resume it.",
        f"asbuilt resume {run.run.options.slug}",
        since=waits.since or None,
    )


def _agent(run: RunView, seen: Seen) -> Waiting:
    waits, now = run.waits_for, seen.now
    is_planned = run.run.options.plans
    role = "verify" if waits.kind == "verifier" else "fix" if _is_fixed(run) else "implement"
    role = role_of(waits.phase or "") if is_planned else role
    agent = agent_of(run.run.options, role) or "the agent"
    heard = seen.heard_at or waits.since or None
    work = "verifying" if waits.kind == "verifier" else f"at work on attempt {waits.attempt or 1} of"
    where = f"the stage {waits.phase}" if is_planned else waits.where
    since = f" since {at(waits.since, now)}" if waits.since else ""
    heard_of = f", last heard {ago(seen.heard_at, now)} ago" if seen.heard_at else ""
    pause = f"; {waits.why}" if waits.why else ""
    is_last = waits.kind == "agent" and waits.retries >= REPEAT_LIMIT
    then = "the run fails" if is_last else "tried again"
    return Waiting(
        "verifier" if waits.kind == "verifier" else "agent",
        agent,
        f"{agent}, {ago(heard, now)} ago" if heard else agent,
        f"Waits for {agent}, {work} {where}{since}{heard_of}{pause}. Silent {lasting(STALL_S)},"
        f" or {lasting(OVERALL_S)} in all: ended, its tree kept, {then}.",
        since=waits.since or None,
        heard_at=heard,
    )


def _is_fixed(run: RunView) -> bool:
    return any(phase.id == run.waits_for.phase and phase.state == "fixing" for phase in run.phases)


def _parked(run: RunView, seen: Seen) -> Waiting:
    waits, now = run.waits_for, seen.now
    since = f" since {at(waits.since, now)}" if waits.since else ""
    due = f"It goes on by itself {until(waits.until, now)}" if waits.until else "Nobody knows when it opens"
    alone = "" if seen.is_served else " No worker lives; then one has to be there."
    return Waiting(
        "limit" if waits.kind == "limit" else "time",
        "the clock",
        _clock(waits.until, seen) if waits.until else waits.why,
        f"Parked{since}: {waits.why.rstrip('.')}. {due}; its tree is kept.{alone}",
        since=waits.since or None,
        until=waits.until,
    )


def _disk(run: RunView, seen: Seen) -> Waiting:
    """Return the wait for disk space. A full disk cannot be recorded as an event."""
    slug = run.run.options.slug
    goes_on = "It goes on by itself then" if seen.is_served else f"Then `asbuilt resume {slug}` goes on"
    return Waiting(
        "disk",
        "room",
        "room on the disk",
        "Trouble: the disk of the state folder is full, and nothing happens that cannot be written down."
        f" Make room there. {goes_on}; nothing is lost.",
        None if seen.is_served else f"asbuilt resume {slug}",
        since=run.waits_for.since or None,
    )


def _worker(run: RunView, seen: Seen) -> Waiting:
    waits = run.waits_for
    heard = seen.heard_at or waits.since or run.run.at
    where = f" in phase {waits.phase}" if waits.phase else ""
    return Waiting(
        "worker",
        "a worker",
        f"a worker, {ago(heard, seen.now)}",
        f"Cut off{where}, last heard {at(heard, seen.now)}: no worker lives. Nothing is lost; it goes on"
        " when one is there.",
        f"asbuilt resume {run.run.options.slug}",
        since=heard,
        heard_at=heard,
    )


def _asbuilt(run: RunView) -> Waiting:
    waits = run.waits_for
    work = AT_WORK.get(waits.why, "is at work")
    if waits.why in _OF_A_PHASE:
        work += f" phase {waits.phase}"
    return Waiting("asbuilt", "asbuilt", "asbuilt", f"asbuilt {work}; nobody has to act.")


def _claim(slug: str, claim: Claim, seen: Seen) -> Waiting:
    return Waiting(
        "claim",
        claim.run,
        f"{claim.run}'s claim",
        f"Held by {claim.run} since {at(claim.since, seen.now)}. It stays so until it is released; every"
        " run of it is declined.",
        f"asbuilt claim release {slug} --owner {claim.run}",
        since=claim.since,
    )


def _over(run: RunView, seen: Seen) -> Waiting:
    slug, branch = run.run.options.slug, run.run.options.branch
    ended = at(run.run.ended_at or run.run.at, seen.now)
    why = run.waits_for.why
    said = {
        "landed": f"Landed on {branch} {ended}.",
        "held": f"Proven {ended}, not landed: it waits for you. Nothing lands until you say so.",
        "pr-ready": f"Not merged {ended}: {why}.",
        "pr-ci-failing": f"Not merged {ended}: {why}.",
        "undone": f"Taken back from {branch} {ended}; its phases are open again.",
        "stopped": f"Stopped {ended}: {why}. Everything is kept.",
        "failed": f"Failed {ended}: {why}",
    }.get(run.run.state, f"Ended {ended}: {why or run.run.state}.")
    command = {
        "held": f"asbuilt land {slug}",
        "pr-ready": f"asbuilt land {slug}",
        "pr-ci-failing": f"asbuilt land {slug}",
        "undone": f"asbuilt run {slug}",
        "stopped": f"asbuilt resume {slug}",
        "failed": f"asbuilt resume {slug}",
    }.get(run.run.state)
    is_held = run.run.state in ("held", "pr-ready", "pr-ci-failing")
    brief = f"asbuilt why {slug}" if run.run.state == "failed" else f"you, {_age(run, seen)}" * is_held
    return Waiting(
        "person" if is_held else "nobody", "you" * is_held, brief, said, command, since=run.run.ended_at
    )


def _age(run: RunView, seen: Seen) -> str:
    return ago(run.run.ended_at or run.run.at, seen.now)


def _clock(text: str, seen: Seen) -> str:
    return until(text, seen.now).partition(", ")[0]


def _seconds_since(text: str | None, now: datetime) -> int | None:
    return None if text is None else max(0, round((now - parsed(text)).total_seconds()))
