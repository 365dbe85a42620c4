"""Inspect what an attempt changed, before any of it runs: tests, scope, plan.

Rule: the result depends only on two trees, the frozen text and the user's rules, so that a replay finds the
same.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.errors import NotFound
from asbuilt.git.commits import contains, read_commit
from asbuilt.git.files import entries
from asbuilt.git.objects import read_object
from asbuilt.git.refs import base_of
from asbuilt.git.repository import Repository
from asbuilt.git.trees import differing, file_in, names_in
from asbuilt.journal.queries.overview import events_of
from asbuilt.lifecycle.delivery.facts import Landed, Work
from asbuilt.lifecycle.status.plan_state import fold_plan
from asbuilt.plan.model import Plan
from asbuilt.proof.change.boundaries import SEVERITY, USUAL, Boundary
from asbuilt.proof.change.hollow import hollow
from asbuilt.proof.change.scope import beyond, plan_changed
from asbuilt.proof.change.tampering import tampering
from asbuilt.proof.evidence import Evidence
from asbuilt.proof.projects.dependencies import remarks_on_packages
from asbuilt.proof.remarks import OBSERVED, Remark, failing, remark_from, remarks_on
from asbuilt.proof.suites.model import MAX_BYTES, Change, Kind, Order, Severity
from asbuilt.proof.suites.path_roles import Role, role_of
from asbuilt.proof.trials.new_tests import remarks_on_hollow, remarks_on_unnoticed, remarks_on_unshown
from asbuilt.proof.trials.weakened_tests import OldTest, with_old_tests

if TYPE_CHECKING:
    from asbuilt.flows.run.record import Record

NO_CHANGES: Final = "The agent made no changes"
_SHOWN: Final = 400
_NAMED: Final = 4


class Inspection(NamedTuple):
    """Remarks on a change, and a digest of everything that they depend on."""

    of: str
    remarks: tuple[Remark, ...]
    order: Order
    """What the phase orders; the results of its checks are judged by it later."""

    @property
    def failing(self) -> list[str]:
        """Remarks that fail the phase whatever its checks show."""
        return failing_of(self.remarks)

    def after(
        self, shown: Sequence[Evidence], before: Sequence[Order] = (), *, was_tried: bool = False
    ) -> tuple[Remark, ...]:
        """Return the remarks with what the base's tests have shown on the new code.

        `before` is what the earlier phases order. `was_tried`: these tests ran in the phase's lane, whose
        remarks say what they showed.
        """
        suites = [(check.old, [OldTest(*test) for test in check.olds]) for check in shown if check.is_suite]
        ran = [(state, [old for old in olds if not old.earlier]) for state, olds in suites if state]
        olds = [old for _, found in suites for old in found]
        is_green = was_tried or (bool(ran) and all(state == "green" for state, _ in ran))
        is_compared = was_tried or (bool(ran) and all(state == "green" or found for state, found in ran))
        unnoticed = [words for check in shown for words in check.unnoticed]
        return (
            *with_old_tests(
                self.remarks, olds, self.order, is_green=is_green, is_compared=is_compared, before=before
            ),
            *remarks_on_hollow([test for check in shown for test in check.hollow]),
            *remarks_on_unnoticed(unnoticed, [words for check in shown for words in check.unnoticed_by_own]),
            *(() if was_tried else remarks_on_unshown(shown)),
        )


def inspect(
    record: Record,
    repository: Repository,
    phase_id: str,
    commit: str,
    *,
    run: str | None = None,
    again: bool = False,
) -> Inspection:
    """Inspect a kept commit of a phase; reuse this run's remarks on the same input.

    `run` is the run that froze the phase, if it was another. `again` inspects again, as a replay does.
    """
    phase, text = record.frozen(phase_id, run=run)
    around = _around_phases(record.frozen_plan(phase_id, run=run))
    base = base_of(repository, commit)
    command = "\n".join(suite.command for suite in record.suites().values())
    rules = {**USUAL, **record.run.options.scope}
    snapshot = read_commit(repository, commit)
    facts = [*snapshot.parents, snapshot.tree, text, phase.lines[0], command, around, rules]
    of = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    order = Order(text, phase.lines[0], command, checks=tuple(check.command for check in phase.checks))
    known = None if again else record.noticed(of)
    if known is not None:
        kept = kept_remarks(record, known)
        return Inspection(of, tuple(remark for remark in kept if remark.rule not in OBSERVED), order)
    changes = differing(repository, base, commit, cap=MAX_BYTES)
    folders = {suite.folder for suite in record.suites().values()}
    order = order._replace(unchanged=_unchanged(repository, base, changes, folders))
    there = {os.fsdecode(path) for path in entries(repository.git, snapshot.tree)}
    plan = record.run.plan
    remarks = (
        *(
            _of_the_plan(repository, plan, base, snapshot.parents[1:], rules)
            if record.run.is_in_repository
            else ()
        ),
        *remarks_on((*tampering(changes, order), *hollow(changes, order, there)), changes),
        *beyond([change for change in changes if change.path != plan], order, rules, around=around),
        *remarks_on_packages(changes, order, SEVERITY[rules[Boundary.DEPENDENCIES]], around=around),
    )
    return Inspection(of, remarks, order)


@dataclass(frozen=True)
class Before:
    """The phases of the plan whose work a phase's base contains, in order; read when it is asked for."""

    record: Record
    repository: Repository
    works: Sequence[Work]
    """Proven work that is not landed."""
    base: str

    @property
    def starts(self) -> tuple[str, ...]:
        """The trees that those started from whose work lands with the phase."""
        return tuple(_start(self.repository, work.commit) for work in self._unlanded)

    @property
    def landed(self) -> tuple[str, ...]:
        """The trees that the landed ones started from, and last the tree after them."""
        ends = [
            read_commit(self.repository, landed_phase.landed_as).tree for landed_phase in self._landed[-1:]
        ]
        return (*(_start(self.repository, landed_phase.landed_as) for landed_phase in self._landed), *ends)

    def orders(self, shown: Sequence[Evidence]) -> tuple[Order, ...]:
        """Return what they order; nothing if no tests of their starts are in the evidence."""
        if not any(OldTest(*test).earlier for check in shown for test in check.olds):
            return ()
        orders = []
        every = [(landed.phase, landed.run) for landed in self._landed]
        for phase_id, run in (*every, *((work.phase, work.run) for work in self._unlanded)):
            # The text of an old run may have been deleted.
            with suppress(NotFound):
                phase, text = self.record.frozen(phase_id, run=run)
                orders.append(Order(text, phase.lines[0]))
        return tuple(orders)

    @property
    def _unlanded(self) -> Sequence[Work]:
        at = next((at for at, work in enumerate(self.works, 1) if work.commit == self.base), 0)
        return self.works[:at]

    @cached_property
    def _landed(self) -> list[Landed]:
        record = self.record
        with record.store.read() as session:
            standing = fold_plan(events_of(session, record.blobs, record.run.address))
        there = (landed for landing in standing.landings for landed in landing.landed)
        return [
            landed
            for landed in there
            if landed.run != record.run.run and contains(self.repository, self.base, landed.landed_as)
        ]


def _start(repository: Repository, commit: str) -> str:
    return read_commit(repository, base_of(repository, commit)).tree


def are_compared(remarks: Sequence[Remark]) -> bool:
    """Return whether the plan orders every change of a test file."""
    return not any(
        remark.rule == Kind.NOT_COMPARED and remark.severity is Severity.SIGN_OFF for remark in remarks
    )


def failing_of(remarks: Sequence[Remark], *, changed: bool = True) -> list[str]:
    """List what fails a phase, short enough for an event; a tree that equals its base always fails."""
    failures = [*(() if changed else (NO_CHANGES,)), *(remark.words[:_SHOWN] for remark in failing(remarks))]
    return [*failures[:_NAMED], f"and {len(failures) - _NAMED} more"] if len(failures) > _NAMED else failures


def kept_remarks(record: Record, digest: str | None) -> tuple[Remark, ...]:
    """Read remarks back from a blob."""
    return () if digest is None else tuple(map(remark_from, record.blobs.get_json(digest)))


def _around_phases(plan: Plan) -> str:
    within = {line for phase in plan.phases for line in range(phase.lines[0], phase.lines[1] + 1)}
    return "\n".join(text for line, text in enumerate(plan.source.lines, 1) if line not in within)


def _unchanged(
    repository: Repository, tree: str, changes: Sequence[Change], folders: Collection[str]
) -> dict[str, bytes]:
    """Read the runner settings that did not change, of the suites' folders and the root."""
    changed = {change.path for change in changes}
    files = names_in(repository, tree)
    return {
        path: read_object(repository.git, file, "blob")
        for path, file in files.items()
        if path not in changed
        and path.rpartition("/")[0] in {"", *folders}
        and role_of(path) is Role.SETTINGS
    }


def _of_the_plan(
    repository: Repository, plan: str, base: str, before: Sequence[str], rules: dict[str, str]
) -> list[Remark]:
    """Return remarks on the agent's edit of the plan: the tree has it reverted, the parent has it."""
    wanted = file_in(repository, base, plan)
    if wanted is None:
        return []
    found = (plan_changed(plan, wanted, file_in(repository, commit, plan), rules) for commit in before[:1])
    return [remark for remark in found if remark is not None]
