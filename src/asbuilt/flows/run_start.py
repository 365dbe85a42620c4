"""Start a run: claim its plan, check the repository, and record what the run builds on.

Rule: nothing is guessed. If the repository and the journal differ, the run stops and the user decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from asbuilt.errors import GateStopped
from asbuilt.events.questions import LastingKey, SandboxKey
from asbuilt.events.runs import RunStarted
from asbuilt.flows.run.plan_file import Document
from asbuilt.flows.run.record import ACTOR, Record
from asbuilt.flows.run.repository_checks import (
    Ground,
    check_plan_branch,
    check_repository,
    landable_again,
    leftover_workspaces,
    need_landed,
)
from asbuilt.git import commits
from asbuilt.git.commits import Person
from asbuilt.git.repository import Repository, plan_branch, tip
from asbuilt.journal import approvals, claims, runs
from asbuilt.journal.queries.overview import events_of, facts_of
from asbuilt.lifecycle.delivery.facts import Landed, Work
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.run.facts import PhaseFacts
from asbuilt.lifecycle.status.plan_state import done_now, fold_plan
from asbuilt.plan.model import Status
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.flows.context import Context

_BEGAN_ON: Final = "began-on"


def start(context: Context, *, pushed: str | None = None) -> None:
    """Claim the plan, check the repository, and record the start of the run.

    `pushed` is the target's tip at the forge, for a run that lands there: the run builds on what others, or
    an earlier pull request, have merged, even if the user's own branch does not have it yet. A run restored
    from a backup reuses its base and date, so its commit hashes stay the same.
    """
    record, repository, run = context.record, context.repository, context.record.run
    target = check_repository(record, repository, pushed)
    data = Document(record, repository).read()
    plan = read(data)
    author = _author(record, repository)
    authored_at = datetime.fromisoformat(run.at).astimezone(author.at.tzinfo).isoformat()
    claim(record)
    began_on = _began_on(repository, context.room, target)
    ground = _ground(record, repository, began_on)
    ours = {outcome.phase for outcome in commits.outcomes(repository, target, run.run, since=began_on)}
    marked = Document(record, repository).marked(plan) - ours
    done = done_now(ground.standing, marked)
    unlanded: Sequence[Work] = ground.unlanded
    if run.options.kind == "land":
        # A landing proves what the user has merged by hand as well, where it is now.
        unlanded = ground.standing.unlanded or landable_again(record, repository, ground, done)
    outline: dict[str, Any] = {
        "phases": {phase.id: list(phase.depends_on.on) for phase in plan.phases},
        "titles": {phase.id: phase.title for phase in plan.phases},
        "done": sorted(done),
        "unlanded": unlanded,
        "alone": [phase.id for phase in plan.phases if phase.delegate],
        "checked": all(phase.checks for phase in plan.phases if phase.status is not Status.DONE),
    }
    of = None
    if run.options.kind == "undo":
        of = run.options.of or ground.standing.newest
        outline |= _undo(record, ground, of)
    else:
        check_plan_branch(record, repository, ground)
    if run.options.kind == "run":
        need_landed(record, repository, ground, done)
    base = ground.unlanded[-1].commit if ground.unlanded else ground.target
    carried = _carried(record, repository, base)
    if carried:
        outline |= {"carried": carried[0], "beside": carried[1:]}
    record.append(
        RunStarted(
            base=base,
            ring=context.processes.level,
            ring_agreed=is_agreed(record, SandboxKey()),
            branch_at=ground.branch,
            left=leftover_workspaces(record, repository, context.workspaces),
            of=of,
            outline=record.blobs.put_json(outline),
            revision=record.blobs.put(data),
            intent=plan.intent,
            author=(author.name, author.email, authored_at),
        ),
        "started",
    )


def _author(record: Record, repository: Repository) -> Person:
    """Return the author of the run's commits: the user, who may have asked on another machine."""
    order = record.run.options.fleet
    if order is UNSET:
        return commits.author_of(repository)
    name, email = order.author
    return commits.Person(name=name, email=email, at=datetime.fromisoformat(record.run.at))


def _began_on(repository: Repository, room: Path, target: str) -> str:
    """Return the target's tip at the first start of the run, if the target still contains it."""
    file = room / _BEGAN_ON
    known = file.read_text(encoding="ascii").strip() if file.is_file() else ""
    if known and commits.contains(repository, target, known):
        return known
    room.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = room / f".{_BEGAN_ON}"
    fresh.write_text(f"{target}\n", encoding="ascii")
    fresh.replace(file)
    return target


def is_agreed(record: Record, key: LastingKey) -> bool:
    """Return whether a user has said yes before, in any run of this repository."""
    with record.store.read() as session:
        answered = approvals.last_answered(session, record.run.org, record.run.repo, under=key.under)
    return answered is not None and answered.answer == "yes"


def _carried(record: Record, repository: Repository, base: str) -> list[tuple[str, str, list[str]]]:
    """Find the files of the last attempts of the run that this one continues, if the base is the same."""
    run = record.run
    with record.store.read() as session:
        before = runs.find(session, run.org, run.repo, run.options.continues or "")
        facts = None if before is None else facts_of(session, record.blobs, before)
    if facts is None:
        return []
    lanes = facts.lanes if isinstance(facts, PlanFacts) else ()
    phases = [
        phase
        for phase in facts.phases.values()
        if (phase is facts.current or (phase.id in lanes and not phase.proven))
        and run.options.phase in (None, phase.id)
    ]
    found = (_last_on(repository, phase, base) for phase in phases)
    return [pair for pair in found if pair is not None]


def _last_on(repository: Repository, phase: PhaseFacts, base: str) -> tuple[str, str, list[str]] | None:
    for attempt in reversed(phase.attempts):
        if attempt.commit and commits.read_commit(repository, attempt.commit).parents[:1] == (base,):
            return phase.id, attempt.commit, list(attempt.failures)
    return None


def claim(record: Record) -> None:
    """Claim the plan for this run, or raise with the run that has it."""
    run = record.run
    with record.store.write() as session:
        taken = claims.acquire(
            session, run.address, run=run.run, mode=run.options.mode, host=run.options.host, actor=ACTOR
        )
        if taken.answer is not claims.Answer.YOURS:
            raise GateStopped(
                f"{run.plan} is claimed by run {taken.claim.run}",
                why="One run at a time works on a plan; two would overwrite each other.",
                next_step=f"`asbuilt stop {run.options.slug}` ends that run; then run again.",
            )
        runs.set_state(session, run, "running")


def _ground(record: Record, repository: Repository, target: str) -> Ground:
    with record.store.read() as session:
        standing = fold_plan(events_of(session, record.blobs, record.run.address))
    landed_as = {
        (outcome.run, outcome.phase): outcome.commit
        for outcome in commits.outcomes(repository, target, *sorted({work.run for work in standing.unlanded}))
        if not outcome.undone
    }
    return Ground(
        target=target,
        branch=tip(repository, f"refs/heads/{plan_branch(repository, record.run.options.slug)}"),
        standing=standing,
        unlanded=tuple(work for work in standing.unlanded if (work.run, work.phase) not in landed_as),
        there=tuple(
            Landed(*work, landed_as[work.run, work.phase])
            for work in standing.unlanded
            if (work.run, work.phase) in landed_as
        ),
    )


def _undo(record: Record, ground: Ground, of: str | None) -> dict[str, Any]:
    """Return what an undo reverts: what a run landed, and everything that is proven and not landed."""
    newer = ground.unlanded[-1] if ground.unlanded else None
    if newer is not None and newer.run != of:
        with record.store.read() as session:
            found = runs.find(session, record.run.org, record.run.repo, newer.run)
        name = f"{record.run.options.slug}.{found.number if found else '?'}"
        raise GateStopped(
            f"run {name} has proven phase {newer.phase} since, which is not landed",
            why=f"It builds on the work that would be reverted. Land it, or undo {name} first.",
            next_step=f"`asbuilt land {record.run.options.slug}`",
        )
    there = [landed for landed in ground.there if landed.run == of]
    return {"undoes": [*ground.standing.landed_by(of or ""), *there], "drops": ground.unlanded}
