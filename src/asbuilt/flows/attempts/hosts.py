"""Start the hosts of agents and wait for results. A running attempt is re-attached, never started twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from asbuilt.journal import runs
from asbuilt.ports import Attempts, Brief, Result

if TYPE_CHECKING:
    from asbuilt.flows.engine.fence import Signals
    from asbuilt.flows.engine.lease import Lease
    from asbuilt.flows.run.record import Record

_LOOK_S: Final = 0.05
_LOOK_AT_MOST_S: Final = 1.0
"""The poll interval grows by 10% a poll up to this, so that 1000 running agents do not use up a core."""
_STARTS: Final = 5
"""Most lost hosts per attempt: without a limit, a host that always dies would cost agent work forever."""


class Hosts(Struct, frozen=True):
    """The hosts of a worker's agents."""

    attempts: Attempts
    awake: Callable[[], AbstractContextManager[object]]
    signals: Signals
    lease: Lease | None

    def after(self, attempt: str, ended_start: int) -> int:
        """Return the start that ended. An agent that already submitted a result is not started again."""
        result = self.attempts.result(attempt)
        return 0 if result is not None and result.ending == "done" else ended_start

    def is_there(self, attempt: str, after: int) -> bool:
        """Return whether an agent is running, or has a result that is not recorded yet."""
        result = self.attempts.result(attempt)
        return self.attempts.alive(attempt) or (result is not None and result.starts > after)

    def await_end(self, record: Record, brief: Brief, *, after: int) -> Result:
        """Start or re-attach an attempt and wait for its end; keep the machine awake meanwhile."""
        if _is_stopped(record) and not self.is_there(brief.attempt, after):
            starts = self.attempts.starts(brief.attempt)
            return Result(ending="cancelled", reason="Stopped before an agent started.", starts=starts)
        self.adopt(record, brief.attempt)
        with self.awake():
            ended = self._ended(record, brief, after=after)
        written = self.attempts.written(brief.attempt) if record.shared else None
        if record.shared is not None and written is not None:
            record.shared.keep_result(brief.attempt, written)
        return ended

    def await_all(self, record: Record, briefs: Sequence[tuple[Brief, int]]) -> list[Result]:
        """Start or re-attach attempts at once, each with the start that ended, and wait for all of them."""
        if not _is_stopped(record):
            for brief, after in briefs:
                self._start(record, brief, after)
        return [self.await_end(record, brief, after=after) for brief, after in briefs]

    def adopt(self, record: Record, attempt: str) -> None:
        """Take the result of an agent that ended on another worker, so that it is not started again."""
        data = record.shared.result(attempt) if record.shared else None
        if data is not None:
            self.attempts.adopt(attempt, data)

    def _ended(self, record: Record, brief: Brief, *, after: int) -> Result:
        """Wait for an attempt's result; a requested stop cancels it.

        Each accepted heartbeat of this worker is passed on to the attempt's host. Without one, the host ends
        the agent before another worker may start one.
        """
        self._start(record, brief, after)
        look_s, last_sign = _LOOK_S, 0
        while (result := self.attempts.result(brief.attempt)) is None:
            if self.lease is None or self.lease.sign != last_sign:
                last_sign = self.lease.sign if self.lease else 0
                self.attempts.heartbeat(brief.attempt)
            if self.signals.is_stopped(record.run.run):
                self.attempts.cancel(brief.attempt)
            if not self.attempts.alive(brief.attempt):
                starts = self.attempts.starts(brief.attempt)
                if starts - after >= _STARTS and self.attempts.result(brief.attempt) is None:
                    return Result(
                        ending="crashed",
                        reason=f"Its host was lost {starts - after} times before the agent ended.",
                        starts=starts,
                    )
                self._start(record, brief, after)
            self.signals.wait(look_s)
            look_s = min(look_s * 1.1, _LOOK_AT_MOST_S)
        return result

    def _start(self, record: Record, brief: Brief, after: int) -> None:
        """Start or re-attach an attempt; a worker that wakes from suspend renews its lease first."""
        if self.lease is not None:
            if not self.lease.is_good:
                self.lease.heartbeat()
            record.hold()
        self.attempts.start(brief, after=after)


def _is_stopped(record: Record) -> bool:
    run = record.run
    with record.store.read() as session:
        now = runs.find(session, run.org, run.repo, run.run)
    return now is not None and now.stop is not None
