"""A command that ran in a check environment, with what its runner reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from asbuilt.proof.counts import Counts, from_output, from_report
from asbuilt.proof.evidence import cut_off

if TYPE_CHECKING:
    from asbuilt.ports import Ended
    from asbuilt.proof.trials.recorders import Loaded


class Ran(NamedTuple):
    """A command that ran in a check environment."""

    command: str
    tree: str
    setup: str
    """Digest of its setup."""
    ended: Ended
    report: bytes | None = None
    """The runner's report; None if it wrote none."""
    strays: tuple[Loaded, ...] = ()
    """Modules of the project that were loaded, but never from the checkout."""

    @property
    def cut_off(self) -> str | None:
        """What ended the command early; None if it ended itself."""
        return cut_off(self.ended.exit_code, self.ended.output)

    @property
    def reported(self) -> Counts | None:
        """Counts from the runner's report."""
        return None if self.report is None else from_report(self.report)

    @property
    def printed(self) -> Counts | None:
        """Counts from the runner's output."""
        return from_output(self.ended.output.decode("utf-8", "replace"), cut=self.ended.truncated)

    @property
    def counts(self) -> Counts | None:
        """Counts from the runner's report if it wrote one, else from its output."""
        return self.reported or self.printed
