"""The board's port, its cookie and its one-time links, in the state folder of the user (mode 0700)."""

from __future__ import annotations

import hashlib
import secrets
import socket
import time
from pathlib import Path
from typing import Final, NamedTuple

from asbuilt.session.conversation import put

LINK_S: Final = 600
"""How long a link can be opened, once."""


class Keys(NamedTuple):
    """What a board keeps between its starts."""

    port: int
    cookie: str


def keys_in(folder: Path, port: int | None = None) -> Keys:
    """Read the port and the cookie, or choose them once. Another port gets another cookie."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / "keys"
    try:
        kept, cookie = file.read_text(encoding="ascii").split()
        keys = Keys(int(kept), cookie)
    except (FileNotFoundError, ValueError):
        keys = Keys(port or _free_port(), secrets.token_urlsafe(32))
    if port not in (None, keys.port):
        keys = Keys(port, secrets.token_urlsafe(32))
    put(str(folder), file.name, f"{keys.port} {keys.cookie}")
    return keys


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def new_token(folder: Path) -> str:
    """Make a token that opens the board once. Only its digest is stored."""
    tokens = folder / "tokens"
    tokens.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in tokens.iterdir():
        if not _is_fresh(old):
            old.unlink(missing_ok=True)
    token = secrets.token_urlsafe(24)
    (tokens / _digest(token)).touch(mode=0o600)
    return token


def take_token(folder: Path, token: str) -> bool:
    """Use up a token; False if it is unknown, used or too old. Of two that use it at once, one succeeds."""
    file = folder / "tokens" / _digest(token)
    is_fresh = _is_fresh(file)
    try:
        file.unlink()
    except FileNotFoundError:
        return False
    return is_fresh


def _is_fresh(file: Path) -> bool:
    try:
        return 0 <= time.time() - file.stat().st_mtime < LINK_S
    except FileNotFoundError:
        return False


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
