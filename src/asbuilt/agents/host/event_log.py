"""Record an attempt's events, and keep the totals for its result.

Rule: a line is a whole JSON object. At the cap, one last line is written; the totals still count.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any, Final, TypeVar, assert_never

from msgspec.structs import asdict

from asbuilt.agents.activity import read_events
from asbuilt.agents.attempt_folder import Folder, write_whole
from asbuilt.agents.contract import Answer, Call, Called, Conversed, Event, Modelled, Noted, Said, Used

_TEXT_CAP: Final = 16_000
_DRIFT_CAP: Final = 200
_HOST_CAP: Final = 300
_HOSTS: Final = 20
_DRIFT: Final = "PLAN-TEXT-DRIFT:"
_N = TypeVar("_N", int, float)


class Record:
    """The events of a start, appended to those of earlier starts."""

    def __init__(self, folder: Folder, *, cap: int, is_free: bool = False) -> None:
        """Open events.jsonl; the usage of an agent that `is_free` is 0 until it reports any."""
        self._folder = folder
        self._cap = cap
        self._file = (folder.path / "events.jsonl").open("ab")
        self._size = self._file.tell()
        self._full = self._size >= cap
        self._began = time.monotonic()
        self.count = 0
        self.tool_calls = 0
        self._is_reported = False
        self.used = Used(input_tokens=0, output_tokens=0, cost_usd=0.0) if is_free else Used()
        self.session = folder.session()
        self.last_said = ""
        self.drift: list[str] = []
        self.hosts_refused: list[str] = []
        self._take_over()
        if self._size and not self._ends_whole():
            # A host was killed while writing a line: end it, so that readers skip only that line.
            self._file.write(b"\n")
            self._size += 1

    def emit(self, event: Event) -> None:
        """Record an event of the agent."""
        self.count += 1
        match event:
            case Said(text=text):
                self.last_said = text[:_TEXT_CAP]
                self._find_drift(text)
            case Called():
                self.tool_calls += 1
            case Used():
                self._add(event)
            case Conversed(session=session):
                self.session = session
                write_whole(self._folder.path / "session", session.encode("utf-8", "replace"))
            case Noted() | Modelled():
                pass
            case _:
                assert_never(event)
        self.write(type(event).__name__.lower(), asdict(event))

    def asked(self, call: Call, answer: Answer) -> None:
        """Record a permission request with its answer."""
        self.count += 1
        about = asdict(call)
        self.write("asked", {"call": about.pop("kind"), **about, **asdict(answer)})

    def refused(self, host: str, why: str) -> None:
        """Record a refused host, once for each reason, and at most 20."""
        refusal = f"{host}: {why}"[:_HOST_CAP]
        if refusal not in self.hosts_refused and len(self.hosts_refused) < _HOSTS:
            self.hosts_refused.append(refusal)
            self.write("refused", {"told": refusal})

    def write(self, kind: str, data: dict[str, object]) -> None:
        """Append a line; at the cap, append one last line about it."""
        if self._full:
            return
        cut = {name: value[:_TEXT_CAP] if isinstance(value, str) else value for name, value in data.items()}
        line = self._line(kind, cut)
        if self._size + len(line) > self._cap:
            self._full = True
            line = self._line(
                "full", {"text": f"More than {self._cap} bytes of events; the rest is not kept."}
            )
        self._file.write(line)
        self._file.flush()
        self._size += len(line)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _line(self, kind: str, data: dict[str, object]) -> bytes:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        passed_s = round(time.monotonic() - self._began, 3)
        return json.dumps({"kind": kind, "at": at, "passed_s": passed_s, **data}).encode("ascii") + b"\n"

    def _add(self, more: Used) -> None:
        """Add to the totals; an unknown part makes a total unknown."""
        before = self.used if self._is_reported else Used(input_tokens=0, output_tokens=0, cost_usd=0.0)
        self._is_reported = True
        self.used = Used(
            input_tokens=_sum(before.input_tokens, more.input_tokens),
            output_tokens=_sum(before.output_tokens, more.output_tokens),
            cost_usd=_sum(before.cost_usd, more.cost_usd),
        )

    def _find_drift(self, text: str) -> None:
        if _DRIFT in text:
            found = [
                line.strip()[:_TEXT_CAP] for line in text.splitlines() if line.strip().startswith(_DRIFT)
            ]
            self.drift += found[: _DRIFT_CAP - len(self.drift)]

    def _take_over(self) -> None:
        """Add up the activity and usage of earlier starts, so that a crash hides no cost."""
        for event in read_events(self._folder.path / "events.jsonl", 0)[0]:
            text = event.get("text")
            if event["kind"] == "called":
                self.tool_calls += 1
            elif event["kind"] == "used":
                used: dict[str, Any] = {name: event.get(name) for name in Used.__struct_fields__}
                self._add(Used(**used))
            elif event["kind"] == "said" and isinstance(text, str):
                self._find_drift(text)
            elif event["kind"] == "refused":
                self.hosts_refused.append(str(event.get("told", "")))

    def _ends_whole(self) -> bool:
        with (self._folder.path / "events.jsonl").open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) == b"\n"


def _sum(before: _N | None, more: _N | None) -> _N | None:
    return None if before is None or more is None else before + more
