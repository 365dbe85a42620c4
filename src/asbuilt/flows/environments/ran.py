"""A command that ran in a check environment, with what its runner reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from asbuilt.proof.counts import from_output, from_report
from asbuilt.proof.evidence import cut_off

if TYPE_CHECKING:
    from asbuilt.ports import Ended
    from asbuilt.proof.counts import Counts
    from asbuilt.proof.trials.origins import Loaded


class Ran(NamedTuple):
    """A command that ran in a rig."""

    command: str
    tree: str
    setup: str
    """Digest of the setup it found."""
    ended: Ended
    report: bytes | None = None
    """What its runner wrote beside its output, if it wrote anything."""
    strays: tuple[Loaded, ...] = ()
    """Modules of the project that were loaded, and never from the checkout."""

    @property
    def cut_off(self) -> str | None:
        """Say by what it was ended before its end; None where it ended itself."""
        return cut_off(self.ended.exit_code, self.ended.output)

    @property
    def reported(self) -> Counts | None:
        """Count by the runner's report."""
        return None if self.report is None else from_report(self.report)

    @property
    def printed(self) -> Counts | None:
        """Count by what the runner printed."""
        return from_output(self.ended.output.decode("utf-8", "replace"), cut=self.ended.truncated)

    @property
    def counts(self) -> Counts | None:
        """Count by the runner's report where it wrote one, else by what it printed."""
        return self.reported or self.printed
