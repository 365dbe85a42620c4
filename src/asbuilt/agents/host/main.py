"""The host process of an attempt: `asbuilt-attempt [--detach] FOLDER`. It outlives the worker.

It locks the folder while it runs, drives the agent and answers its permission requests. It ends the whole
process tree when the agent is done, stalls, times out, is cancelled, or the heartbeats of the worker stop.

Rule: at most one host works on an attempt, and it writes at most one result per start.

Rules: a tick counts as at most 4 tick intervals, so that a suspended laptop expires nothing. What the agent
reports and what the host observed stay in separate fields.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from asbuilt.agents.attempt_folder import Folder, Terms, Unreadable, tries_in, write_whole
from asbuilt.agents.contract import SAYS_CAP, Adapter, Seat, Turn, stopped
from asbuilt.agents.host.agent_process import TRIES, HostSeat
from asbuilt.agents.host.event_log import Record
from asbuilt.agents.host.permission_answers import SnapshotGate, Unheld, let_through, snapshot_of
from asbuilt.agents.sandbox import process_tree
from asbuilt.agents.sandbox.launch import probe
from asbuilt.policy.agent_kinds import KINDS, Through
from asbuilt.policy.roles import Role
from asbuilt.policy.sandbox.rules import Level
from asbuilt.ports import Brief, Ending, Result

TAKEN: Final = 75
NO_BRIEF: Final = 66
STOPPED: Final = 143
ADAPTERS: Final[dict[Through, str]] = {
    "script": "scripted:Scripted",
    "control": "claude:Claude",
    "ACP": "acp:Acp",
}
_LOCK_TRIES: Final = 40
_LOCK_WAIT_S: Final = 0.025
_OLD_TREE_S: Final = 6.0
_TICKS_AT_ONCE: Final = 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Host the attempt in a folder; with --detach, return as soon as the host is up."""
    match list(sys.argv[1:] if arguments is None else arguments):
        case ["--detach", folder]:
            return _detached(Folder(Path(folder).resolve()))
        case [folder] if not folder.startswith("-"):
            return host(Folder(Path(folder).resolve()))
        case _:
            sys.stderr.write("usage: asbuilt-attempt [--detach] FOLDER\n")
            return 2


def host(folder: Folder, *, ready: Callable[[], None] = lambda: None) -> int:
    """Work on the attempt, unless another host does or it has ended."""
    with _locked(folder.path / "lock") as mine:
        if not mine:
            return TAKEN
        if (folder.path / "result.json").exists():
            return 0
        try:
            brief, terms = folder.brief()
        except Unreadable as error:
            # Write no result: the starter can write the brief again.
            sys.stderr.write(f"{error}\n")
            return NO_BRIEF
        _outlive(folder)
        number = folder.count_start(f"{os.getpid()} {process_tree.boot_id()}")
        _introduce(folder, terms, [])
        ready()
        result = asyncio.run(_attend(folder, brief, terms, number))
        if result is None:
            return STOPPED
        folder.write_result(result)
        return 0


async def _attend(folder: Folder, brief: Brief, terms: Terms, number: int) -> Result | None:
    """Drive the agent to an ending; return None if the host itself got a signal, which ends no attempt."""
    began = time.monotonic()
    is_free = brief.program.kind == "scripted"
    record = Record(folder, cap=terms.events_cap, is_free=is_free)
    record.write("started", {"start": number, "ring": terms.level, "role": brief.role, "agent": brief.agent})
    stop = asyncio.Event()
    for number_of in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number_of, stop.set)
    try:
        seen = LastSeen()
        if reason := _unfit(brief):
            end: Turn | tuple[Ending, str] = Turn(ending="failed", reason=reason)
        else:
            seat = HostSeat(folder, brief, terms, start=number)
            seat.on_spawn = lambda pids: _introduce(folder, terms, pids)
            seat.on_refused = record.refused
            decided = await _drive(folder, brief, terms, seat=seat, record=record, stop=stop)
            if decided is None:
                return None
            end = sealed_end(whole_end(decided, brief.role), seat.seals.broken())
            seen = LastSeen(seat.exit_code, seat.last_words())
        took_s = time.monotonic() - began
        result = described(end, record, seen, duration_s=took_s, starts=number, ring=terms.level)
        if brief.role == "test":
            result = replace(result, tries=tries_in(folder.path / "out" / TRIES))
        record.write("ended", {"ending": result.ending, "reason": result.reason})
    finally:
        record.close()
    return result


async def _drive(
    folder: Folder, brief: Brief, terms: Terms, *, seat: HostSeat, record: Record, stop: asyncio.Event
) -> Turn | tuple[Ending, str] | None:
    adapter = adapter_for(brief.program.kind, seat)
    policy = terms.policy or snapshot_of(brief, terms, folder.path)
    if reason := let_through(policy):
        return stopped("unheld", reason)
    gate = SnapshotGate(policy, record)
    drive = asyncio.create_task(adapter.drive(brief, gate, record.emit))
    try:
        decided = await _wait(folder, brief, terms, drive=drive, record=record, stop=stop)
        if decided is not None:
            # End the agent before cancelling the adapter, to record what the agent reports while it ends.
            await seat.end()
            return decided
        return None if stop.is_set() else await _turn(drive)
    finally:
        drive.cancel()
        await asyncio.wait({drive}, timeout=5)
        await seat.end()


async def _wait(
    folder: Folder,
    brief: Brief,
    terms: Terms,
    *,
    drive: asyncio.Task[Turn],
    record: Record,
    stop: asyncio.Event,
) -> tuple[Ending, str] | None:
    """Wait until the agent ends (None), or return the ending if a limit is reached."""
    watch = Watch(brief, terms)
    last = time.monotonic()
    while True:
        now = time.monotonic()
        # A deleted folder can hold no result; treat it as a cancellation.
        cancelled = (folder.path / "cancel").exists() or not folder.path.exists()
        over = watch.tick(now - last, heartbeat=folder.heartbeat(), events=record.count, cancelled=cancelled)
        last = now
        if over is not None:
            return over
        done, _ = await asyncio.wait({drive}, timeout=terms.tick_s)
        if done or stop.is_set():
            return None


async def _turn(drive: asyncio.Task[Turn]) -> Turn:
    try:
        return await drive
    except Unheld as error:
        # The seat tried the agent's own sandbox. Probe for the causes only now that it failed.
        causes = "; ".join(reason.what for reason in probe().reasons)
        return stopped("unheld", f"{error} {causes}".rstrip())
    except Exception as error:  # noqa: BLE001  fail closed: its bugs end the attempt
        traceback.print_exception(error)
        return Turn(ending="crashed", reason=f"The adapter failed: {type(error).__name__}: {error}")


def adapter_for(kind: str, seat: Seat) -> Adapter:
    """Return the adapter of a kind of agent; imports no other adapter."""
    module, _, name = ADAPTERS[KINDS[kind].through].partition(":")
    adapter: Adapter = getattr(import_module(f"asbuilt.agents.{module}.adapter"), name)(seat)
    return adapter


def _unfit(brief: Brief) -> str | None:
    if brief.program.kind not in KINDS:
        return f"No adapter drives {brief.program.kind}."
    if not brief.workspace.is_dir():
        return f"The workspace {brief.workspace} is not there."
    return None


def _outlive(folder: Folder) -> None:
    """Wait until no process of an earlier start is left: two agents in one workspace would mix their work."""
    before = folder.host()
    if before.get("boot") != process_tree.boot_id():
        return
    end = time.monotonic() + _OLD_TREE_S
    for pid, started in before.get("children", ()):
        while process_tree.still_runs(pid, started):
            if time.monotonic() > end:
                _end_old(pid, started, before.get("ring", "none"))
                break
            time.sleep(_LOCK_WAIT_S)


def _end_old(pid: int, started: str, level: Level) -> None:
    process_tree.end(pid, level=level, grace_s=0, gone=lambda: not process_tree.still_runs(pid, started))


def _introduce(folder: Folder, terms: Terms, children: list[int]) -> None:
    about = {
        "pid": os.getpid(),
        "started": process_tree.start_time(os.getpid()),
        "boot": process_tree.boot_id(),
        "ring": terms.level,
        "children": [(pid, process_tree.start_time(pid)) for pid in children],
    }
    write_whole(folder.path / "host.json", json.dumps(about).encode("ascii"))


@contextmanager
def _locked(file: Path) -> Iterator[bool]:
    """Hold the lock, or yield False if another host does. Retries for 1 s: `is_alive` locks briefly."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        for _ in range(_LOCK_TRIES):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_LOCK_WAIT_S)
            else:
                yield True
                return
        yield False
    finally:
        os.close(descriptor)


def _detached(folder: Folder) -> int:
    """Start a detached host in a new session; return when it is up."""
    reader, writer = os.pipe()
    if child := os.fork():
        os.close(writer)
        if os.read(reader, 1):
            return 0
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(reader)
    os.setsid()
    log = os.open(folder.path / "host.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, place in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(descriptor, place)

    def ready() -> None:
        os.write(writer, b"1")
        os.close(writer)

    code = host(folder, ready=ready)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class Watch:
    """Counts time since the last heartbeat, the last event and the start."""

    def __init__(self, brief: Brief, terms: Terms) -> None:
        self._brief = brief
        self._terms = terms
        self._heartbeat: object = None
        self._events = 0
        self._since_heartbeat = 0.0
        self._since_event = 0.0
        self._since_start = 0.0

    def tick(
        self, elapsed_s: float, *, heartbeat: object, events: int, cancelled: bool
    ) -> tuple[Ending, str] | None:
        """Count one tick; return the ending and its reason when the attempt is over. First match wins."""
        counted = min(elapsed_s, _TICKS_AT_ONCE * self._terms.tick_s)
        self._since_start += counted
        self._since_heartbeat = 0.0 if heartbeat != self._heartbeat else self._since_heartbeat + counted
        self._since_event = 0.0 if events != self._events else self._since_event + counted
        self._heartbeat, self._events = heartbeat, events
        brief, terms = self._brief, self._terms
        if cancelled:
            return "cancelled", "It was asked to end."
        if self._since_heartbeat >= terms.abandon_s:
            return "abandoned", f"Nobody has waited for it for {terms.abandon_s:g} s."
        if self._since_start >= brief.overall_s:
            return "timed_out", f"It took longer than {brief.overall_s:g} s."
        if self._since_event >= brief.stall_s:
            return "stalled", f"The agent was silent for {brief.stall_s:g} s."
        return None


class LastSeen(NamedTuple):
    """The exit code and stderr of the agent's process."""

    exit_code: int | None = None
    stderr: str = ""


def described(
    end: Turn | tuple[Ending, str],
    record: Record,
    seen: LastSeen,
    *,
    duration_s: float,
    starts: int,
    ring: Level,
) -> Result:
    """Build the result of an attempt; exit code and stderr are kept unless the ending is `done`."""
    turn, ending, reason = (end, end.ending, end.reason) if isinstance(end, Turn) else (None, *end)
    return Result(
        ending=ending,
        reason=reason,
        cause=turn.cause if turn else None,
        says=turn.says if turn else record.last_said,
        verdict=turn.verdict if turn else None,
        resets_at=turn.resets_at if turn else None,
        drift=tuple(record.drift),
        refused=tuple(record.hosts_refused),
        session=record.session,
        tool_calls=record.tool_calls,
        cost_usd=record.used.cost_usd,
        input_tokens=record.used.input_tokens,
        output_tokens=record.used.output_tokens,
        duration_s=duration_s,
        starts=starts,
        ring=ring,
        **({} if ending == "done" else seen._asdict()),
    )


def whole_end(end: Turn | tuple[Ending, str], role: Role) -> Turn | tuple[Ending, str]:
    """Cut an answer at the cap; a planner or critic then fails, because the answer is its work."""
    if not isinstance(end, Turn) or len(end.says) <= SAYS_CAP:
        return end
    cut = replace(end, says=f"{end.says[:SAYS_CAP]}…")
    if end.ending != "done" or role not in ("plan", "critique"):
        return cut
    reason = (
        f"Its answer is longer than {SAYS_CAP:,} characters; the rest was not kept, so none of it counts."
    )
    return replace(cut, ending="failed", reason=reason)


def sealed_end(end: Turn | tuple[Ending, str], broken: list[str]) -> Turn | tuple[Ending, str]:
    """Fail the attempt if sealed files changed, because they could act later, outside the workspace."""
    if not broken:
        return end
    return "failed", (
        f"What acts when an agent is started next is not as it was: {', '.join(broken)}. "
        "The agent was not to touch it. Look at it before anything is started again."
    )


if __name__ == "__main__":
    sys.exit(main())
