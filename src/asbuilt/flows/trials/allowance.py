"""Time budget of the trials of one phase. `proof.trials.depth` decides its size."""

from __future__ import annotations

import time
from math import ceil, inf

from asbuilt.events.options import Depth
from asbuilt.proof.trials.depth import Trial, is_tight, may_take_s, words_for


class Allowance:
    """The time left for trials, counted from construction."""

    def __init__(self, depth: Depth = "strict") -> None:
        self.depth = depth
        self._began = time.monotonic()
        self._suite_s = 0.0
        self._tests_differ = False
        self._left_out: set[Trial] = set()

    def add_suite(self, took_s: float, *, tests_differ: bool) -> None:
        """Add the time of a suite that ran on the phase's tree."""
        self._suite_s += took_s
        self._tests_differ = self._tests_differ or tests_differ

    @property
    def is_tight(self) -> bool:
        """Whether trials run narrowed if possible."""
        return is_tight(self.depth, self._suite_s)

    def seconds(self, trial: Trial, *, is_narrow: bool = True) -> float:
        """Return the seconds for a trial that starts now; a trial without time is left out."""
        found = may_take_s(
            trial,
            self.depth,
            self._suite_s,
            time.monotonic() - self._began,
            tests_differ=self._tests_differ,
            is_narrow=is_narrow,
        )
        if not found:
            self.leave_out(trial)
        return found

    def leave_out(self, trial: Trial) -> None:
        """Note that a trial did not run to its end."""
        self._left_out.add(trial)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the trials that were left out."""
        return words_for(self._left_out, self.depth)


def limit_of(seconds: float) -> int | None:
    """Return the time limit of a command; None: the usual limit."""
    return None if seconds == inf else max(1, ceil(seconds))
