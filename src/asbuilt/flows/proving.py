"""Run checks on a clean checkout of a tree and keep what they show. Nobody else's word counts here."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Final

from asbuilt.git.commits import read_commit
from asbuilt.policy.shell import argv_of
from asbuilt.proof.counts import from_junit, from_output
from asbuilt.proof.evidence import TESTS, Evidence, judge_check, judge_setup, judge_tests, overall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.flows.record import Record
    from asbuilt.flows.rigs import Ran, Rig, Rigs
    from asbuilt.git.repository import Repository
    from asbuilt.proof.counts import Counts
    from asbuilt.proof.evidence import Judged
    from asbuilt.proof.resolving import Setup

SETUP: Final = "setup"
_SHOWN: Final = 220


def tree_of(repository: Repository, commit: str) -> str:
    """Return the tree of a commit."""
    return read_commit(repository, commit).tree


class Proving:
    """The checks of one run, each in a rig that was made ready on the run's base."""

    def __init__(self, record: Record, rigs: Rigs, base: str) -> None:
        self._record = record
        self._rigs = rigs
        self.base = base

    def set_up(self, setup: Setup) -> Evidence | None:
        """Make what checks shall find; None when it is there already, or there is nothing to make."""
        with self._rigs.take(setup) as rig:
            return self._made(rig)

    def baseline(self, tests: str) -> tuple[Evidence, Counts | None]:
        """Run the tests on the base; failures there are noted, no test at all is a stop."""
        with self._rigs.take(self._record.setup()) as rig:
            made = self._made(rig)
            if made is not None and made.outcome != "PASS":
                return made, None
            ran = rig.run(self.base, tests)
            counts = _counts(ran)
            shown = self._tests(ran, counts, counts)
            if not shown.is_conclusive:
                # What was set up long ago may have died since: the next run makes it anew.
                rig.forget()
        return shown, counts

    def prove(self, tree: str, checks: Sequence[str] = ()) -> list[Evidence]:
        """Run the tests and a phase's own checks on a tree; what this run has shown of it already stands."""
        setup, tests = self._record.setup(), self._record.tests()
        shown = [] if tests is None else self._known(tree, tests, setup)
        to_run = tests if not shown else None
        if to_run is None and not checks:
            return shown
        with self._rigs.take(setup) as rig:
            made = self._made(rig)
            if made is not None and made.outcome != "PASS":
                return [made]
            if to_run is not None:
                ran = rig.run(tree, to_run)
                shown.append(self._tests(ran, _counts(ran), self._record.baseline()))
            return [*shown, *self._checked(rig, tree, checks)]

    def check(self, tree: str, checks: Sequence[str]) -> list[Evidence]:
        """Run a phase's own checks on a tree, without the tests."""
        if not checks:
            return []
        with self._rigs.take(self._record.setup()) as rig:
            made = self._made(rig)
            if made is not None and made.outcome != "PASS":
                return [made]
            return self._checked(rig, tree, checks)

    def _checked(self, rig: Rig, tree: str, checks: Sequence[str]) -> list[Evidence]:
        # Each check starts from the tree, not from what the one before left behind.
        return [
            self._evidence(check, ran, judge_check(ran.ended.exit_code))
            for check in checks
            for ran in [rig.run(tree, check)]
        ]

    def keep(self, shown: Sequence[Evidence]) -> str:
        """Keep evidence as a blob and return its digest."""
        return self._record.blobs.put(json.dumps([one._asdict() for one in shown]).encode())

    def _known(self, tree: str, tests: str, setup: Setup) -> list[Evidence]:
        wanted = (TESTS, argv_of(tests), tree, setup.digest)
        found = (
            one._replace(reused=True)
            for one in self._record.shown()
            if (one.name, one.argv, one.tree, one.setup) == wanted and one.is_conclusive
        )
        return [*islice(found, 1)]

    def _made(self, rig: Rig) -> Evidence | None:
        ran = rig.set_up(self.base)
        return None if ran is None else self._evidence(SETUP, ran, judge_setup(ran.ended.exit_code))

    def _tests(self, ran: Ran, counts: Counts | None, baseline: Counts | None) -> Evidence:
        ended = ran.ended
        judged = judge_tests(ended.exit_code, counts, truncated=ended.truncated, baseline=baseline)
        return self._evidence(TESTS, ran, judged, counts)

    def _evidence(self, name: str, ran: Ran, judged: Judged, counts: Counts | None = None) -> Evidence:
        return Evidence(
            name=name,
            argv=argv_of(ran.command),
            exit_code=ran.ended.exit_code,
            outcome=judged.outcome,
            why=judged.why,
            ran=counts.ran if counts else None,
            skipped=counts.skipped if counts else None,
            failed=counts.failed if counts else None,
            output=self._record.blobs.put(ran.ended.output),
            duration_s=ran.ended.duration_s,
            tree=ran.tree,
            new_failures=judged.new,
            old_failures=judged.old,
            setup=ran.setup,
            ring=ran.ended.ring,
            report="" if ran.report is None else self._record.blobs.put(ran.report),
        )


def _counts(ran: Ran) -> Counts | None:
    """Count by the runner's report where it wrote one, else by what it printed."""
    reported = None if ran.report is None else from_junit(ran.report)
    output = ran.ended.output.decode("utf-8", "replace")
    return reported or from_output(output, cut=ran.ended.truncated)


def failures_of(shown: Sequence[Evidence]) -> list[str]:
    """Word what was not shown, short enough for an event; the evidence itself is a blob."""
    return [
        f"{one.name[:_SHOWN]}: {one.outcome}, {one.why}"[: 2 * _SHOWN]
        for one in shown
        if one.outcome != "PASS"
    ][:4]


def outcome_of(shown: Sequence[Evidence]) -> str:
    """Judge all of it; where nothing was ordered, nothing had to be shown."""
    return overall(one.outcome for one in shown) if shown else "PASS"
