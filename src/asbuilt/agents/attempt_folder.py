"""An attempt's folder on disk: who writes which file, and how it is read back.

    brief.json     what it is told and on what terms          the starter, by rename
    beat, cancel   somebody still waits / it is to end        the starter
    lock           held as long as the host lives             the host
    host.json      which process, of which boot, with whom    the host, by rename
    starts         one line for each start                    the host, appended
    events.jsonl   what happened, capped                      the host, appended
    session        the agent's name for its conversation      the host, by rename
    seals.json     digests of what could act later            the host, by rename, once
    result.json    how it ended                               the host, by rename, once a start
    result.N.json  how start N ended, that was gone on from   the starter, by rename
    host.log, agent.log                                       the host, capped
    home/, tmp/    the agent's HOME and /tmp                  the agent
    views/         what it changed of the setup's results     the agent
    out/           the verdict                                the agent

The one rule: a file that decides something appears whole or not at all.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import asdict, dataclass, fields, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from asbuilt.agents.activity import starts_of
from asbuilt.policy.roles import Snapshot
from asbuilt.ports import Brief, Opened, Program, Result
from asbuilt.proof.opinion import opinion_from, plain_opinion

if TYPE_CHECKING:
    from asbuilt.policy.sandbox.rules import Level

_SMALL: Final = 16 << 20
_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On what terms a host works: the same for every start of an attempt."""

    level: Level
    """The ring it must be held by; a host that cannot hold it so does not start the agent."""
    hidden: tuple[str, ...] = ()
    """Masked in the ring besides secrets: the state folder."""
    homes: tuple[str, ...] = ()
    """Whose secrets are masked."""
    abandon_s: float = 60
    grace_s: float = 10
    """Between TERM and KILL."""
    tick_s: float = 0.25
    events_cap: int = 8_000_000
    policy: Snapshot | None = None
    """What its role may do; None in what an earlier version of us has written."""


class Unreadable(Exception):
    """A file of an attempt's folder is not there, not whole, or not what it should be."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of one attempt."""

    path: Path

    def brief(self) -> tuple[Brief, Terms]:
        """Read what the attempt is told."""
        data = _object(_bytes(self.path / "brief.json"))
        try:
            told = _known(Brief, data["brief"])
            for name in ("items", "failures", "notes", "changed", "removed", "shown", "unseen"):
                told[name] = tuple(told.get(name, ()))
            told["told"] = tuple((str(name), str(text)) for name, text in told.get("told", ()))
            told["protected"] = tuple(map(Path, told.get("protected", ())))
            told["workspace"] = Path(told["workspace"])
            told["program"] = _program(told.get("program", {}))
            told["opened"] = _opened(told.get("opened", {}))
            for name in ("script", "results"):
                told[name] = None if told.get(name) is None else Path(told[name])
            terms = _known(Terms, data["terms"])
            terms |= {name: tuple(terms.get(name, ())) for name in ("hidden", "homes")}
            terms["policy"] = _policy(terms.get("policy"))
            return Brief(**told), Terms(**terms)
        except (KeyError, TypeError, ValueError) as error:
            raise Unreadable(f"brief.json: {error}") from error

    def write_brief(self, brief: Brief, terms: Terms) -> None:
        """Freeze what the attempt is told."""
        told = {field.name: getattr(brief, field.name) for field in fields(brief)}
        told |= {
            "workspace": str(brief.workspace),
            "script": None if brief.script is None else str(brief.script),
            "results": None if brief.results is None else str(brief.results),
            "protected": [str(path) for path in brief.protected],
            "environment": dict(brief.environment),
            "program": asdict(brief.program),
            "opened": asdict(brief.opened),
        }
        held = asdict(replace(terms, policy=None)) | {"policy": terms.policy and terms.policy.fields()}
        write_whole(self.path / "brief.json", _json({"v": _VERSION, "brief": told, "terms": held}))

    def result(self) -> Result | None:
        """Read how it ended; None while it has not. Raises `Unreadable` when the file is damaged."""
        if not (self.path / "result.json").exists():
            return None
        data = _object(_bytes(self.path / "result.json"))
        try:
            told = _known(Result, data)
            # A verifier that left none wrote an empty list, before opinions had their form.
            left = told.get("verdict")
            told["verdict"] = opinion_from(left) if left else None
            for name in ("drift", "refused"):
                told[name] = tuple(told.get(name, ()))
            return Result(**told)
        except (KeyError, TypeError, ValueError) as error:
            raise Unreadable(f"result.json: {error}") from error

    def write_result(self, result: Result) -> None:
        """Say how it ended."""
        told = {field.name: getattr(result, field.name) for field in fields(result)}
        told["verdict"] = None if result.verdict is None else plain_opinion(result.verdict)
        write_whole(self.path / "result.json", _json(told))

    def set_result_aside(self, start: int) -> None:
        """Keep how a start ended under another name, so that the next start can end too."""
        (self.path / "result.json").replace(self.path / f"result.{start}.json")

    def starts(self) -> int:
        """Count how often a host has started."""
        return starts_of(self.path)

    def count_start(self, line: str) -> int:
        """Write one more start down before it happens; give its number."""
        with (self.path / "starts").open("ab") as file:
            file.write(f"{line}\n".encode())
            file.flush()
            os.fsync(file.fileno())
        return self.starts()

    def count_elsewhere(self, *, up_to: int) -> None:
        """Count starts that were made on another machine."""
        missing = up_to - self.starts()
        if missing > 0:
            with (self.path / "starts").open("ab") as file:
                file.write(b"elsewhere\n" * missing)

    def set_aside(self) -> None:
        """Keep all of it under another name, so that the attempt can be begun anew."""
        number = next(n for n in count(1) if not self._aside(n).exists())
        self.path.rename(self._aside(number))

    def _aside(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.before-{number}")

    def host(self) -> dict[str, Any]:
        """Read which process hosts or hosted it; empty when none did."""
        try:
            return _object(_bytes(self.path / "host.json"))
        except Unreadable:
            return {}

    def session(self) -> str | None:
        """Read the agent's own name for its conversation."""
        try:
            return _bytes(self.path / "session").decode("utf-8", "replace") or None
        except Unreadable:
            return None

    def beat(self) -> object:
        """Give something that changes with every beat."""
        try:
            found = (self.path / "beat").stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_ino


def write_whole(file: Path, content: bytes) -> None:
    """Write a file so that a reader, or a power cut, sees the old one or the new one."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
    temporary.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_shared(file: Path, *, cap: int) -> bytes:
    """Read a file that an agent could write: no link is followed, no pipe waited for, no flood taken in."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise Unreadable(f"{file.name}: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unreadable(f"{file.name} is not a regular file")
        content = opened.read(cap + 1)
    if len(content) > cap:
        raise Unreadable(f"{file.name} is larger than {cap} bytes")
    return content


def _policy(data: dict[str, Any] | None) -> Snapshot | None:
    if data is None:
        return None
    told: dict[str, Any] = {
        name: tuple(one) if isinstance(one, list) else one
        for name, one in data.items()
        if name in Snapshot.__slots__
    }
    return Snapshot(**told)


def _opened(data: dict[str, Any]) -> Opened:
    known = _known(Opened, data)
    known |= {name: tuple(known.get(name, ())) for name in ("hosts", "readable")}
    return Opened(**known)


def _program(data: dict[str, Any]) -> Program:
    told = _known(Program, data)
    return Program(**{**told, "command": tuple(told.get("command", ()))})


def _known(kind: type[Brief | Opened | Program | Result | Terms], data: dict[str, Any]) -> dict[str, Any]:
    """Leave out what another version of us wrote and we do not know: hosts go on over an upgrade."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in data.items() if name in names}


def _bytes(file: Path) -> bytes:
    return read_shared(file, cap=_SMALL)


def _object(content: bytes) -> dict[str, Any]:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Unreadable(str(error)) from error
    if not isinstance(data, dict):
        raise Unreadable("not an object")
    return data


def _json(data: dict[str, Any]) -> bytes:
    # Escaped, because a plan's text may hold bytes that are no UTF-8 and have to come back as they were.
    return json.dumps(data, ensure_ascii=True, indent=1).encode("ascii")
