"""Attempts whose hosts are part of the world. The one rule: they live on when a worker dies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from asbuilt.errors import HostFailed
from asbuilt.events.event import Cause
from asbuilt.lifecycle.run.agent_stops import ending_of
from asbuilt.lifecycle.run.facts import WHOLE
from asbuilt.ports import Ending, Result
from asbuilt.proof.opinion import Entry, Line, Opinion
from tests.simulator.authored import handed_in
from tests.simulator.durable import TIMES
from tests.simulator.model_spaces import LARGE
from tests.simulator.stage import Unlawful, stamp

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from asbuilt.ports import Brief
    from tests.simulator.model_git import Files, Model
    from tests.simulator.stage import Actor, Stage
    from tests.simulator.story import Manner, Story

_LIMIT_S: Final = 3_000.0
_ENDINGS: Final[dict[str, Ending]] = {one: one for one in get_args(Ending)}
"""Manners that are endings; all others come to a good one."""
_NOTHING_USD: Final = 0.01
"""What an attempt is given whose run has nothing left."""
_CAUSES: Final[dict[str, Cause]] = {one: one for one in get_args(Cause)}
"""Manners that are causes to stop before the work is done."""


@dataclass(slots=True)
class Host:
    """One start of one attempt."""

    name: str
    """The folder of its attempt: each worker has its own."""
    brief: Brief
    number: int
    manner: Manner
    beat_at: float
    keeper: Actor | None = None
    """Who waits for it, and beats as long as they wait."""


class Hosts:
    """All hosts of a world, whoever has started them."""

    def __init__(self, stage: Stage, model: Model, story: Story) -> None:
        self._stage = stage
        self._model = model
        self._story = story
        self.living: dict[str, Host] = {}
        self.is_current: Callable[[], bool] = lambda: True
        """Tell whether whoever acts now goes through a segment that is open."""
        self.are_beside: Callable[[str, str], bool] = lambda _one, _other: False
        """Tell whether two attempts are in lanes of their own."""
        self.results: dict[str, Result] = {}
        self.starts: dict[str, int] = {}
        self._texts: dict[tuple[str, str], str] = {}
        self.judged: dict[str, Result] = {}
        """How verifiers ended, by the attempt whose tree they judged."""

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
            if not self._story.is_fleet and self._is_kept(host):
                host.beat_at = until
            elif host.beat_at + (TIMES.stop_s if self._story.is_fleet else TIMES.heartbeat_s) < until:
                self.end(host, "abandoned")

    def _is_kept(self, host: Host) -> bool:
        """Tell whether somebody waits for it; one for whom nobody does soon ends by itself."""
        keeper = host.keeper
        if keeper is None or not keeper.polls or keeper not in self._stage.actors:
            return False
        return keeper.process is None or not keeper.process.frozen

    def begin(self, name: str, brief: Brief) -> None:
        """Let a host begin."""
        attempt = brief.attempt
        run = attempt.split(".")[0]
        others = [
            one
            for one, host in self.living.items()
            if host.brief.attempt.split(".")[0] == run and self._is_kept(host)
        ]
        # Who was stopped on the very way to its agent starts one that nobody will wait for.
        clashing = [one for one in others if not self.are_beside(one.partition("/")[2], attempt)]
        if clashing and self.is_current():
            raise Unlawful(f"{attempt} begins while {clashing} live: one attempt a lane")
        budget = brief.program.budget_usd
        if budget is not None and budget <= _NOTHING_USD:
            raise Unlawful(f"{attempt} begins and has nothing left of what its run may spend")
        number = self.starts[name] = self.starts.get(name, 0) + 1
        judged = attempt.partition("v")[0] if brief.role == "verify" else attempt
        text = self._texts.setdefault((run, judged), brief.text)
        if text != brief.text:
            raise Unlawful(f"{attempt} is told another text than the one it is judged by")
        manner = self._story.manner(attempt, brief.role, number)
        host = Host(name, brief, number, manner, self._stage.now, self._stage.current)
        self.living[name] = host
        self._stage.tell(f"{attempt} starts ({number}): {manner.kind}, {manner.lasts_s:.0f} s")
        if brief.writable:
            self._files(host).setdefault(_made_by(brief), b"half")
        self._stage.later(manner.lasts_s, lambda: self.end(host, None))

    def end(self, host: Host, ending: Ending | None) -> None:
        """Let a host end: as it was to, or before its time."""
        brief, manner = host.brief, host.manner
        if self.living.get(host.name) is not host:
            return
        del self.living[host.name]
        cause = _CAUSES.get(manner.kind) if ending is None else None
        kind: Ending = ending or (ending_of(cause) if cause else _ENDINGS.get(manner.kind, "done"))
        verdict: Opinion | None = None
        says = "done"
        if kind == "done" and brief.role in ("plan", "critique"):
            says = handed_in(self._story.seed, brief, manner.kind)
        elif kind == "done" and brief.writable:
            self._work(host)
        elif kind == "done":
            verdict = self._verdict(host)
        until = stamp(self._stage.now + self._stage.skew + _LIMIT_S) if kind == "limited" else None
        result = Result(
            ending=kind, reason=f"It {kind}.", cause=cause, says=says, verdict=verdict, resets_at=until,
            cost_usd=0.5 * host.number, starts=host.number, ring=self._story.ring,
        )  # fmt: skip
        self.results[host.name] = result
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
        if len(odd := [name for name in files if name.startswith("odd-")]) > 1:
            del files[odd[-1]]
        if b"<<<<<<< " in files.get("shared", b""):
            files["shared"] = b"both"
        elif host.brief.role == "implement" and _lanes(self._story, made) > 1:
            match self._story.clash(host.brief.attempt):
                case "conflict":
                    files["shared"] = made.encode()
                case "red":
                    files[f"odd-{made}"] = b"odd"
                case _:
                    pass

    def _verdict(self, host: Host) -> Opinion | None:
        brief, files = host.brief, self._files(host)
        made = brief.changed[0] if brief.phase == WHOLE else _made_by(brief)
        match host.manner.kind:
            case "silent":
                return None
            case "fail":
                outcome = "FAIL"
            case "lie":
                outcome = "PASS"
            case _:
                is_right = (
                    b"wrong" not in files.values() if brief.phase == WHOLE else files.get(made) == b"right"
                )
                outcome = "PASS" if is_right else "FAIL"
        cited = (Line(made, 1),) if outcome == "PASS" else ()
        items = range(1, len(host.brief.items) + 1)
        return Opinion(host.brief.intent, tuple(Entry(item, outcome, "seen", cited) for item in items))


class Attempts:
    """The attempts of one worker's folder. The port `Attempts`."""

    def __init__(self, stage: Stage, hosts: Hosts, site: str, is_full: Callable[[], bool]) -> None:
        self._stage = stage
        self._hosts = hosts
        self._site = site
        self._is_full = is_full

    def start(self, brief: Brief, *, after: int = 0) -> None:
        """Start the attempt; a no-op when it runs or has ended after start `after`."""
        hosts, name = self._hosts, self._name(brief.attempt)
        self._stage.point()
        ended = hosts.results.get(name)
        if ended is not None and ended.starts > after:
            return
        hosts.results.pop(name, None)
        self.heartbeat(brief.attempt)
        self._stage.point()
        if name in hosts.living:
            return
        if self._is_full():
            raise HostFailed("the host did not come up", why="The disk is full.", next_step="Make room.")
        if name in hosts.results:
            # The host itself looks, too, and leaves what it finds.
            return
        # Starts on another machine count too.
        hosts.starts[name] = max(hosts.starts.get(name, 0), after)
        hosts.begin(name, brief)
        self._stage.point()

    def result(self, attempt: str) -> Result | None:
        """Return how it ended."""
        self._stage.point()
        return self._hosts.results.get(self._name(attempt))

    def written(self, attempt: str) -> bytes | None:
        """Have nothing for other machines: the simulated workers share no remote."""
        del attempt
        return None

    def adopt(self, attempt: str, data: bytes) -> None:
        """Take nothing from other machines."""
        raise AssertionError(attempt, data)

    def heartbeat(self, attempt: str) -> None:
        """Tell its host that somebody still waits for it."""
        host = self._hosts.living.get(self._name(attempt))
        if host is not None:
            host.beat_at, host.keeper = self._stage.now, self._stage.current

    def alive(self, attempt: str) -> bool:
        """Tell whether its host lives."""
        return self._name(attempt) in self._hosts.living

    def cancel(self, attempt: str) -> None:
        """Ask it to end; it takes a moment."""
        host = self._hosts.living.get(self._name(attempt))
        if host is not None:
            self._stage.later(2.0, lambda: self._hosts.end(host, "cancelled"))

    def starts(self, attempt: str) -> int:
        """Tell how often a host has started it."""
        return self._hosts.starts.get(self._name(attempt), 0)

    def events(self, attempt: str, after: int = 0) -> tuple[list[dict[str, object]], int]:
        """Nobody looks on."""
        raise NotImplementedError(attempt, after)

    def last_activity(self, attempt: str) -> datetime | None:
        """Nobody looks on."""
        raise NotImplementedError(attempt)

    def _name(self, attempt: str) -> str:
        return f"{self._site}/{attempt}"


def _lanes(story: Story, made: str) -> int:
    """Tell how many phases of a file's plan may run side by side."""
    slug = made.partition("-")[0]
    return next((one.options["lanes"] for one in story.scripts if one.slug == slug), 1)


def _made_by(brief: Brief) -> str:
    """Name the file that a phase is to make."""
    return brief.items[0].split("`")[1]
