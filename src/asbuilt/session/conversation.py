"""Identity of a conversation, and the folder of its state.

A conversation is identified by its agent's process: `/clear` changes the session id, not the conversation.
Rule: a file here is replaced as a whole, by a rename, or not at all.
"""

from __future__ import annotations

import os

from asbuilt.policy.light_json import read, write
from asbuilt.policy.plan_mode.state import Hold, HoldUnreadable, from_file, to_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

GIVEN = 64 << 20
"""Most bytes that a hook accepts on stdin. No tool writes a larger file in one call."""
_PIECE = 1 << 16
_LARGEST = 1 << 20
_START_TIME = 19
"""Index of the start time in /proc/PID/stat, counted after the program's name."""


def state_home(environ: Mapping[str, str]) -> str:
    """Return the user's state folder; the same as `settings.state_folder`, without its imports."""
    own = environ.get("ASBUILT_HOME", "")
    if own:
        return own
    base = environ.get("XDG_STATE_HOME", "")
    return f"{base if base.startswith('/') else environ.get('HOME', '') + '/.local/state'}/asbuilt"


def key_of(environ: Mapping[str, str]) -> str:
    """Return the key of the hook's conversation: pid and start time of its agent; empty if there is none."""
    given = environ.get("ASBUILT_CONVERSATION", "")
    if given:
        return given if given.replace("-", "").isalnum() else ""
    pid = environ.get("CLAUDE_PID", "")
    return f"{pid}-{_started(pid)}" if pid.isascii() and pid.isdigit() else ""


def given() -> bytes:
    """Read stdin until just over 64 MiB."""
    pieces = []
    size = 0
    while size <= GIVEN and (piece := os.read(0, _PIECE)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def folder_of(environ: Mapping[str, str], key: str) -> str:
    """Return the folder of a conversation; creates nothing."""
    return f"{state_home(environ)}/conversations/{key}"


def hold_in(folder: str) -> Hold | None:
    """Read the plan-mode hold; None if plan mode is off. Raises HoldUnreadable if the file cannot be read."""
    try:
        text = text_in(folder, "hold")
    except (OSError, ValueError) as error:
        raise HoldUnreadable(str(error)) from error
    if text is None:
        return None
    try:
        return from_file(read(text))
    except ValueError as error:
        raise HoldUnreadable(str(error)) from error


def keep_hold(folder: str, hold: Hold | None) -> None:
    """Store a hold, or remove it."""
    if hold is None:
        remove(folder, "hold")
    else:
        put(folder, "hold", write(to_file(hold)))


def end_hold(folder: str) -> bool:
    """Turn plan mode off after an approval; return False if only the end of the session can."""
    try:
        hold = hold_in(folder)
    except HoldUnreadable:
        return False
    if hold is not None and hold.by == "session":
        return False
    keep_hold(folder, None)
    return True


def text_in(folder: str, name: str) -> str | None:
    """Read a small file of a conversation; None if it does not exist."""
    try:
        file = os.open(f"{folder}/{name}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        data = b""
        while piece := os.read(file, _LARGEST):
            data += piece
            if len(data) > _LARGEST:
                raise ValueError("it is too large")
    finally:
        os.close(file)
    return data.decode()


def put(folder: str, name: str, text: str) -> None:
    """Replace a file of a conversation atomically."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    made = f"{folder}/.{name}.{os.getpid()}"
    file = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        data = text.encode()
        while data:
            data = data[os.write(file, data) :]
        os.fsync(file)
    finally:
        os.close(file)
    os.replace(made, f"{folder}/{name}")


def remove(folder: str, name: str) -> None:
    """Delete a file of a conversation; a missing file is fine."""
    try:
        os.unlink(f"{folder}/{name}")
    except FileNotFoundError:
        pass


def _started(pid: str) -> str:
    """Return the start time of a process in kernel ticks; 0 where the system does not report it."""
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return "0"
    try:
        fields = os.read(file, 4096).rpartition(b")")[2].split()
    finally:
        os.close(file)
    return fields[_START_TIME].decode() if len(fields) > _START_TIME else "0"


def lives(key: str) -> bool:
    """Return whether a conversation's agent still runs: the same process, not one that reuses its pid."""
    pid, _, started = key.partition("-")
    return not pid.isdigit() or _started(pid) == started != "0"
