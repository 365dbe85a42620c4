"""Layout of an attempt's folder: the files, their writers, and how to read them.

    brief.json     the brief and the host's terms             the starter, by rename
    beat, cancel   heartbeat / request to stop                the starter
    lock           locked while the host runs                 the host
    host.json      PID, boot, sandbox and child processes     the host, by rename
    starts         one line for each start                    the host, appended
    events.jsonl   the agent's events, capped                 the host, appended
    session        the agent's ID of its conversation         the host, by rename
    seals.json     digests of files that could act later      the host, by rename, once
    result.json    the result of the latest start             the host, by rename, once per start
    result.N.json  the result of start N, after a restart     the starter, by rename
    host.log       the host's stdout and stderr               the host, appended
    agent.log      the agent's stderr, capped                 the host
    home/, tmp/    the agent's HOME and /tmp                  the agent
    views/         the agent's changes to setup results       the agent
    out/           the verdict                                the agent

Rule: files that decide something are written atomically (`write_whole`).
"""

from __future__ import annotations

import json
import os
import stat
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace

from asbuilt.agents.activity import starts_of
from asbuilt.agents.contract import Emit, Noted, Seat, Turn
from asbuilt.agents.verdict_tool import FILE
from asbuilt.events.options import AgentProgram
from asbuilt.policy.roles import Snapshot
from asbuilt.ports import Brief, Opened, Result
from asbuilt.proof.opinion import Opinion, opinion_from, plain_opinion

if TYPE_CHECKING:
    from asbuilt.policy.sandbox.rules import Level

_SMALL: Final = 16 << 20
_VERDICT_CAP: Final = 1 << 20
_TRIES: Final = 20
"""Most tries of a tester that are read."""
_VERSION: Final = 1
_T = TypeVar("_T")


class Terms(Struct, frozen=True, kw_only=True):
    """Terms of the host, the same for every start of an attempt."""

    level: Level
    """The required sandbox. A host that cannot provide it does not start the agent."""
    hidden: tuple[str, ...] = ()
    """Paths to mask in the sandbox besides secrets: the state folder."""
    homes: tuple[str, ...] = ()
    """Home folders whose secrets are masked."""
    abandon_s: float = 60
    grace_s: float = 10
    """Seconds between TERM and KILL."""
    tick_s: float = 0.25
    events_cap: int = 8_000_000
    policy: Snapshot | None = None
    """What the role may do; None in a brief written by an older version."""


class Unreadable(Exception):
    """A file of an attempt's folder is missing, incomplete or malformed."""


class Folder(Struct, frozen=True):
    """The folder of an attempt."""

    path: Path

    def brief(self) -> tuple[Brief, Terms]:
        """Read the brief and the terms."""
        data = _object(_bytes(self.path / "brief.json"))
        try:
            return _made(Brief, data["brief"]), _made(Terms, data["terms"])
        except (KeyError, TypeError, ValueError) as error:
            raise Unreadable(f"brief.json: {error}") from error

    def write_brief(self, brief: Brief, terms: Terms) -> None:
        """Write brief.json."""
        write_whole(self.path / "brief.json", _json({"v": _VERSION, "brief": brief, "terms": terms}))

    def result(self) -> Result | None:
        """Read the result; None while there is none. Raises `Unreadable` when the file is damaged."""
        if not (self.path / "result.json").exists():
            return None
        data = _object(_bytes(self.path / "result.json"))
        try:
            # Before opinions had a schema, a verifier without a verdict wrote an empty list.
            verdict = opinion_from(data["verdict"]) if data.get("verdict") else None
            return _made(Result, {**data, "verdict": verdict})
        except (KeyError, TypeError, ValueError) as error:
            raise Unreadable(f"result.json: {error}") from error

    def write_result(self, result: Result) -> None:
        """Write result.json."""
        verdict = None if result.verdict is None else plain_opinion(result.verdict)
        write_whole(self.path / "result.json", _json({**_plain(result), "verdict": verdict}))

    def set_result_aside(self, start: int) -> None:
        """Rename the result of a start to result.N.json, so that the next start can write its own."""
        (self.path / "result.json").replace(self.path / f"result.{start}.json")

    def count_start(self, line: str) -> int:
        """Append a line to `starts` before the start happens; return its number."""
        with (self.path / "starts").open("ab") as file:
            file.write(f"{line}\n".encode())
            file.flush()
            os.fsync(file.fileno())
        return starts_of(self.path)

    def count_elsewhere(self, *, up_to: int) -> None:
        """Add the starts that happened on another machine, up to a total."""
        missing = up_to - starts_of(self.path)
        if missing > 0:
            with (self.path / "starts").open("ab") as file:
                file.write(b"elsewhere\n" * missing)

    def set_aside(self) -> None:
        """Rename the folder to NAME.before-N, so that the attempt can start from scratch."""
        names = (self.path.with_name(f"{self.path.name}.before-{number}") for number in count(1))
        self.path.rename(next(name for name in names if not name.exists()))

    def host(self) -> dict[str, Any]:
        """Read host.json; empty when no host has run."""
        try:
            return _object(_bytes(self.path / "host.json"))
        except Unreadable:
            return {}

    def session(self) -> str | None:
        """Read the agent's ID of its conversation."""
        try:
            return _bytes(self.path / "session").decode("utf-8", "replace") or None
        except Unreadable:
            return None

    def heartbeat(self) -> object:
        """Return a value that changes with every heartbeat; None before the first."""
        try:
            found = (self.path / "beat").stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_ino


def write_whole(file: Path, content: bytes) -> None:
    """Write a file atomically: a reader, or a power cut, sees the old contents or the new."""
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
    """Read a file that an agent could have written: no symlinks, no blocking pipes, at most `cap` bytes."""
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


def verdict_in(out: Path) -> Opinion | None:
    """Return the opinion that an agent wrote to `out/`, as untrusted input; None when there is no file.

    What cannot be parsed is recorded in the opinion's `problems`, which void it.
    """
    if not (out / FILE).exists() and not (out / FILE).is_symlink():
        return None
    try:
        return opinion_from(json.loads(read_shared(out / FILE, cap=_VERDICT_CAP)))
    except (Unreadable, ValueError, RecursionError) as error:
        return Opinion(None, (), (f"the verdict cannot be read: {error}",))


def with_verdict(turn: Turn, seat: Seat, emit: Emit) -> Turn:
    """Add to a turn the opinion that its agent wrote, and note what of it cannot be parsed."""
    verdict = verdict_in(seat.out)
    for problem in verdict.problems if verdict else ():
        emit(Noted(text=problem))
    return replace(turn, verdict=verdict)


_NESTED: Final[dict[str, type]] = {"AgentProgram": AgentProgram, "Opened": Opened, "Snapshot": Snapshot}


def tries_in(file: Path) -> tuple[tuple[str, ...], ...]:
    """Return the arguments of each `drive.py` of a tester; lines that cannot be parsed are ignored."""
    try:
        lines = read_shared(file, cap=_VERDICT_CAP).splitlines()[:_TRIES]
        tries = [json.loads(line) for line in lines]
    except (Unreadable, OSError, ValueError, RecursionError):
        return ()
    return tuple(
        tuple(map(str, row)) for row in tries if isinstance(row, list) and row[:1] in (["page"], ["terminal"])
    )


def _made(kind: type[_T], data: dict[str, Any]) -> _T:
    """Build a value from JSON by the types of its fields.

    Drops fields of another version that this one does not know: hosts keep running across an upgrade.
    """
    types = {name: str(type_).removesuffix(" | None") for name, type_ in kind.__annotations__.items()}
    return kind(**{name: _typed(types[name], value) for name, value in data.items() if name in types})


def _typed(kind: str, value: Any) -> Any:  # noqa: ANN401  JSON
    if value is None:
        return None
    if kind in _NESTED:
        return _made(_NESTED[kind], value)
    if kind.startswith("tuple"):
        inner = tuple if kind.startswith("tuple[tuple") else Path if kind.startswith("tuple[Path") else None
        return tuple(value if inner is None else map(inner, value))
    return Path(value) if kind == "Path" else value


def _plain(value: Any) -> Any:  # noqa: ANN401  a value of a brief
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Struct):
        return asdict(value)
    return dict(value)


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
    # ASCII-escaped, because a plan's text may hold bytes that are not UTF-8 and must round-trip.
    return json.dumps(data, ensure_ascii=True, indent=1, default=_plain).encode("ascii")
