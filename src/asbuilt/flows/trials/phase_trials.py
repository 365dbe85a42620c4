"""Further trials of a phase whose suites and checks pass: without its files, on its base, with other lines.

Rules: the most informative trials run first, so that those without time are the least informative. Trials of
single lines stay within their time box, and only report.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.flows.environments.results import Ran, content_of
from asbuilt.flows.trials.allowance import Allowance
from asbuilt.flows.trials.emptied import Emptied, Emptying, Tested, Unmissed, held_to
from asbuilt.proof.evidence import IDLE, NO_TEST, SETUP, Evidence
from asbuilt.proof.judgement import overall, without_filter
from asbuilt.proof.trials.depth import Trial
from asbuilt.proof.trials.emptied import listed
from asbuilt.proof.trials.mutants import Mutant, is_probed, planned, summary
from asbuilt.proof.trials.recorders import RECORDER, recorder, unrun

if TYPE_CHECKING:
    from asbuilt.flows.environments.check_environment import CheckEnvironment
    from asbuilt.flows.run.record import Record
    from asbuilt.flows.trials.suite import Trials

_CHEAP_S: Final = 30.0
"""A check that takes longer is not run on the base again."""
_TRACED: Final = (".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
_PROCESSES: Final = 200
_RECORDED: Final = 20_000_000
"""Most bytes read of each report; `_PROCESSES` limits the reports."""


class Further:
    """The trials of one phase; `tried` are the suites that just ran for it."""

    def __init__(
        self, record: Record, environment: CheckEnvironment, tried: Sequence[Tested], allowance: Allowance
    ) -> None:
        self._record = record
        self._environment = environment
        self._tried = tried
        self._allowance = allowance

    def held(
        self, shown: Sequence[Evidence], checks: Sequence[str], *, base: str, start: str
    ) -> list[Evidence]:
        """Apply every trial that there is time for to evidence; `base` is the phase's, `start` the run's."""
        emptying = Emptying(self._environment, self._tried, self._allowance)
        found = emptying.phase(checks) if self._tried else None
        if found is not None:
            shown = [self._emptied(check, found, start) if _is_fresh(check) else check for check in shown]
        if overall(check.outcome for check in shown) != "PASS":
            return [*shown]
        shown = [self._before(check, base) for check in shown]
        if found is None or overall(check.outcome for check in shown) != "PASS":
            return shown
        suites = iter(self._tried)
        shown = [self._probed(check, next(suites)) if _is_fresh(check) else check for check in shown]
        if not any(check.noticed or check.unnoticed or check.unnoticed_by_own for check in shown):
            survived, own = emptying.survivors(checks)
            head = shown[0]._replace(
                unnoticed=tuple(mutant.words for mutant in survived),
                unnoticed_by_own=tuple(mutant.words for mutant in own),
            )
            shown = [head, *shown[1:]]
        is_shown = any(check.proves for check in shown)
        if not any(check.idle for check in shown):
            # Beside new tests that the old code passes, a check may fail there only for lack of their file.
            is_shown |= any(check.before == "fails" for check in shown)
            # Old tests notice every change of new lines if these only have another form.
            is_shown |= not any(check.unseen for check in shown)
        left = emptying.parts(checks, is_shown=is_shown) if found.shown in ("tested", "built") else Unmissed()
        unrun = (f"no check runs this file: {', '.join(left.files)}",) if left.files else ()
        first = next(at for at, check in enumerate(shown) if _is_fresh(check))
        shown[first] = shown[first]._replace(
            notes=(*shown[first].notes, *unrun, *self._allowance.notes),
            unseen=(*shown[first].unseen, *(f"{path}: no check runs this file" for path in left.files)),
            unnoticed=(*shown[first].unnoticed, *left.promised),
        )
        return shown

    def _emptied(self, suite: Evidence, probed: Emptied, start: str) -> Evidence:
        """Apply the probe to a suite; it runs this tree if it missed files of the base in this setup."""
        before = (check for check in self._record.shown() if check.tree == start and check.name == suite.name)
        is_ours = any(check.setup == suite.setup and check.emptied in ("tested", "built") for check in before)
        return held_to(suite, probed, runs_this_tree=is_ours)

    def _before(self, check: Evidence, base: str) -> Evidence:
        """Find the result of a phase's own check on its base: a check that passes there proves nothing."""
        if check.is_suite or check.name == SETUP:
            return check
        code = self._code_before(check, base)
        if code is None:
            return check
        if code != 0:
            counts = self._record.counts_of(check)
            if counts is not None and not counts.ran:
                return check._replace(outcome="NOT_RUN", why=NO_TEST, before="fails")
            return check._replace(before="fails")
        return check._replace(before="passes", notes=(*check.notes, IDLE))

    def _code_before(self, check: Evidence, base: str) -> int | None:
        """Return its exit code there, from earlier evidence or, if that is cheap, from a run."""
        same = (check.argv, base, check.setup)
        for evidence in self._record.shown() if without_filter(check.name) is None else ():
            if (
                (evidence.argv, evidence.tree, evidence.setup) == same
                and not evidence.folder
                and not evidence.put_back
            ):
                return evidence.exit_code
        if check.duration_s > _CHEAP_S:
            return None
        left_s = self._allowance.seconds(Trial.OWN_CHECKS)
        if check.duration_s > left_s:
            self._allowance.leave_out(Trial.OWN_CHECKS)
            return None
        code = self._environment.run(base, without_filter(check.name) or check.name).ended.exit_code
        return 1 if code is None else code

    def _probed(self, shown: Evidence, suite: Tested) -> Evidence:
        if suite.counts is None or not self._record.run.options.probe:
            return shown
        unrun = lines_not_run(self._environment, suite.trials, suite.ran, self._allowance)
        unrun_notes = (f"new lines that no test near them runs: {listed(unrun)}",) if unrun else ()
        probed = probe(suite.trials, suite.ran, self._allowance)
        unseen = (*(f"{place}: no test near them runs these lines" for place in unrun), *probed.unnoticed)
        return shown._replace(
            noticed=probed.noticed,
            notes=(*shown.notes, *unrun_notes, *probed.notes),
            unseen=(*shown.unseen, *unseen),
        )


def _is_fresh(check: Evidence) -> bool:
    return check.folder is not None and not check.reused


class Probed(NamedTuple):
    """Result of a probe as notes, and the number of noticed changes; None: unknown."""

    notes: tuple[str, ...] = ()
    noticed: int | None = None
    unnoticed: tuple[str, ...] = ()
    """The changes that fail no test, as text."""


def lines_not_run(
    environment: CheckEnvironment, trials: Trials, suite: Ran, allowance: Allowance
) -> tuple[str, ...]:
    """List new lines that are run neither by the phase's tests nor by those that mention its files.

    These tests run again, with a recorder. A run that does not pass shows nothing, and no result decides
    anything.
    """
    sources = {
        path: source for path, source in trials.trees.read(is_probed).items() if path.endswith(_TRACED)
    }
    call = trials.near([*sources], suite) if sources and suite.ended.exit_code == 0 else None
    limit_s = allowance.seconds(Trial.LINES) if call is not None else 0.0
    if call is None or not limit_s:
        return ()
    out, folder = environment.report.rpartition("/")[0], RECORDER.partition("/")[0]
    variables = {
        **call.environment,
        "PYTHONPATH": os.pathsep.join(
            filter(None, (f"{environment.root}/{folder}", environment.python_path))
        ),
        "NODE_V8_COVERAGE": f"{out}/v8",
    }
    recorded = {RECORDER: recorder(environment.root, sources, f"{out}/lines")}
    call = call._replace(environment=variables)
    again = trials.rerun(suite, recorded, call=call, limit_s=ceil(limit_s))
    if again.ended.exit_code != 0:
        return ()
    reports = sorted((environment.out / "v8").glob("*.json"))[:_PROCESSES]
    v8 = [content_of(file, _RECORDED) or b"" for file in reports]
    return unrun(sources, content_of(environment.out / "lines", _RECORDED) or b"", v8, environment.root)


def probe(trials: Trials, suite: Ran, allowance: Allowance) -> Probed:
    """Change new lines one by one and run the phase's tests, or the suite; nothing if no line can change."""
    sources = trials.trees.read(is_probed)
    mutants = planned(sources, suite.tree)
    call = trials.own_tests(suite) if mutants else None
    # If old failures make the suite red, its exit code does not show a change.
    if not mutants or (call is None and suite.ended.exit_code != 0):
        return Probed()
    limit_s, began, last_s = allowance.seconds(Trial.PROBE, is_narrow=call is not None), time.monotonic(), 0.0
    if not limit_s:
        return Probed()
    noticed: list[Mutant] = []
    unnoticed: list[Mutant] = []
    for mutant in mutants:
        # The run without any change comes last, and its time counts too.
        left_s = limit_s - (time.monotonic() - began) - (last_s if call else 0)
        if left_s <= 0:
            break
        _, source = sources[mutant.path]
        changed = {mutant.path: mutant.applied(source)}
        ran = trials.rerun(suite, changed, call=call, limit_s=ceil(left_s))
        if ran.ended.exit_code is None:
            break
        last_s = max(last_s, ran.ended.duration_s)
        (noticed if ran.ended.exit_code else unnoticed).append(mutant)
    if not noticed and not unnoticed:
        return Probed((f"no change to the new lines was tried: the box of {limit_s:.0f} s was over",))
    if call and not unnoticed:
        alone = trials.rerun(suite, {}, call=call)
        if alone.ended.exit_code != 0:
            return Probed(("no change to the new lines was tried: the phase's own tests do not pass alone",))
    by = "the phase's own tests" if call else "the tests"
    words = tuple(f"{mutation.words} is not noticed by {by}" for mutation in unnoticed)
    return Probed(summary(len(noticed), unnoticed, by), len(noticed), words)
