"""Possible test commands of a project that has none set, and their results on the base. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.proof.judgement import is_red
from asbuilt.proof.projects.finding import find
from asbuilt.proof.projects.model import Project, Suite

if TYPE_CHECKING:
    from asbuilt.proof.counts import Counts

_MOST: Final = 4


class Way(NamedTuple):
    """One way to run all tests: one command, or one for each part of the project."""

    suites: tuple[Suite, ...]
    found: tuple[str, ...] = ()
    """The files that led to it; empty for a command that the user typed."""

    @property
    def shown(self) -> str:
        """The commands as shown to people."""
        return " + ".join(suite.shown for suite in self.suites)


class Ran(NamedTuple):
    """The result of one suite on the base."""

    exit_code: int | None
    """None: the time limit ended it."""
    counts: Counts | None
    lines: tuple[str, ...] = ()
    by_exit: bool = False
    """Whether only its exit code counts."""
    missing: str = ""
    """The program that is not installed."""


class Seen(NamedTuple):
    """A way and its results on the base."""

    way: Way
    ran: tuple[Ran, ...] = ()
    setup: str = ""
    """The setup command that failed; empty if it passed or there is none."""
    why: str = ""
    has_files: bool = True
    """Whether the tree has test files."""

    @property
    def is_usable(self) -> bool:
        """Whether it can prove work: in every suite a test passes, and failing tests have names."""
        return bool(self.ran) and not self.setup and (all(map(_proves, self.ran)) or self.has_none_yet)

    @property
    def has_none_yet(self) -> bool:
        """Whether there is no test to run: it can prove work once the work adds tests."""
        return not self.has_files and not self.setup and all(map(_is_empty, self.ran))

    @property
    def is_green(self) -> bool:
        """Whether it can prove work, and no test fails."""
        return self.is_usable and not any(ran.counts is not None and ran.counts.failed for ran in self.ran)

    @property
    def is_uncounted(self) -> bool:
        """Whether every suite passes, but the output of one does not show which tests ran."""
        passes = all(_proves(ran) or (ran.exit_code == 0 and ran.counts is None) for ran in self.ran)
        return bool(self.ran) and not self.setup and passes and not self.is_usable

    @property
    def is_red(self) -> bool:
        """Whether every test of a suite fails."""
        counted = (ran.counts for ran in self.ran if not self.setup)
        return any(counts is not None and is_red(counts.ran, counts.failed) for counts in counted)

    @property
    def by_exit_code(self) -> Seen:
        """The same result, with the exit code alone for each suite whose tests cannot be counted."""
        suites, ran = list(self.way.suites), list(self.ran)
        for at, trial_run in enumerate(self.ran):
            if not _proves(trial_run):
                suites[at], ran[at] = (
                    suites[at]._replace(counts="exit-code"),
                    trial_run._replace(by_exit=True),
                )
        return self._replace(way=self.way._replace(suites=tuple(suites)), ran=tuple(ran))

    @property
    def words(self) -> str:
        """The result in a few words."""
        if self.why:
            return self.why
        if self.setup:
            return f"setup `{self.setup}` failed: {_ending(self.ran[-1])}"
        if self.has_none_yet:
            return "no tests yet; it counts once there are some"
        unclear = next((trial_run for trial_run in self.ran if not _proves(trial_run)), None)
        if unclear is not None:
            return _ending(unclear)
        counted = [trial_run.counts for trial_run in self.ran if trial_run.counts is not None]
        if not counted:
            return "exit 0, by exit code alone"
        ran, failed, skipped = (
            sum(getattr(counts, name) for counts in counted) for name in ("ran", "failed", "skipped")
        )
        return f"ran {ran}, failed {failed}" + (f", skipped {skipped}" if skipped else "")

    @property
    def lines(self) -> tuple[str, ...]:
        """The last lines of the first suite that proves nothing; empty if every suite does."""
        return next((ran.lines for ran in self.ran if self.setup or not _proves(ran)), ())


def ways(project: Project) -> tuple[Way, ...]:
    """List the ways to test a project that its files suggest, at most 4.

    The first way has the suites of all folders. Each further way replaces the command of one folder, so that
    no way leaves out a part of the project.
    """
    found = find(project)
    listed = [Way(found.suites, found.signs)] if found.suites else []
    for other in found.others:
        at = next((at for at, suite in enumerate(found.suites) if suite.folder == other.folder), None)
        if at is not None:
            listed.append(Way((*found.suites[:at], other, *found.suites[at + 1 :])))
    return tuple(dict.fromkeys(listed))[:_MOST]


def best(seen: Sequence[Seen]) -> Seen | None:
    """Return the first usable way. A later way with no failures may only run fewer tests."""
    return next((observed for observed in seen if observed.is_usable), None)


def _proves(ran: Ran) -> bool:
    counts = ran.counts
    if ran.by_exit:
        return ran.exit_code == 0
    # If no test passes, the tests could not be loaded: runners count that as a failed test, too.
    if counts is None or counts.ran <= counts.failed or ran.exit_code is None:
        return False
    return not counts.failed or bool(counts.failures)


def _is_empty(ran: Ran) -> bool:
    return ran.counts is not None and not ran.counts.collected and ran.exit_code is not None


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
