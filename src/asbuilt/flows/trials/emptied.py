"""Empty product files in a copy of a tree and check that the checks fail: only then do they run this tree.

Rule: it can take a PASS away and never gives one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from math import ceil, inf
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.flows.trials.allowance import Allowance
from asbuilt.policy.shell.judge import argv_of
from asbuilt.proof.evidence import Evidence
from asbuilt.proof.items import wanted_and_checked
from asbuilt.proof.judgement import without_filter
from asbuilt.proof.trials.depth import Trial
from asbuilt.proof.trials.emptied import (
    Files,
    Shown,
    emptied,
    listed,
    shown_without,
    sorted_out,
    word_of,
    words_for,
)
from asbuilt.proof.trials.mutants import Mutant, is_probed, planned
from asbuilt.proof.trials.parts import Part, parts_of, unborne

if TYPE_CHECKING:
    from asbuilt.flows.environments.check_environment import CheckEnvironment
    from asbuilt.flows.environments.results import Ran
    from asbuilt.flows.trials.suite import Trials
    from asbuilt.proof.counts import Counts
    from asbuilt.proof.runner_command_lines import Call

_SINGLES: Final = 3
"""Product files of the base that are emptied, first one and then all three, before all files are."""
_LARGE: Final = 12
"""Most product files of the base that are searched for in tests."""
_ALL: Final = 1_000
_MUTANTS: Final = 3
"""Most changes to new lines that are tried, until one is noticed."""
_ENOUGH: Final = 2
"""A single unnoticed change may be one that changes nothing."""
_SLACK_S: Final = 60
"""Seconds beyond 3 times the suite's own: a suite that does not end by then has noticed the missing files."""


class Emptied(NamedTuple):
    """Result of emptying files; `shown` is None if there was no file to empty, or no time."""

    shown: Shown | None
    notes: tuple[str, ...]
    why: str = ""
    files: tuple[str, ...] = ()
    """Code that no check missed, or that no check runs."""
    own: tuple[str, ...] = ()
    """Files that the phase's own tests did not miss, though they name what it adds."""
    is_known: bool = True
    """False: there was no time to find out."""


class Survivors(NamedTuple):
    """Changes to new lines that nothing noticed, or not the phase's own tests, which name what it adds."""

    everywhere: tuple[Mutant, ...] = ()
    own: tuple[Mutant, ...] = ()


class Unmissed(NamedTuple):
    """Parts of the work that no check misses."""

    files: tuple[str, ...] = ()
    """Files that no check runs."""
    promised: tuple[str, ...] = ()
    """What the phase has to show, in words."""


class Tested(NamedTuple):
    """A suite that ran on the tree and passed."""

    trials: Trials
    ran: Ran
    counts: Counts | None
    """None: it shows only its exit code."""


class Emptying:
    """The probe of one tree whose suites and checks pass."""

    def __init__(
        self, environment: CheckEnvironment, suites: Sequence[Tested], allowance: Allowance | None = None
    ) -> None:
        self._environment = environment
        self._suites = suites
        self._allowance = allowance or Allowance()
        self._took_s = sum(tested.ran.ended.duration_s for tested in suites)
        self._limit_s = ceil(3 * self._took_s) + _SLACK_S

    def phase(self, checks: Sequence[str]) -> Emptied:
        """Empty all product files that the phase changed."""
        files = self._files()
        beside = (f"not run by any check: {listed(files.others)}",) if files.others else ()
        empty = self._emptied(files)
        if not empty:
            notes = ("no product file to empty: the phase changes none", *beside)
            return Emptied(None, notes, files=files.others)
        left_s = self._allowance.seconds(Trial.EMPTIED)
        shown = self._without(empty, checks, time.monotonic() + left_s) if left_s else None
        if shown is None:
            self._allowance.leave_out(Trial.EMPTIED)
            return Emptied(None, beside, is_known=False)
        if shown == "green":
            return Emptied("green", beside, words_for("green", [*empty]), tuple(empty))
        own = tuple(empty) if self._own_tests_pass(empty) else ()
        return Emptied(shown, (words_for(shown, [*empty]), *beside), own=own)

    def _own_tests_pass(self, empty: Mapping[str, bytes]) -> bool:
        """Return whether the phase's own tests, which name what it adds, pass without its product files."""
        suite = self._suites[0]
        trials = suite.trials
        if suite.ran.ended.exit_code != 0 or not trials.tests_name(trials.trees.read(is_probed), suite.ran):
            return False
        call = trials.own_tests(suite.ran)
        return call is not None and not self._fails(suite, call, empty, inf)

    def _files(self) -> Files:
        runners = [tested.trials.runner(tested.ran) for tested in self._suites]
        return sorted_out(self._suites[0].trials.trees.changed, runners)

    def _emptied(self, files: Files) -> dict[str, bytes]:
        found = self._suites[0].trials.trees.read(frozenset(files.product).__contains__)
        return {path: left for path, (_, now) in found.items() if (left := emptied(path, now)) is not None}

    def survivors(self, checks: Sequence[str]) -> Survivors:
        """Change new lines one by one until a test or check notices; empty then, or if too few were tried."""
        suite = self._suites[0]
        trials, tree = suite.trials, suite.ran.tree
        sources = trials.trees.read(is_probed)
        own = trials.own_tests(suite.ran) if trials.tests_name(sources, suite.ran) else None
        unnoticed: list[Mutant] = []
        elsewhere = False
        mutants = planned(sources, tree)[:_MUTANTS]
        left_s = self._allowance.seconds(Trial.SURVIVORS) if len(mutants) >= _ENOUGH else 0.0
        until = time.monotonic() + left_s
        for mutant in mutants if left_s else ():
            changed = {mutant.path: mutant.applied(sources[mutant.path][1])}
            if own is not None and self._fails(suite, own, changed, until):
                return Survivors()
            shown = self._without(changed, checks, until)
            if shown is None:
                self._allowance.leave_out(Trial.SURVIVORS)
                break
            if shown != "green" and own is None:
                return Survivors()
            elsewhere = elsewhere or shown != "green"
            unnoticed.append(mutant)
        if len(unnoticed) < _ENOUGH:
            return Survivors()
        return Survivors(own=tuple(unnoticed)) if elsewhere else Survivors(tuple(unnoticed))

    def _fails(self, suite: Tested, call: Call, changed: Mapping[str, bytes], until: float) -> bool:
        limit_s = self._limit(until)
        if limit_s is None:
            return False
        ran = suite.trials.rerun(suite.ran, changed, call=call, limit_s=limit_s)
        return ran.ended.exit_code != 0

    def base(self) -> Emptied:
        """Empty a product file of the base that tests mention, then three, then all, until a check fails."""
        trials, ran = self._suites[0].trials, self._suites[0].ran
        files = [*trials.product_files(ran)]
        large = (path for path in files[:_LARGE] if trials.mentioning([word_of(path)], ran))
        first = [*islice(large, _SINGLES)] or files[:_SINGLES]
        tried: list[str] = []
        for group in (first[:1], first, files[:_ALL]):
            empty = trials.trees.emptied(group)
            if not empty or [*empty] == tried:
                continue
            tried = [*empty]
            shown = self._without(empty, ())
            if shown is not None and shown != "green":
                return Emptied(shown, (words_for(shown, tried),))
        if not tried:
            return Emptied(None, ("no product file to empty: the base has none that its suite runs",))
        return Emptied("green", (), words_for("green", tried, self._suites[0].counts))

    def parts(self, checks: Sequence[str], *, is_shown: bool) -> Unmissed:
        """Take parts of the work away one by one, as far as time allows; return those that nothing misses.

        `is_shown`: the work as a whole is missed, as earlier trials have shown.
        """
        trials, changed = self._suites[0].trials, self._files()
        text = trials.order.text if trials.order else ""
        sources = trials.trees.read(frozenset((*changed.product, *changed.others)).__contains__)
        several = changed.product if len(changed.product) > 1 else ()
        parts = parts_of(sources, text, several, changed.others) or parts_of(sources, text, changed.product)
        left_s = self._allowance.seconds(Trial.PARTS) if parts else 0.0
        until = time.monotonic() + left_s
        tried: list[tuple[Part, bool]] = []
        idle: list[str] = []
        for part in parts if left_s else ():
            if part.path in idle or (is_shown and not part.path):
                continue
            shown = self._without(part.without, checks, until)
            if shown is None:
                self._allowance.leave_out(Trial.PARTS)
                break
            tried.append((part, shown != "green"))
            idle += [part.path] if shown == "green" and part.path and not part.name else []
        promised = unborne(tried, wanted_and_checked(text)[0])
        return Unmissed(tuple(idle), tuple(part.words for part in promised))

    def _without(self, empty: Mapping[str, bytes], checks: Sequence[str], until: float = inf) -> Shown | None:
        """Run first what may fail soonest: tests that name the files, suites, checks; None: out of time."""
        for suite in self._suites:
            shown = self._suite_without(suite, empty, until)
            if shown != "green":
                return shown
        trials, tree = self._suites[0].trials, self._suites[0].ran.tree
        commands = {argv_of(suite.ran.command) for suite in self._suites if not suite.trials.folder}
        for check in (check for check in checks if argv_of(check) not in commands):
            over = {**trials.over_checks, **empty}
            if (limit_s := self._limit(until)) is None:
                return None
            run = partial(self._environment.run, over=over, limit_s=limit_s)
            if run(tree, without_filter(check) or check).ended.exit_code != 0:
                return "tested"
        return "green"

    def _suite_without(self, suite: Tested, empty: Mapping[str, bytes], until: float) -> Shown | None:
        trials, ran, counts = suite
        for call, whole in ((trials.near([*empty], ran), False), (trials.whole(ran), True)):
            if call is None:
                continue
            if (limit_s := self._limit(until)) is None:
                return None
            now = trials.rerun(ran, empty, call=call, limit_s=limit_s)
            code = now.ended.exit_code
            if code is None and time.monotonic() >= until:
                return None
            if not whole and counts is not None and (now.counts is None or not now.counts.ran):
                continue
            was_green = ran.ended.exit_code == 0
            shown = shown_without(code, now.counts, counts, was_green=was_green, whole=whole)
            if shown != "green":
                return shown
        return "green"

    def _limit(self, until: float) -> int | None:
        left_s = until - time.monotonic()
        return ceil(min(left_s, self._limit_s)) if left_s > 0 else None


def held_to(shown: Evidence, probed: Emptied, *, runs_this_tree: bool = False) -> Evidence:
    """Take away a PASS that holds without the product files; if the suite runs this tree, report a gap."""
    emptied = probed.shown or ("none" if probed.is_known else "not run")
    unseen = (*shown.unseen, *(f"{path}: no check runs this file" for path in probed.files))
    shown = shown._replace(emptied=emptied, notes=(*shown.notes, *probed.notes), unseen=unseen)
    if probed.shown != "green":
        return shown._replace(unnoticed_by_own=tuple(f"{path}: nothing left in it" for path in probed.own))
    if runs_this_tree:
        return shown._replace(unnoticed=tuple(f"{path}: nothing left in it" for path in probed.files))
    return shown._replace(outcome="INDETERMINATE", why=probed.why)
