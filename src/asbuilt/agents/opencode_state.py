"""Look up in opencode's own database what it does not say over ACP: the status with which its model failed.

The one rule: what is not as it was measured is unknown; the database is the agent's, and may hold anything.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_LAST: Final = "SELECT data FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT 1"
_WAIT_S: Final = 1.0


def last_status(state: Path, session: str) -> int | None:
    """Give the HTTP status of the error that a conversation's last message ended with."""
    try:
        with closing(
            sqlite3.connect(f"{(state / 'opencode.db').as_uri()}?mode=ro", uri=True, timeout=_WAIT_S)
        ) as database:
            row = database.execute(_LAST, (session,)).fetchone()
        message = json.loads(row[0]) if row else None
    except (sqlite3.Error, ValueError, TypeError, RecursionError):
        return None
    match message:
        case {"error": {"data": {"statusCode": int(status)}}}:
            return status
        case _:
            return None
