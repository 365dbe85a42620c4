"""Test whether tests run the lines that a phase adds, and notice small changes to them.

Rule: it stays within its time box, and only reports.
"""

from __future__ import annotations

import os
import time
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.flows.environments.files import content_of
from asbuilt.proof.trials.depth import Trial
from asbuilt.proof.trials.mutants import Mutant, is_probed, planned, summary
from asbuilt.proof.trials.recorders import RECORDER, recorder, unrun

if TYPE_CHECKING:
    from asbuilt.flows.environments.check_environment import Rig
    from asbuilt.flows.environments.ran import Ran
    from asbuilt.flows.trials.allowance import Allowance
    from asbuilt.flows.trials.suite import Trials

_TRACED: Final = (".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
_PROCESSES: Final = 200
_RECORDED: Final = 20_000_000
"""Most bytes read of each report; `_PROCESSES` limits the reports."""


class Probed(NamedTuple):
    """Result of a probe as notes, and the number of noticed changes; None: unknown."""

    notes: tuple[str, ...] = ()
    noticed: int | None = None
    unnoticed: tuple[str, ...] = ()
    """The changes that fail no test, as text."""


def lines_not_run(rig: Rig, trials: Trials, suite: Ran, allowance: Allowance) -> tuple[str, ...]:
    """List new lines that are run neither by the phase's tests nor by those that mention its files.

    These tests run again, with a recorder. A run that does not pass shows nothing, and no result decides
    anything.
    """
    sources = {path: told for path, told in trials.trees.read(is_probed).items() if path.endswith(_TRACED)}
    call = trials.near([*sources], suite) if sources and suite.ended.exit_code == 0 else None
    limit_s = allowance.seconds(Trial.LINES) if call is not None else 0.0
    if call is None or not limit_s:
        return ()
    out, folder = rig.report.rpartition("/")[0], RECORDER.partition("/")[0]
    environment = {
        **call.environment,
        "PYTHONPATH": os.pathsep.join(filter(None, (f"{rig.root}/{folder}", rig.python_path))),
        "NODE_V8_COVERAGE": f"{out}/v8",
    }
    recorded = {RECORDER: recorder(rig.root, sources, f"{out}/lines")}
    call = call._replace(environment=environment)
    again = trials.rerun(suite, recorded, call=call, limit_s=ceil(limit_s))
    if again.ended.exit_code != 0:
        return ()
    reports = sorted((rig.out / "v8").glob("*.json"))[:_PROCESSES]
    v8 = [content_of(file, _RECORDED) or b"" for file in reports]
    return unrun(sources, content_of(rig.out / "lines", _RECORDED) or b"", v8, rig.root)


def probe(trials: Trials, suite: Ran, allowance: Allowance) -> Probed:
    """Change new lines one by one and run the phase's own tests, or the suite if it has none.

    Returns nothing if the phase adds no lines that could be changed.
    """
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
    words = tuple(f"{one.words} is not noticed by {by}" for one in unnoticed)
    return Probed(summary(len(noticed), unnoticed, by), len(noticed), words)
