"""Attempts whose hosts are part of the world: they live on when a worker dies. The port `Attempts`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from asbuilt.errors import HostFailed
from asbuilt.ports import Ending, Result
from tests.simulator.model_git import LARGE
from tests.simulator.stage import Unlawful, stamp

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from asbuilt.ports import Brief
    from tests.simulator.model_git import Files, Model
    from tests.simulator.stage import Actor, Stage
    from tests.simulator.story import Manner, Story

_ABANDON_S: Final = 60.0
_LIMIT_S: Final = 3_000.0


@dataclass(slots=True)
class Host:
    """One start of one attempt."""

    brief: Brief
    number: int
    manner: Manner
    beat_at: float
    keeper: Actor | None = None
    """Who waits for it, and beats as long as they wait."""


class Hosts:
    """All attempts of a world."""

    def __init__(self, stage: Stage, model: Model, story: Story, is_full: Callable[[], bool]) -> None:
        self._stage = stage
        self._model = model
        self._story = story
        self._is_full = is_full
        self.living: dict[str, Host] = {}
        self._results: dict[str, Result] = {}
        self._starts: dict[str, int] = {}
        self._texts: dict[tuple[str, str], str] = {}
        self.judged: dict[str, Result] = {}
        """How verifiers ended, by the attempt whose tree they judged."""

    def start(self, brief: Brief, *, after: int = 0) -> None:
        """Start the attempt; a no-op when it runs or has ended after start `after`."""
        self._stage.point()
        ended = self._results.get(brief.attempt)
        if ended is not None and ended.starts > after:
            return
        self._results.pop(brief.attempt, None)
        self.beat(brief.attempt)
        self._stage.point()
        if brief.attempt in self.living:
            return
        if self._is_full():
            raise HostFailed("the host did not come up", why="The disk is full.", next_step="Make room.")
        if brief.attempt in self._results:
            # The host itself looks, too, and leaves what it finds.
            return
        self._begin(brief)
        self._stage.point()

    def result(self, attempt: str) -> Result | None:
        """Return how it ended."""
        self._stage.point()
        return self._results.get(attempt)

    def beat(self, attempt: str) -> None:
        """Tell its host that somebody still waits for it."""
        if attempt in self.living:
            host = self.living[attempt]
            host.beat_at, host.keeper = self._stage.now, self._stage.current

    def alive(self, attempt: str) -> bool:
        """Tell whether its host lives."""
        return attempt in self.living

    def cancel(self, attempt: str) -> None:
        """Ask it to end; it takes a moment."""
        host = self.living.get(attempt)
        if host is not None:
            self._stage.later(2.0, lambda: self._end(host, "cancelled"))

    def starts(self, attempt: str) -> int:
        """Tell how often a host has started it."""
        return self._starts.get(attempt, 0)

    def events(self, attempt: str, after: int = 0) -> tuple[list[dict[str, object]], int]:
        """Nobody looks on."""
        raise NotImplementedError(attempt, after)

    def last_heard(self, attempt: str) -> datetime | None:
        """Nobody looks on."""
        raise NotImplementedError(attempt)

    def is_busy(self, path: Path) -> bool:
        """Tell whether somebody writes in a workspace."""
        return any(host.brief.writable and host.brief.workspace == path for host in self.living.values())

    def lose(self) -> None:
        """Kill a host with all that it has started; no result is left."""
        for attempt in [*self.living][:1]:
            self._stage.tell(f"the host of {attempt} dies")
            del self.living[attempt]

    def passes(self, until: float) -> None:
        """Let those end for whom nobody has waited for a while."""
        for host in [*self.living.values()]:
            keeper = host.keeper
            is_kept = keeper is not None and keeper.polls and keeper in self._stage.actors
            if is_kept and keeper is not None and not (keeper.process and keeper.process.frozen):
                host.beat_at = until
            elif host.beat_at + _ABANDON_S < until:
                self._end(host, "abandoned")

    def _begin(self, brief: Brief) -> None:
        attempt = brief.attempt
        run = attempt.split(".")[0]
        others = [one for one in self.living if one.split(".")[0] == run]
        if others:
            raise Unlawful(f"{attempt} begins while {others} live: one attempt a run")
        number = self._starts[attempt] = self._starts.get(attempt, 0) + 1
        judged = attempt.partition("v")[0] if brief.role == "verify" else attempt
        text = self._texts.setdefault((run, judged), brief.text)
        if text != brief.text:
            raise Unlawful(f"{attempt} is told another text than the one it is judged by")
        manner = self._story.manner(attempt, brief.role, number)
        host = Host(brief, number, manner, self._stage.now, self._stage.current)
        self.living[attempt] = host
        self._stage.tell(f"{attempt} starts ({number}): {manner.kind}, {manner.lasts_s:.0f} s")
        if brief.writable:
            self._files(host).setdefault(_made_by(brief), b"half")
        self._stage.later(manner.lasts_s, lambda: self._end(host, None))

    def _end(self, host: Host, ending: Ending | None) -> None:
        brief, manner = host.brief, host.manner
        if self.living.get(brief.attempt) is not host:
            return
        del self.living[brief.attempt]
        kind: Ending = ending or (manner.kind if manner.kind in get_args(Ending) else "done")
        verdict: tuple[tuple[int, str, str], ...] = ()
        if kind == "done" and brief.writable:
            self._work(host)
        elif kind == "done":
            verdict = self._verdict(host)
        until = stamp(self._stage.now + self._stage.skew + _LIMIT_S) if kind == "limited" else None
        result = Result(
            ending=kind, reason=f"It {kind}.", says="done", verdict=verdict, resets_at=until,
            cost_usd=0.5 * host.number, starts=host.number, ring=self._story.ring,
        )  # fmt: skip
        self._results[brief.attempt] = result
        if brief.role == "verify":
            self.judged[brief.attempt.partition("v")[0]] = result
        self._stage.tell(f"{brief.attempt} ends: {kind}")

    def _files(self, host: Host) -> Files:
        return self._model.spaces[host.brief.workspace].files

    def _work(self, host: Host) -> None:
        files, made = self._files(host), _made_by(host.brief)
        match host.manner.kind:
            case "nothing":
                files.pop(made, None)
                return
            case "wrong":
                files[made] = b"wrong"
                return
            case "breaks":
                files["broken"] = b"yes"
            case "large":
                files["large"] = LARGE
            case "meddles":
                files[f"{made.partition('-')[0]}.md"] = b"# Nothing is left to do\n"
            case _:
                files.pop("broken", None)
        files[made] = b"right"

    def _verdict(self, host: Host) -> tuple[tuple[int, str, str], ...]:
        items = range(1, len(host.brief.items) + 1)
        match host.manner.kind:
            case "silent":
                return ()
            case "fail":
                return tuple((item, "FAIL", "it is not there") for item in items)
            case "lie":
                return tuple((item, "PASS", "seen") for item in items)
            case _:
                is_right = self._files(host).get(_made_by(host.brief)) == b"right"
                return tuple((item, "PASS" if is_right else "FAIL", "seen") for item in items)


def _made_by(brief: Brief) -> str:
    """Name the file that a phase is to make."""
    return brief.items[0].split("`")[1]
