"""Parse an agent's ACP messages: updates become events, permission requests become calls. Pure.

Rule: a message that is not understood is neither an event nor a permission.

How a turn ended follows from its stop reason or its error. Rule: only stop reason `end_turn` is `done`. The
adapter passes `cancelled` for a turn that a refusal ended.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from asbuilt.agents.contract import SAYS_CAP, Answer, Call, Called, Event, Noted, Said, Turn, Used, stopped

if TYPE_CHECKING:
    from asbuilt.events.event import Cause
    from asbuilt.policy.roles import Kind

_KINDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(("read", "search"), "read"),
    **dict.fromkeys(("edit", "delete", "move"), "edit"),
    "think": "note",
    "execute": "run",
    "fetch": "fetch",
}
_SPEECH_CAP: Final = 8_000
"""Long messages are emitted in pieces of whole lines, so that the host sees activity."""
_LINE_CAP: Final = 64_000
"""Longer lines are cut."""
_DELEGATES: Final = ("Agent", "Task")
"""Claude Code's subagents, which its ACP adapter reports as `think`."""
_ANNOUNCED: Final = {"sessionUpdate": "tool_call", "status": "pending"}
_MOMENT: Final = re.compile(r"\b(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))")
_EPOCH: Final = re.compile(r"(?:resets_at\D{1,4}|limit reached\|)(\d{10})\b")
_SECONDS: Final = re.compile(r"resets_in_seconds\D{1,4}(\d{1,8})\b")
_SPAN: Final = re.compile(r"(\d{1,6}) ?(d|h|m|s)[a-z]*", re.IGNORECASE)
_SPANS: Final = re.compile(r"(?:in|after) ((?:\d{1,6} ?(?:d|h|m|s)[a-z]*[ ,]*(?:and )?)+)", re.IGNORECASE)
_UNITS: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_CLOCK: Final = re.compile(
    r"(?:\bat|resets) (?:([a-z]{3}) (\d{1,2})(?:st|nd|rd|th), (\d{4}) )?"
    r"(\d{1,2})(?::(\d\d))? ?([ap]m)(?: \(([a-z_/+-]+)\))?",
    re.IGNORECASE,
)
_DAY: Final = timedelta(days=1)


_AUTH_REQUIRED: Final = -32000
_WORDS: Final[dict[Cause, str]] = {
    "usage_limit": "usage[_ ]limit|rate_limit|quota",
    "overload": "overloaded|server_error",
    "auth": "authentication_failed|unauthorized|api key not valid|billing",
    "budget": "maximum budget",
    "max_turns": "maximum number of turns",
    "refusal": "refusal",
}
"""Patterns to search for in an error without an HTTP status; the first match wins."""
_STATUS: Final = re.compile(
    r"(?:status(?:[ _]code)?\"?[:=]?|error:?|rejected|code\"?:) *\(?([45]\d\d)\b", re.IGNORECASE
)
_TEXT_CAP: Final = 1_000


class UpdateParser:
    """Parser state of a conversation."""

    def __init__(self) -> None:
        self._speech = ""
        self._before = ""
        self._message: object = None
        self._thinks = False
        self._announced: dict[str, Mapping[str, Any]] = {}
        self._called: set[str] = set()
        self._cost_usd: float | None = None
        self._new_cost_usd: float | None = None
        self.says = ""
        """The agent's last message."""

    def parse(self, update: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the events of an update."""
        match update:
            case {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": str(text)}}:
                if update.get("messageId") != self._message:
                    yield from self.end_message()
                self._message = update.get("messageId")
                self._speech += text
                yield from self._whole_lines()
            case {"sessionUpdate": "agent_thought_chunk"} if not self._thinks:
                yield from self.end_message()
                self._thinks = True
                yield Noted(text="It thinks.")
            case {"sessionUpdate": "tool_call" | "tool_call_update", "toolCallId": str(call)}:
                yield from self.end_message()
                if call in self._called:
                    return
                whole = {**self._announced.pop(call, {}), **update}
                if update == {**update, **_ANNOUNCED}:
                    # Its input may still be incomplete.
                    self._announced[call] = whole
                else:
                    self._called.add(call)
                    first = calls_in(whole)[0]
                    detail = first.command or first.path or str(whole.get("title") or "")
                    yield Called(tool=first.tool, detail=detail)
            case {
                "sessionUpdate": "usage_update",
                "cost": {"amount": int() | float() as cost, "currency": "USD"},
            } if isfinite(cost) and cost >= 0:
                # A total for the whole conversation; a lower value means that a new one was started.
                before = self._cost_usd if self._cost_usd is not None and cost >= self._cost_usd else 0.0
                self._new_cost_usd = (self._new_cost_usd or 0.0) + cost - before
                self._cost_usd = cost
            case _:
                pass

    def flush(self) -> Iterator[Event]:
        """Yield the text so far; the message may continue."""
        speech, self._speech = self._speech, ""
        if speech.strip():
            # Keep one character more than the cap, so that `endings.whole_end` can detect the cut.
            self._before = (self._before + speech)[: SAYS_CAP + 1]
            self.says = self._before.strip()
            yield Said(text=speech.strip())

    def end_message(self) -> Iterator[Event]:
        """Yield the text so far and end the message: a tool call or the end of the turn follows."""
        yield from self.flush()
        self._thinks, self._before = False, ""

    def used(self, response: Mapping[str, Any]) -> Used:
        """Return a turn's usage, from its response and the costs reported during the turn."""
        given, made = _tokens(response)
        cost, self._new_cost_usd = self._new_cost_usd, None
        return Used(input_tokens=given, output_tokens=made, cost_usd=cost)

    def reset(self) -> None:
        """Discard text and cost of a replayed conversation."""
        self._speech, self._before, self.says, self._new_cost_usd = "", "", "", None

    def _whole_lines(self) -> Iterator[Event]:
        if len(self._speech) > _SPEECH_CAP:
            head, end, rest = self._speech.rpartition("\n")
            if not end and len(self._speech) <= _LINE_CAP:
                return
            self._speech, rest = (f"{head}\n", rest) if end else (rest, "")
            yield from self.flush()
            self._speech = rest


def calls_in(call: Mapping[str, Any]) -> tuple[Call, ...]:
    """Translate a permission request; a patch of several files, or a command that edits, is several calls."""
    given = call.get("rawInput")
    command = _command(given.get("command")) if isinstance(given, dict) else None
    cwd = given.get("cwd") if isinstance(given, dict) else None
    tool = str(call.get("name") or call.get("kind") or "tool")
    kind = "delegate" if tool in _DELEGATES else _KINDS.get(str(call.get("kind")), "other")
    found: list[Call] = []
    if command is not None or kind == "run":
        text = command or str(call.get("title") or "")
        found.append(Call(tool=tool, kind="run", command=text, cwd=cwd if isinstance(cwd, str) else None))
    if kind in ("read", "edit") and not (kind == "read" and found):
        found += [Call(tool=tool, kind=kind, path=path) for path in _paths(call) or (None,)]
    return tuple(found) or (Call(tool=tool, kind=kind),)


def reply_of(options: Iterable[object], answers: Iterable[Answer]) -> dict[str, Any]:
    """Select the option for `allow_once` or `reject_once`; if the agent offers none, cancel."""
    wanted = "allow_once" if all(answer.allowed for answer in answers) else "reject_once"
    offered = (
        option for option in options if isinstance(option, dict) and isinstance(option.get("optionId"), str)
    )
    chosen = next((row["optionId"] for row in offered if row.get("kind") == wanted), None)
    outcome = {"outcome": "cancelled"} if chosen is None else {"outcome": "selected", "optionId": chosen}
    return {"outcome": outcome}


def shows_progress(update: Mapping[str, Any], refused: Collection[str]) -> bool:
    """Return whether an update is something other than a refused call."""
    match update:
        case {"sessionUpdate": "agent_message_chunk" | "agent_thought_chunk" | "plan"}:
            return True
        case {"sessionUpdate": "tool_call" | "tool_call_update", "toolCallId": call}:
            return str(call) not in refused
        case _:
            return False


def mode_request(opened: Mapping[str, Any], mode: str | None) -> tuple[str, dict[str, Any]] | None:
    """Return the request that sets a mode, as the agent offers it; None if it has no such mode."""
    if mode is None:
        return None
    offered = opened.get("modes")
    modes = _rows(offered.get("availableModes")) if isinstance(offered, dict) else []
    if any(row.get("id") == mode for row in modes):
        return "session/set_mode", {"modeId": mode}
    for option in _rows(opened.get("configOptions")):
        if option.get("id") == "mode" and any(
            row.get("value") == mode for row in _rows(option.get("options"))
        ):
            return "session/set_config_option", {"configId": "mode", "value": mode}
    return None


def _command(given: object) -> str | None:
    match given:
        case str():
            return given
        case [str(), "-lc" | "-c", str(text)]:
            return text
        case list() if given and all(isinstance(word, str) for word in given):
            return shlex.join(given)
        case _:
            return None


def _paths(call: Mapping[str, Any]) -> tuple[str, ...]:
    rows = [*_rows(call.get("locations")), *_rows(call.get("content"))]
    named = [row["path"] for row in rows if isinstance(row.get("path"), str)]
    given = call.get("rawInput")
    changes = given.get("changes") if isinstance(given, dict) else None
    return tuple(dict.fromkeys([*named, *(changes if isinstance(changes, dict) else ())]))


def _rows(value: object) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _tokens(response: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return the tokens of a turn, cached ones included; None where the agent reports none."""
    match response:
        case {"usage": {"inputTokens": int(given), "outputTokens": int(made), **rest}}:
            cached = (rest.get(name) for name in ("cachedReadTokens", "cachedWriteTokens"))
            return _counted(given + sum(count for count in cached if isinstance(count, int)), made)
        case {"_meta": {"quota": {"token_count": {"input_tokens": int(given), "output_tokens": int(made)}}}}:
            return _counted(given, made)
        case _:
            return None, None


def _counted(given: int, made: int) -> tuple[int | None, int | None]:
    """Return the counts; None if one is negative, which would lower the totals."""
    return (given, made) if given >= 0 and made >= 0 else (None, None)


def ended(response: Mapping[str, Any], *, says: str) -> Turn:
    """Return the ending of a turn with a response."""
    match response.get("stopReason"):
        case "end_turn":
            return Turn(ending="done", reason="The agent says that it is done.", says=says)
        case "max_turn_requests":
            return stopped("max_turns", "It used up its turns before it was done.", says=says)
        case "refusal":
            return stopped("refusal", "The model refused to continue.", says=says)
        case other:
            known = {
                "max_tokens": "It reached the length of an answer.",
                "cancelled": "Its turn was broken off.",
            }
            reason = known.get(str(other)) or f"It stopped for a reason that is not known: {other}"
            return Turn(ending="failed", reason=reason, says=says)


def refused(code: int, message: str, data: object, *, says: str, now: datetime) -> Turn:
    """Return the ending of a turn with an error."""
    detail = json.dumps(data) if data else ""
    cause = _cause(code, f"{message} {detail}")
    reason = f"Its model or its program failed: {_readable(message, data)}"[:_TEXT_CAP]
    if cause is None:
        return Turn(ending="failed", reason=reason, says=says)
    reopens_at = resets_at(f"{message} {detail}", now) if cause == "usage_limit" else None
    return stopped(cause, reason, says=says, resets_at=reopens_at)


def _cause(code: int, text: str) -> Cause | None:
    if code == _AUTH_REQUIRED:
        return "auth"
    lower = text.lower()
    status = code if 400 <= code < 600 else int(found[1]) if (found := _STATUS.search(text)) else None
    match status:
        case 401 | 403:
            return "auth"
        case 429:
            return "usage_limit"
        case int() if status >= 500:
            return "overload"
        case int():
            return None
        case None:
            return next((cause for cause, words in _WORDS.items() if re.search(words, lower)), None)


def _readable(message: str, data: object) -> str:
    """Return an error's text; an internal error has it in its data."""
    match data:
        case {"message": str(text)} | {"details": str(text)}:
            return text
        case str() if data:
            return data
        case _:
            return message


# When a usage limit resets, in the formats that agents use. Pure: takes the current time as an argument.
#
# Rule: a time that cannot be parsed is unknown; never guess.


def resets_at(text: str, now: datetime) -> str | None:
    """Return the reset time, UTC ISO 8601; `now` is aware, in the time zone of the agent."""
    try:
        moment = _moment(text, now)
    except (ValueError, OverflowError, ZoneInfoNotFoundError):
        return None
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="seconds")


def _moment(text: str, now: datetime) -> datetime | None:
    if found := _MOMENT.search(text):
        return datetime.fromisoformat(found[1])
    if found := _EPOCH.search(text):
        return datetime.fromtimestamp(int(found[1]), UTC)
    if found := _SECONDS.search(text):
        return now + timedelta(seconds=int(found[1]))
    if found := _SPANS.search(text):
        spans = _SPAN.findall(found[1])
        return now + timedelta(seconds=sum(int(number) * _UNITS[unit.lower()] for number, unit in spans))
    return _by_the_clock(found, now) if (found := _CLOCK.search(text)) else None


def _by_the_clock(found: re.Match[str], now: datetime) -> datetime:
    month, day, year, hour, minute, half, zone = found.groups()
    there = now.astimezone(ZoneInfo(zone)) if zone else now
    clock_time = datetime.strptime(f"{hour}:{minute or '00'} {half.upper()}", "%I:%M %p")  # noqa: DTZ007  a time of day
    moment = there.replace(hour=clock_time.hour, minute=clock_time.minute, second=0, microsecond=0)
    if month:
        date = datetime.strptime(f"{month.title()} {day} {year}", "%b %d %Y")  # noqa: DTZ007  a date
        return moment.replace(year=date.year, month=date.month, day=date.day)
    return moment if moment > there else moment + _DAY
