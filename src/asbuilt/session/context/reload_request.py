"""A reload: the request to resume a plan after a /clear. It is taken once and expires after an hour.

Rule: taking a reload renames its file first, so that only one process gets it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.policy.light_json import read, write
from asbuilt.session.conversation import put, remove, text_in

if TYPE_CHECKING:
    from typing import Literal

    Kind = Literal["plan-pending", "plan-completed", "no-plan"]

PENDING: Final = "plan-pending"
KINDS: Final = (PENDING, "plan-completed", "no-plan")
LASTS_S: Final = 3_600
_NAME: Final = "reload"


class Reload(NamedTuple):
    """What to resume."""

    plan: str
    """The plan's path; empty if there is no plan."""
    session: str
    """The session that stored it; after a /clear the conversation has a new session id."""
    at: float
    cwd: str
    kind: Kind = "plan-pending"
    approved: bool = True
    """Whether the user approved the plan. For a plan still being written the user is asked first."""

    def is_stale(self, now: float) -> bool:
        """Return whether it is older than an hour or from the future."""
        return not 0 <= now - self.at <= LASTS_S


def keep(folder: str, reload: Reload) -> None:
    """Store a reload, replacing the previous one."""
    put(folder, _NAME, write(reload._asdict()))


def kept(folder: str, *, now: float) -> Reload | None:
    """Return the stored reload without taking it; None if it is stale."""
    reload = _read(text_in(folder, _NAME))
    return None if reload is None or reload.is_stale(now) else reload


def take(folder: str, *, now: float) -> Reload | None:
    """Take the reload. It is removed even if the taker then fails."""
    taken = f".{_NAME}.taken.{os.getpid()}"
    try:
        os.rename(f"{folder}/{_NAME}", f"{folder}/{taken}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    reload = _read(text_in(folder, taken))
    remove(folder, taken)
    return None if reload is None or reload.is_stale(now) else reload


def drop_stale(folder: str, *, now: float) -> None:
    """Delete the reload if it is stale or unreadable."""
    text = text_in(folder, _NAME)
    reload = _read(text)
    if text is not None and (reload is None or reload.is_stale(now)):
        drop(folder)


def drop(folder: str) -> None:
    """Delete the reload."""
    remove(folder, _NAME)


def _read(text: str | None) -> Reload | None:
    try:
        value = read(text or "")
    except ValueError:
        return None
    fields = value if isinstance(value, dict) else {}
    texts = [fields.get(name) for name in ("plan", "session", "cwd")]
    at, kind, approved = fields.get("at"), fields.get("kind", PENDING), fields.get("approved", True)
    if not all(isinstance(element, str) for element in texts) or kind not in KINDS:
        return None
    if not isinstance(at, int | float) or not isinstance(approved, bool):
        return None
    plan, session, cwd = map(str, texts)
    return Reload(plan, session, at, cwd, kind, approved)
