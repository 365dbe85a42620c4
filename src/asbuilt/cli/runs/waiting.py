"""What a plan waits for, since when, until when, and what happens if nothing is done.

Rule: every command takes these sentences from here. They use only the journal and the attempt's folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from asbuilt.cli.runs.lost_plan_file import bringing_back, is_lost
from asbuilt.cli.runs.next_step import (
    Next,
    after,
    answering,
    in_this_state,
    merges_by_hand,
    needs_file,
    without_its_file,
)
from asbuilt.cli.ui.clock import ago, at, lasting, parsed, stamp, until
from asbuilt.cli.ui.schedules import schedule_sentence
from asbuilt.cli.ui.words import by_whom, counted
from asbuilt.cli.wording.moves import at_work
from asbuilt.cli.wording.reviews import under_review
from asbuilt.lifecycle.authoring.facts import role_of
from asbuilt.lifecycle.limits import OVERALL_S, REPEAT_LIMIT, STALL_S
from asbuilt.lifecycle.status.ended_runs import waits_for_schedule

if TYPE_CHECKING:
    from asbuilt.cli.shell.read_context import Moment, Seen
    from asbuilt.journal.claims import Claim
    from asbuilt.journal.queries.overview import PlanView, RunView
    from asbuilt.journal.schedules import Schedule

Kind = Literal[
    "agent", "verifier", "asbuilt", "person", "limit", "time", "line", "schedule", "disk", "worker", "claim",
    "nobody",
]  # fmt: skip

_NO_WORKER: Final = "No worker is running, so it does not start until one is."
_SOON_S: Final = 60
_URGENT: Final[tuple[Kind, ...]] = ("worker", "disk", "person", "claim", "nobody")


class Waiting(NamedTuple):
    """What a plan waits for, in words and as data."""

    kind: Kind
    who: str
    """One word: the agent, `you`, `asbuilt`."""
    brief: str
    """Short form for a column: `claude, 6s ago`."""
    sentence: str
    """What it waits for, since when and until when; or how it ended."""
    next: Next
    then: str = ""
    """What happens if nothing is done."""
    since: str | None = None
    until: str | None = None
    last_activity_at: str | None = None

    @property
    def text(self) -> str:
        """The sentence, and what happens if nothing is done."""
        return f"{self.sentence} {self.then}".rstrip()

    def as_json(self, now: datetime) -> dict[str, Any]:
        """Return it as JSON data."""
        silent_s = self.last_activity_at and max(
            0, round((now - parsed(self.last_activity_at)).total_seconds())
        )
        return {
            "kind": self.kind,
            "who": self.who,
            "since": stamp(self.since) if self.since else None,
            "until": stamp(self.until) if self.until else None,
            "last_activity_s": silent_s,
            "says": self.text,
            "next": self.next.command or None,
        }


def waiting(view: PlanView, moment: Moment) -> Waiting:
    """Return what a plan waits for, and the next command."""
    return waits_of([view], moment)[0]


def waits_of(views: Sequence[PlanView], moment: Moment) -> list[Waiting]:
    """Return what each of several plans waits for, and its next command. The checkout is searched once."""
    pairs = zip(views, merges_by_hand(views, moment.checkout), strict=True)
    waits = [(view, _with_file(view, moment, merge)) for view, merge in pairs]
    return [wait._replace(next=in_this_state(wait.next, view, moment.checkout)) for view, wait in waits]


def _with_file(view: PlanView, moment: Moment, merge: tuple[str, Next] | None) -> Waiting:
    """Return what a plan waits for; without its file no run starts, but its proven work lands."""
    wait, path, run = _waiting(view, moment), view.address.plan, view.run
    if merge is not None:
        return wait._replace(sentence=merge[0], next=merge[1])
    if not (needs_file(wait.next, run) and is_lost(moment.root, path)):
        return wait
    following = without_its_file(view.slug, run, bringing_back(moment.root, path, view.slug))
    return wait._replace(
        sentence=f"{wait.sentence.rstrip('.')}. The plan's file {path} is gone.", next=following
    )


def _waiting(view: PlanView, moment: Moment) -> Waiting:
    run = view.run
    seen = moment.seen(run)
    claim = view.claim
    if claim is not None and (run is None or run.run.is_over or claim.run != run.run.run):
        return _claim(view.slug, claim, seen)
    if view.schedule is not None and (run is None or waits_for_schedule(run.run.options.kind, run.run.state)):
        is_told = run is not None and run.run.state not in ("landed", "done")
        return _scheduled(view.schedule, seen, _over(run, seen).sentence if run and is_told else "")
    if run is None:
        following = Next(f"asbuilt run {view.slug}", runs_plan=True)
        return Waiting("nobody", "", "", "It has not run yet.", following)
    # Marks and later runs count, too; a run's own phases are as it left them.
    is_told = run.run.is_over and bool(view.phases) and not run.run.options.plans
    return run_waiting(run._replace(phases=view.phases) if is_told else run, seen)


def next_of(views: list[PlanView], moment: Moment) -> Next:
    """Return the next command of the plan that needs the user most, else of the newest."""
    waits = waits_of(views, moment)
    unfinished = [wait for view, wait in zip(views, waits, strict=True) if not _is_finished(view)]
    urgent = sorted(
        (wait for wait in unfinished if wait.kind in _URGENT), key=lambda wait: _URGENT.index(wait.kind)
    )
    return (urgent or unfinished or waits)[0].next


def _is_finished(view: PlanView) -> bool:
    state = view.run and view.run.run.state
    return state in ("undone", "done") or (state == "landed" and view.done == len(view.phases))


def _scheduled(schedule: Schedule, seen: Seen, before: str) -> Waiting:
    early = f"asbuilt run {schedule.slug}"
    return Waiting(
        "schedule",
        "the clock",
        _clock(schedule.due_at, seen),
        f"{before.rstrip('.')}. Scheduled: {schedule_sentence(schedule, seen.now)}.".removeprefix(". "),
        Next(early, runs_plan=True)
        if seen.is_served
        else Next("asbuilt worker", other=f"run it now: `{early}`"),
        "" if seen.is_served else _NO_WORKER,
        until=schedule.due_at,
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
        case "line":
            return _in_line(run, seen)
        case "resume":
            why = run.waits_for.why
            sentence = f"Pauses at its next safe point: {why}."
            return Waiting("asbuilt", "asbuilt", "asbuilt", sentence, _following(run))
        case _:
            return _asbuilt(run)


def is_cut_off(run: RunView, seen: Seen) -> bool:
    """Return whether a run should continue, but no worker is alive."""
    due = run.waits_for.until
    is_due = due is None or parsed(due) <= seen.now
    waits = run.run.is_over or run.is_paused or bool(run.questions)
    return not waits and not seen.is_served and is_due


def is_parked(run: RunView, now: datetime) -> bool:
    """Return whether a run waits for a limit or a time that is more than a minute away."""
    waits = run.waits_for
    is_late = waits.until is not None and (parsed(waits.until) - now).total_seconds() > _SOON_S
    return not run.run.is_over and waits.kind in ("limit", "time") and is_late


def _continuing(run: RunView) -> Next:
    """Return the command that continues a run that is not over; an open undo is continued as an undo."""
    comment = "continues the undo" if run.run.options.kind == "undo" else ""
    return Next(f"asbuilt run {run.run.options.slug}", comment=comment, runs_plan=True)


def _following(run: RunView) -> Next:
    slug = run.run.options.slug
    return Next(f"asbuilt watch {slug}", other=f"end it: `asbuilt stop {slug}`")


def for_person(run: RunView, now: datetime) -> Waiting:
    """Return the wait for the run's first question."""
    asked = run.questions[0]
    age = ago(asked.asked_at, now)
    whom = "your sign-off" if asked.kind == "sign-off" else "you"
    left = len(run.questions) - 1
    more = f"; {counted(left, 'more question')} {'waits' if left == 1 else 'wait'}" if left else ""
    others = [wait.phase or "" for wait in run.lanes if wait.kind in ("agent", "verifier", "asbuilt")]
    then = f"Phase {', '.join(others)} continues." if others else "No agent runs until you answer."
    return Waiting(
        "person",
        "you",
        f"{whom} ({asked.name}), {age}",
        f'Waits for {whom}: {asked.name} "{asked.gist}", asked {age} ago by {run.name}{more}.',
        answering(asked, asked.name),
        f"{then} {under_review(run.review, asked, now)}".rstrip(),
        since=asked.asked_at,
    )


def in_conversation(run: RunView) -> Waiting:
    """Return the wait for the user's conversation with an agent."""
    waits = run.waits_for
    return Waiting(
        "person",
        "you",
        "a conversation",
        f"Waits for {waits.why}, at the stage {waits.phase}.",
        Next("asbuilt author next", other="in Claude Code: /asbuilt:author next"),
        since=waits.since or None,
    )


def _paused(run: RunView, seen: Seen) -> Waiting:
    waits = run.waits_for
    age = ago(waits.since, seen.now) if waits.since else ""
    slug = run.run.options.slug
    return Waiting(
        "person",
        "you",
        f"you, {age}" if age else "you",
        f"Paused{f' {age} ago' if age else ''}{by_whom(waits.given_reason)}.",
        _continuing(run)._replace(other=f"end it: `asbuilt stop {slug}`"),
        "Claim and workspace are kept.",
        since=waits.since or None,
    )


def _agent(run: RunView, seen: Seen) -> Waiting:
    waits, now = run.waits_for, seen.now
    is_planned = run.run.options.plans
    is_fixed = any(phase.id == waits.phase and phase.state == "fixing" for phase in run.phases)
    role = "verify" if waits.kind == "verifier" else "fix" if is_fixed else "implement"
    role = role_of(waits.phase or "") if is_planned else role
    agent = run.run.options.agent_of(role) or "the agent"
    active_at = seen.last_activity_at or waits.since or None
    where = f"the stage {waits.phase}" if is_planned else waits.where
    work = f"verifies {where}" if waits.kind == "verifier" else f"works on {where}, attempt {_number(run)}"
    since = f", since {at(waits.since, now)}" if waits.since else ""
    last = f"; last sign {ago(seen.last_activity_at, now)} ago" if seen.last_activity_at else ""
    is_last = waits.kind == "agent" and waits.retries >= REPEAT_LIMIT
    then = f"{'Fails' if is_last else 'Restarts'} after {lasting(STALL_S)} of silence"
    pause = " Pauses after this attempt." if waits.pauses else ""
    return Waiting(
        "verifier" if waits.kind == "verifier" else "agent",
        agent,
        f"{agent}, {ago(active_at, now)} ago" if active_at else agent,
        f"{agent} {work}{since}{last}.",
        _following(run),
        f"{then} ({lasting(OVERALL_S)} at most).{pause}",
        since=waits.since or None,
        last_activity_at=active_at,
    )


def _number(run: RunView) -> str:
    return run.waits_for.attempt or "1"


def _parked(run: RunView, seen: Seen) -> Waiting:
    waits, now, slug = run.waits_for, seen.now, run.run.options.slug
    since = f" since {at(waits.since, now)}" if waits.since else ""
    due = f"Continues automatically {until(waits.until, now)}" if waits.until else "The end is unknown"
    what = "the undo " if run.run.options.kind == "undo" else ""
    return Waiting(
        "limit" if waits.kind == "limit" else "time",
        "the clock",
        _clock(waits.until, seen) if waits.until else waits.why,
        f"Parked{since}: {waits.why.rstrip('.')}.",
        Next(f"asbuilt watch {slug}", other=f"continue {what}now: `asbuilt run {slug}`"),
        f"{due}; files are kept. {'' if seen.is_served else _NO_WORKER}".rstrip(),
        since=waits.since or None,
        until=waits.until,
    )


def _in_line(run: RunView, seen: Seen) -> Waiting:
    waits, slug = run.waits_for, run.run.options.slug
    return Waiting(
        "line",
        "other runs",
        waits.why,
        f"Proven, and {waits.why}.",
        Next(f"asbuilt watch {slug}", other=f"land it next: `asbuilt land {slug} --front`"),
        f"Lands automatically in its turn. {'' if seen.is_served else _NO_WORKER}".rstrip(),
        since=waits.since or None,
    )


def _disk(run: RunView, seen: Seen) -> Waiting:
    """Return the wait for disk space. A full disk cannot be recorded as an event."""
    slug = run.run.options.slug
    return Waiting(
        "disk",
        "disk space",
        "disk space",
        "The disk of the state folder is full, so no step can be recorded.",
        Next(f"asbuilt watch {slug}") if seen.is_served else _continuing(run),
        f"Free some disk space{'; then it continues automatically' if seen.is_served else ''}.",
        since=run.waits_for.since or None,
    )


def _worker(run: RunView, seen: Seen) -> Waiting:
    waits = run.waits_for
    active_at = seen.last_activity_at or waits.since or run.run.at
    where = f" in phase {waits.phase}" if waits.phase else ""
    return Waiting(
        "worker",
        "a worker",
        f"a worker, {ago(active_at, seen.now)}",
        f"Cut off{where}, last sign {at(active_at, seen.now)}: no worker is running.",
        _continuing(run),
        "Nothing is lost.",
        since=active_at,
        last_activity_at=active_at,
    )


def _asbuilt(run: RunView) -> Waiting:
    waits = run.waits_for
    where = f" (phase {waits.phase})" if waits.phase else ""
    return Waiting("asbuilt", "asbuilt", "asbuilt", f"asbuilt {at_work(waits)}{where}.", _following(run))


def _claim(slug: str, claim: Claim, seen: Seen) -> Waiting:
    return Waiting(
        "claim",
        claim.run,
        f"{claim.run}'s claim",
        f"Claimed by {claim.run} since {at(claim.since, seen.now)}.",
        Next(f"asbuilt claim release {slug} --owner {claim.run}"),
        "Every run is declined until the claim is released.",
        since=claim.since,
    )


def _over(run: RunView, seen: Seen) -> Waiting:
    branch = run.run.options.branch
    ended = at(run.run.ended_at or run.run.at, seen.now)
    why = run.waits_for.why
    undone = f"Undone {ended}: {why}" if why else f"Reverted on {branch} {ended}"
    words = {
        "landed": f"Landed on {branch} {ended}{', which had it already' * run.had_it}.",
        "held": f"Proven {ended}, not landed.",
        "pr-ready": f"Not merged {ended}: {why}.",
        "pr-ci-failing": f"Not merged {ended}: {why}.",
        "undone": f"{undone}; the plan is open again.",
        "stopped": f"Stopped {ended}{by_whom(run.waits_for.given_reason)}. All work is kept.",
        "failed": f"Failed {ended}: {why}",
    }.get(run.run.state, f"Ended {ended}: {why or run.run.state}.")
    is_held = run.run.state in ("held", "pr-ready", "pr-ci-failing") and not run.declined
    words = f"Proven {ended}, not landed: {run.declined}." if run.declined else words
    age = ago(run.run.ended_at or run.run.at, seen.now)
    is_failed = run.run.state == "failed"
    return Waiting(
        "person" if is_held else "nobody",
        "you" * is_held,
        f"you, {age}" * (is_held or is_failed),
        words,
        after(run, run.failures if is_failed else ()),
        since=run.run.ended_at,
    )


def _clock(text: str, seen: Seen) -> str:
    return until(text, seen.now).partition(", ")[0]
