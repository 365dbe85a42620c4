"""What happened to one real project, read from asbuilt's journal and from the agent's own record."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from tests.real.counts import ran

if TYPE_CHECKING:
    from tests.real.desk import Desk

_LAST: Final = 6

Event = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Result:
    """What happened to one project; `why` says it in asbuilt's own words where it did not land."""

    name: str
    kind: str
    registry: str
    fresh: bool = False
    suites: list[str] = field(default_factory=list)
    setup: str = ""
    questions: int = 0
    baseline: str = ""
    baseline_ran: int | None = None
    agent_ran: int | None = None
    agent_exit: int | None = None
    agent_last: str = ""
    broken_exit: int | None = None
    """What the suite gave in the agent's workspace on the broken change; 0: it breaks nothing."""
    honest: str = "not run"
    broken: str = "not run"
    why: str = ""
    broken_why: str = ""
    bare_s: float | None = None
    proof_s: list[float] = field(default_factory=list)
    executions: list[int] = field(default_factory=list)
    disk_mb: float = 0.0
    wall_s: float = 0.0

    @property
    def right(self) -> bool:
        """Whether honest work landed and broken work was refused, or all of it stopped as it should."""
        return (self.honest, self.broken) in {("landed", "refused"), ("stopped, rightly", "not judged")}

    def as_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return asdict(self)


def measure(desk: Desk, result: Result, events: list[Event]) -> None:
    """Read suites, setup, counts, times and executions of an honest run."""
    for event in events:
        data = event["data"]
        match event["kind"]:
            case "tests.resolved":
                found = data.get("suites") or [["", data.get("command") or ""]]
                result.suites = [_suite(folder, command) for folder, command, *_ in found if command]
            case "setup.done":
                result.setup = data.get("command") or "none"
            case "baseline.done":
                result.baseline = data.get("why", "")
                result.baseline_ran = _counted(data)
    own = read_agent(desk, run_of(events))
    if own is not None:
        result.agent_exit, text, result.bare_s = own
        result.agent_ran = ran(text)
        result.agent_last = "" if result.agent_exit == 0 else last_lines(text.split("== counts")[0])
    kept: dict[str, float] = {}
    for event in events:
        phase = event["data"].get("phase", "")
        if event["kind"] == "tree.kept":
            kept[phase] = _time(event)
        if event["kind"] == "checks.done" and phase in kept:
            result.proof_s.append(round(_time(event) - kept[phase], 1))
            result.executions.append(_executions(desk, result, kept[phase], _time(event)))


def landed(events: list[Event]) -> bool:
    """Whether a run moved its target branch."""
    return any(event["kind"] == "landing.done" for event in events)


def refused(events: list[Event]) -> bool:
    """Whether asbuilt's own checks failed the work."""
    return any(event["kind"] == "checks.done" and event["data"]["outcome"] == "FAIL" for event in events)


def reason(events: list[Event]) -> str:
    """Return why a run ended or waits, in its own words."""
    reasons = [
        event["data"].get("reason") or event["data"].get("why") or ""
        for event in events
        if event["kind"] in {"run.ended", "run.parked"}
    ]
    return next((text for text in reversed(reasons) if text), "")


def last_lines(output: str, count: int = _LAST) -> str:
    """Return the last lines of an output that are not empty."""
    lines = [line.rstrip() for line in output.strip().splitlines() if line.strip()]
    return "\n".join(lines[-count:])


def _counted(baseline: dict[str, Any]) -> int | None:
    """Return the tests of the baseline, skipped ones included, as a suite's own output counts them."""
    if baseline.get("ran") is None:
        return None
    skipped = re.search(r"(\d+) skipped", baseline.get("why", ""))
    return int(baseline["ran"]) + (int(skipped[1]) if skipped else 0)


def _suite(folder: str, command: str) -> str:
    return f"{folder}: {command}" if folder else command


def read_agent(desk: Desk, run: str) -> tuple[int | None, str, float] | None:
    """Return exit code, output and seconds of the suite that the first attempt of a run started itself."""
    for file in desk.state.glob(f"runs/{run}/attempts/*.1.1/events.jsonl"):
        events = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        told = [event for event in events if event["kind"] != "refused"]
        for called, said in pairwise(told):
            if called["kind"] == "called" and called.get("tool") == "run" and said["kind"] == "said":
                code = re.match(r"exit (-?\d+)", said["text"])
                seconds = round(said["passed_s"] - called["passed_s"], 1)
                return (int(code[1]) if code else None), said["text"], seconds
    return None


def run_of(events: list[Event]) -> str:
    """Return the id of the run that events belong to."""
    return next((str(event["data"]["run"]) for event in events if "run" in event["data"]), "none")


def _executions(desk: Desk, result: Result, begin: float, end: float) -> int:
    """Count sandboxed commands of a phase's proof that lasted at least half as long as the bare suite."""
    least = (result.bare_s or 0.0) / 2
    return sum(1 for start in desk.started if begin <= start.at <= end and start.seconds >= least)


def _time(event: Event) -> float:
    return datetime.fromisoformat(event["at"]).timestamp()
