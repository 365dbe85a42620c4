"""All conversations of this user: list them, and delete expired ones.

Rule: state of a live conversation is never touched.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from asbuilt.session.conversation import lives, state_home
from asbuilt.session.conversation_state import KEPT_S, State, state_in


class Record(NamedTuple):
    """A conversation with stored state."""

    key: str
    folder: str
    state: State
    is_alive: bool


def records(environ: Mapping[str, str], *, but: str = "") -> list[Record]:
    """List the conversations with stored state, latest event first."""
    found = []
    for folder in _folders(environ):
        key = os.path.basename(folder)
        state = None if key == but else state_in(folder)
        if state is not None:
            found.append(Record(key, folder, state, lives(key)))
    return sorted(found, key=lambda record: record.state.at, reverse=True)


def left_in(cwd: str, environ: Mapping[str, str], *, but: str = "") -> list[str]:
    """Return the plans of the conversations that ended in a folder, the latest first."""
    ended = (record.state for record in records(environ, but=but) if not record.is_alive)
    return [state.plan for state in ended if state.cwd == cwd and state.plan]


def clean(environ: Mapping[str, str], *, now: float, but: str = "") -> None:
    """Delete the state of ended conversations that has not changed for a day."""
    for folder in _folders(environ):
        key = os.path.basename(folder)
        try:
            if key != but and not lives(key) and _is_old(folder, now):
                _remove(folder)
        except OSError:
            continue  # another call deletes it too, or the disk refuses; the next call tries again


def _folders(environ: Mapping[str, str]) -> Iterator[str]:
    try:
        with os.scandir(f"{state_home(environ)}/conversations") as entries:
            yield from [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return


def _is_old(folder: str, now: float) -> bool:
    with os.scandir(folder) as entries:
        changed = [entry.stat(follow_symlinks=False).st_mtime for entry in entries]
    return now - max(changed, default=os.stat(folder).st_mtime) > KEPT_S


def _remove(folder: str) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            os.unlink(entry.path)
    os.rmdir(folder)
