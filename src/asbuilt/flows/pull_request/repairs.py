"""Repairs of a pull request by agents: where they work, how a repair is proven, how it is applied.

Rule: an agent's claim repairs nothing; every check of every phase that the repair could break runs again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace as evolve

from asbuilt.events.attempts import ChecksDone
from asbuilt.events.pulls import PullMended
from asbuilt.flows.checks.change_inspection import failing_of, inspect
from asbuilt.flows.checks.outcomes import failures_of, outcome_of
from asbuilt.flows.checks.prove import Proving
from asbuilt.flows.landing.commits import attempt_of
from asbuilt.flows.run.record import Record
from asbuilt.git import commits, locks
from asbuilt.git.landing import candidates
from asbuilt.git.repository import Repository, tip
from asbuilt.git.trees import file_in
from asbuilt.lifecycle.delivery.facts import DeliveryFacts, Work
from asbuilt.lifecycle.pull_request.facts import CI, CONFLICT
from asbuilt.lifecycle.run.facts import AttemptFacts
from asbuilt.lifecycle.run.moves import Mend
from asbuilt.proof.remarks import Remark, for_a_person

MENDS: Final = "refs/asbuilt/mends/"
"""Refs of repairs, kept until they have landed."""
_OUTSIDE: Final = "outside-the-scope"
"""A repair may be anywhere, so this boundary does not apply; every other does."""
_MARKS: Final = re.compile(rb"^(<{7} |>{7} )", re.MULTILINE)


class Ground(NamedTuple):
    """Where an attempt works: its lane, the commit it checks out, and the files it starts with."""

    lane: str
    base: str
    files_of: str | None = None


def ground_of(
    record: Record, repository: Repository, facts: DeliveryFacts, repair: str, number: int
) -> Ground:
    """Return where an agent repairs: on the pushed head, or on a conflict with both sides."""
    lane = f"{repair}-{number}" + (f"-{facts.chain.moves}" if facts.chain.moves else "")
    before = [
        attempt.commit
        for attempt in facts.repairs[repair].attempts
        if _is_before(facts, repair, attempt, number)
    ]
    if repair == CI:
        return Ground(lane, _head(facts), before[-1] if before else None)
    blocked = facts.pull.blocked
    if blocked is None:
        raise LookupError(repair)
    conflict = candidates.Conflict(commit=blocked.commit, paths=blocked.paths, onto=blocked.here)
    files_of = before[-1] if before else candidates.conflicted(repository, conflict, by=record.author())
    return Ground(lane, blocked.here, files_of)


def check_repair(
    record: Record, repository: Repository, proving: Proving, facts: DeliveryFacts, repair: str, number: int
) -> None:
    """Inspect a repair, and run the tests and the phases' checks on it."""
    attempt = attempt_of(facts.repairs[repair], number)
    works = _concerned(facts, repair)
    remarks = inspect(record, repository, works[-1].phase, attempt.commit or "", run=works[-1].run).remarks
    failing = [*failing_of(remarks), *_unsigned(remarks), *_unresolved(repository, facts, repair, attempt)]
    frozen = [record.frozen(work.phase, run=work.run)[0] for work in works]
    checks = list(dict.fromkeys(check.command for phase in frozen for check in phase.checks))
    shown = [] if failing else proving.prove(attempt.tree or "", checks)
    record.append(
        ChecksDone(
            phase=repair,
            number=number,
            outcome="FAIL" if failing else outcome_of(shown),
            failures=tuple(failing or failures_of(shown)),
            evidence=record.keep(shown),
            remarks=record.keep(remarks),
        ),
        f"{repair}/{number}/checks",
    )


def take_over(record: Record, repository: Repository, facts: DeliveryFacts, move: Mend) -> None:
    """Add a proven repair to what is pushed next."""
    attempt = attempt_of(facts.repairs[move.repair], move.number)
    mended = PullMended(repair=move.repair, number=move.number, tree=attempt.tree)
    key = f"pull/mended/{move.repair}/{move.number}"
    blocked = facts.pull.blocked
    if move.repair == CONFLICT and blocked is not None:
        record.append(evolve(mended, of=blocked.commit, here=blocked.here), key)
        return
    subject = f"Fix the checks of {record.run.options.slug}"
    commit = commits.commit_tree(
        repository,
        attempt.tree or "",
        parents=(_head(facts),),
        author=record.author(),
        message=commits.message_for(subject, Asbuilt_Run=record.run.run),
    )
    ref = f"{MENDS}{record.run.run}/{move.number}"
    if tip(repository, ref) is None:
        locks.set_ref(repository, ref, new=commit, old=None)
    record.append(evolve(mended, commit=commit), key)


def _head(facts: DeliveryFacts) -> str:
    if facts.pull.head is None:
        raise LookupError(CI)
    return facts.pull.head


def _is_before(facts: DeliveryFacts, repair: str, attempt: AttemptFacts, number: int) -> bool:
    return facts.pull.settled.get(repair, 0) < attempt.number < number and attempt.commit is not None


def _concerned(facts: DeliveryFacts, repair: str) -> Sequence[Work]:
    """List the phases that a repair may break: all of them, or for a conflict the conflicting one."""
    blocked = facts.pull.blocked
    if repair == CI or blocked is None:
        return facts.pending
    return [work for work in facts.pending if work.commit == blocked.commit] or facts.pending[-1:]


def _unsigned(remarks: Sequence[Remark]) -> list[str]:
    """List remarks that need a sign-off: users are not asked about repairs, so these fail."""
    return [
        f"{remark.words}: needs the user's sign-off"
        for remark in for_a_person(remarks)
        if remark.rule != _OUTSIDE
    ]


def _unresolved(
    repository: Repository, facts: DeliveryFacts, repair: str, attempt: AttemptFacts
) -> list[str]:
    if repair == CI or facts.pull.blocked is None:
        return []
    return unresolved(repository, attempt.tree or "", facts.pull.blocked.paths)


def unresolved(repository: Repository, tree: str, paths: Sequence[str]) -> list[str]:
    """List the files of a tree that still have conflict markers, as failures."""
    left = [path for path in paths if _MARKS.search(file_in(repository, tree, path) or b"")]
    return [f"{path} still has conflict markers" for path in left]
