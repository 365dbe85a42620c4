"""The wish to go on with a plan behind a /clear: kept by one conversation, taken once, and stale in an hour.

The one rule: whoever takes a reload has renamed it away first, so that nobody else has it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.policy.notation import read, write
from asbuilt.session.conversation import put, remove, text_in

if TYPE_CHECKING:
    from typing import Literal

    Kind = Literal["plan-pending", "plan-completed", "no-plan"]

PENDING: Final = "plan-pending"
KINDS: Final = (PENDING, "plan-completed", "no-plan")
LASTS_S: Final = 3_600
_NAME: Final = "reload"


class Reload(NamedTuple):
    """What is to be gone on with."""

    plan: str
    """Its path; empty: there is no plan."""
    session: str
    """The session that kept it; behind a /clear the conversation has another one."""
    at: float
    cwd: str
    kind: Kind = "plan-pending"
    approved: bool = True
    """Whether a person has said yes to the plan; one that is still being written is asked about first."""

    def is_stale(self, now: float) -> bool:
        """Tell whether it is too old to be meant; one from the future is as little."""
        return not 0 <= now - self.at <= LASTS_S


def keep(folder: str, reload: Reload) -> None:
    """Keep a reload, in place of the one before."""
    put(folder, _NAME, write(reload._asdict()))


def kept(folder: str, *, now: float) -> Reload | None:
    """Look at the reload that is kept, if it still counts."""
    reload = _read(text_in(folder, _NAME))
    return None if reload is None or reload.is_stale(now) else reload


def take(folder: str, *, now: float) -> Reload | None:
    """Take the reload: nobody gets it after that, whatever becomes of the one who took it."""
    taken = f".{_NAME}.taken.{os.getpid()}"
    try:
        os.rename(f"{folder}/{_NAME}", f"{folder}/{taken}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    reload = _read(text_in(folder, taken))
    remove(folder, taken)
    return None if reload is None or reload.is_stale(now) else reload


def drop_stale(folder: str, *, now: float) -> None:
    """Forget it if it no longer counts."""
    text = text_in(folder, _NAME)
    reload = _read(text)
    if text is not None and (reload is None or reload.is_stale(now)):
        drop(folder)


def drop(folder: str) -> None:
    """Forget it."""
    remove(folder, _NAME)


def _read(text: str | None) -> Reload | None:
    try:
        value = read(text or "")
    except ValueError:
        return None
    fields = value if isinstance(value, dict) else {}
    texts = [fields.get(name) for name in ("plan", "session", "cwd")]
    at, kind, approved = fields.get("at"), fields.get("kind", PENDING), fields.get("approved", True)
    if not all(isinstance(one, str) for one in texts) or kind not in KINDS:
        return None
    if not isinstance(at, int | float) or not isinstance(approved, bool):
        return None
    plan, session, cwd = map(str, texts)
    return Reload(plan, session, at, cwd, kind, approved)
