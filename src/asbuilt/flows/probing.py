"""Try whether tests notice small changes to the lines that a phase adds.

The one rule: it takes no longer than its box, and reports what it found.
"""

from __future__ import annotations

import time
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.proof.depth import Trial
from asbuilt.proof.mutants import is_probed, planned, summary

if TYPE_CHECKING:
    from asbuilt.flows.checks.allowance import Allowance
    from asbuilt.flows.checks.ran import Ran
    from asbuilt.flows.rigs import Rig
    from asbuilt.flows.trials import Trials
    from asbuilt.proof.mutants import Mutant


class Probed(NamedTuple):
    """What came of it, in words, and how many changes were noticed; None: that is not known."""

    notes: tuple[str, ...] = ()
    noticed: int | None = None


def probe(rig: Rig, trials: Trials, suite: Ran, allowance: Allowance) -> Probed:
    """Change one new line after the other and run the phase's own tests, or the suite where it has none.

    Returns nothing where the phase adds no lines that could be changed.
    """
    tree, sources = suite.tree, trials.read(is_probed)
    mutants = planned(sources, tree)
    call, over = (trials.own_tests(suite), trials.over_tests) if mutants else (None, {})
    # Where old failures make the suite red, a change would not show by its exit code.
    if not mutants or (call is None and suite.ended.exit_code != 0):
        return Probed()
    limit_s, began, last_s = allowance.seconds(Trial.PROBE, is_narrow=call is not None), time.monotonic(), 0.0
    if not limit_s:
        return Probed()
    noticed: list[Mutant] = []
    unnoticed: list[Mutant] = []
    for mutant in mutants:
        # The run without any change comes last, and is part of the box.
        left_s = limit_s - (time.monotonic() - began) - (last_s if call else 0)
        if left_s <= 0:
            break
        _, source = sources[mutant.path]
        changed = {**over, mutant.path: mutant.applied(source)}
        ran = rig.run(
            tree, suite.command, over=changed, call=call, limit_s=ceil(left_s), folder=trials.folder
        )
        if ran.ended.exit_code is None:
            break
        last_s = max(last_s, ran.ended.duration_s)
        (noticed if ran.ended.exit_code else unnoticed).append(mutant)
    if not noticed and not unnoticed:
        return Probed((f"no change to the new lines was tried: the box of {limit_s:.0f} s was over",))
    if call and not unnoticed:
        alone = rig.run(tree, suite.command, over=over, call=call, folder=trials.folder)
        if alone.ended.exit_code != 0:
            return Probed(("no change to the new lines was tried: the phase's own tests do not pass alone",))
    by = "the phase's own tests" if call else "the tests"
    return Probed(summary(len(noticed), unnoticed, by), len(noticed))
