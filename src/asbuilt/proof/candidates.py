"""Ways to test a project that nobody has set yet, and what each did when it ran. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.proof.projects.finding import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.proof.counts import Counts
    from asbuilt.proof.projects.model import Project, Suite

_MOST: Final = 4


class Way(NamedTuple):
    """One way to run all tests: a command, or one command for each part of the project."""

    suites: tuple[Suite, ...]
    found: tuple[str, ...] = ()
    """The files that led to it; none for a command that a person typed."""

    @property
    def shown(self) -> str:
        """The commands, as a person reads them."""
        return " + ".join(suite.shown for suite in self.suites)


class Ran(NamedTuple):
    """What one suite did on the base."""

    exit_code: int | None
    """None: it was ended by its time limit."""
    counts: Counts | None
    lines: tuple[str, ...] = ()
    """The last lines of its output."""
    by_exit: bool = False
    """Whether its exit code alone is to count."""


class Seen(NamedTuple):
    """A way, and what it did on the base just now."""

    way: Way
    ran: tuple[Ran, ...] = ()
    setup: str = ""
    """The setup command that failed; empty: it passed, or there is none."""
    why: str = ""
    """Why nothing ran."""

    @property
    def is_usable(self) -> bool:
        """Whether it can prove work: in every suite a test passes, and tests that fail have names."""
        return bool(self.ran) and not self.setup and all(map(_proves, self.ran))

    @property
    def is_uncounted(self) -> bool:
        """Whether every suite passes, and the output of one does not show which tests ran."""
        passes = all(_proves(one) or (one.exit_code == 0 and one.counts is None) for one in self.ran)
        return bool(self.ran) and not self.setup and passes and not self.is_usable

    @property
    def words(self) -> str:
        """What it did, in a few words."""
        if self.why:
            return self.why
        if self.setup:
            return f"setup `{self.setup}` failed: {_ending(self.ran[-1])}"
        unclear = next((one for one in self.ran if not _proves(one)), None)
        if unclear is not None:
            return _ending(unclear)
        counted = [one.counts for one in self.ran if one.counts is not None]
        if not counted:
            return "exit 0, by exit code alone"
        ran, failed, skipped = (
            sum(getattr(one, name) for one in counted) for name in ("ran", "failed", "skipped")
        )
        return f"ran {ran}, failed {failed}" + (f", skipped {skipped}" if skipped else "")

    @property
    def lines(self) -> tuple[str, ...]:
        """The last lines of the suite that proves nothing; none where every one does."""
        return next((one.lines for one in self.ran if self.setup or not _proves(one)), ())


def ways(project: Project) -> tuple[Way, ...]:
    """List the ways to test a project that its files point to: the suites of all folders together.

    Every further way has another command in one folder, so that none leaves out a part of the project.
    """
    found = find(project)
    listed = [Way(found.suites, found.signs)] if found.suites else []
    for other in found.others:
        at = next((at for at, suite in enumerate(found.suites) if suite.folder == other.folder), None)
        if at is not None:
            listed.append(Way((*found.suites[:at], other, *found.suites[at + 1 :])))
    return tuple(dict.fromkeys(listed))[:_MOST]


def best(seen: Sequence[Seen]) -> Seen | None:
    """Choose the first way that is usable. A later one that is green may only run fewer tests."""
    return next((one for one in seen if one.is_usable), None)


def _proves(ran: Ran) -> bool:
    counts = ran.counts
    if ran.by_exit:
        return ran.exit_code == 0
    # Where none passes, the tests could not be loaded: runners count that as a failed test, too.
    if counts is None or counts.ran <= counts.failed or ran.exit_code is None:
        return False
    return not counts.failed or bool(counts.failures)


def _ending(ran: Ran) -> str:
    last = ran.lines[-1] if ran.lines else ""
    if ran.exit_code is None:
        return "ended by its time limit"
    if ran.counts is not None and not ran.counts.ran:
        return f"exit {ran.exit_code}, no test ran"
    if ran.counts is not None and ran.counts.ran == ran.counts.failed:
        return f"exit {ran.exit_code}, all {ran.counts.ran} fail" + (f": {last}" if last else "")
    if ran.counts is not None and ran.counts.failed:
        return f"{ran.counts.failed} of {ran.counts.ran} fail, and the output does not name them"
    if ran.exit_code == 0:
        return "exit 0, and the output does not say how many tests ran"
    return f"exit {ran.exit_code}" + (f": {last}" if last else "")
