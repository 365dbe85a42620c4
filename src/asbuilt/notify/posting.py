"""Post notifications as JSON to an address of the user's choice: a webhook, ntfy, or a Slack-compatible URL.

Settings may refer to values elsewhere: `env:NAME`, `file:PATH`. Errors never contain a secret.

Rule: a connected post is cut off 10 s after its start, follows no redirect, and reads only the status of the
response.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from asbuilt._version import VERSION
from asbuilt.errors import SettingInvalid

if TYPE_CHECKING:
    from asbuilt.lifecycle.notify import Message
    from asbuilt.settings import Settings

PATIENCE_S: Final = 10.0
"""Time limit of a post in seconds; name resolution, and connecting to further addresses, can add to it."""
SIGNATURE: Final = "X-Asbuilt-Signature"
_TAKEN: Final = range(200, 300)
_MOVED: Final = range(300, 400)
_VARIABLE: Final = "env:"
_FILE: Final = "file:"
_MOST: Final = 4_096


class Post(NamedTuple):
    """A request to send."""

    url: str
    body: bytes
    headers: Mapping[str, str]


class Posting:
    """A notification channel over HTTP."""

    def __init__(self, way: str, made: Callable[[Message], Post], *, patience_s: float = PATIENCE_S) -> None:
        """Take its name and a function that builds the request; references are resolved for every message."""
        self.way = way
        self._made = made
        self._patience_s = patience_s

    def call(self, message: Message) -> str | None:
        """Post a message; return an error message, or None on success."""
        try:
            post = self._made(message)
        except SettingInvalid as problem:
            return problem.what
        place = urlsplit(post.url)
        return _sent(post, place, self._patience_s)


def posts(settings: Settings, environ: Mapping[str, str]) -> dict[str, Posting]:
    """Return every configured channel by name."""
    urls = {way: settings.text(f"notify.{way}") for way in ("webhook", "ntfy", "slack")}
    made = {
        "webhook": partial(webhook, urls["webhook"], settings.text("notify.secret"), environ),
        "ntfy": partial(ntfy, urls["ntfy"], settings.text("notify.token"), environ),
        "slack": partial(slack, urls["slack"], environ),
    }
    return {way: Posting(way, made[way]) for way, url in urls.items() if url}


def variables(settings: Settings) -> list[str]:
    """Return the environment variables that the channels refer to."""
    values = (settings.text(f"notify.{name}") for name in ("webhook", "secret", "ntfy", "token", "slack"))
    return [name for name in map(_variable_in, values) if name]


def webhook(url: str, secret: str, environ: Mapping[str, str], message: Message) -> Post:
    """Build a signed request, so that a receiver can verify its sender and age."""
    body = _json(
        {
            "schema": "asbuilt.notice/1",
            "id": message.id,
            "at": message.at,
            "title": message.title,
            "text": message.text,
            "notices": [notice._asdict() for notice in message.notices],
        }
    )
    headers = {"X-Asbuilt-Id": message.id}
    if secret:
        key = pointed_to(secret, environ, key="notify.secret")
        headers[SIGNATURE] = signature(key, body, at=int(time.time()))
    return Post(address(url, environ, key="notify.webhook"), body, headers)


def ntfy(url: str, token: str, environ: Mapping[str, str], message: Message) -> Post:
    """Build a request to a topic, which is the last part of the URL."""
    place = urlsplit(address(url, environ, key="notify.ntfy"))
    root, _, topic = place.path.rstrip("/").rpartition("/")
    headers = {}
    if token:
        headers["Authorization"] = f"Bearer {pointed_to(token, environ, key='notify.token')}"
    body = _json({"topic": topic, "title": message.title, "message": message.text})
    return Post(place._replace(path=f"{root}/", query="").geturl(), body, headers)


def slack(url: str, environ: Mapping[str, str], message: Message) -> Post:
    """Build a Slack-compatible request."""
    text = f"{message.title}\n{message.text}"
    for char, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(char, name)
    return Post(address(url, environ, key="notify.slack"), _json({"text": text}), {})


def signature(secret: str, body: bytes, *, at: int) -> str:
    """Sign a body and its time: `t=1763240000,v1=` and the HMAC-SHA256 of `1763240000.BODY` in hex."""
    made = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={made.hexdigest()}"


def address(url: str, environ: Mapping[str, str], *, key: str) -> str:
    """Return the URL that a setting contains or refers to; only http and https are valid."""
    found = resolved(url, environ, key=key)
    try:
        place = urlsplit(found)
        is_one = place.scheme in ("http", "https") and bool(place.hostname) and place.port != 0
    except ValueError:
        is_one = False
    if not is_one or " " in found or not found.isascii():
        raise SettingInvalid(
            f"{key} is no address",
            why="Notifications are sent to this address by http or https.",
            next_step=f"`asbuilt config set {key} https://example.org/hook`",
        )
    return found


def _variable_in(text: str) -> str | None:
    return text.removeprefix(_VARIABLE) if text.startswith(_VARIABLE) else None


def pointed_to(text: str, environ: Mapping[str, str], *, key: str) -> str:
    """Return the secret that a setting refers to; refuses a literal secret, without repeating it."""
    if not text.startswith((_VARIABLE, _FILE)):
        raise SettingInvalid(
            f"{key} does not point anywhere",
            why="Settings are shown, copied and committed; a secret belongs in a file or a variable.",
            next_step=f"`asbuilt config set {key} env:NAME`, or file:/PATH.",
        )
    return resolved(text, environ, key=key)


def resolved(text: str, environ: Mapping[str, str], *, key: str) -> str:
    """Resolve a reference; other values are returned as they are."""
    if not text.startswith((_VARIABLE, _FILE)):
        return text
    name = _variable_in(text)
    found = _content(Path(text.removeprefix(_FILE)), environ) if name is None else environ.get(name)
    if not found or len(found) > _MOST or not (found.isascii() and found.isprintable()):
        raise SettingInvalid(
            f"{key} points to {text}, and there is no line of plain text",
            why="Without it, no message can be sent this way.",
            next_step=f"`asbuilt config set {key} env:NAME`, or put it there.",
        )
    return found


def _content(file: Path, environ: Mapping[str, str]) -> str | None:
    parts = file.parts
    at = Path(environ.get("HOME", "/"), *parts[1:]) if parts[:1] == ("~",) else file
    try:
        with at.open(encoding="utf-8") as opened:
            return opened.read(_MOST + 1).strip()
    except (OSError, ValueError):
        return None


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _sent(post: Post, place: SplitResult, patience_s: float) -> str | None:
    connection, is_late = _connection(place, patience_s), threading.Event()
    timer = threading.Timer(patience_s, _cut, (connection, is_late))
    timer.daemon = True
    host = place.netloc.rpartition("@")[2]
    try:
        timer.start()
        target = (place.path or "/") + (f"?{place.query}" if place.query else "")
        headers = {"Content-Type": "application/json", "User-Agent": f"asbuilt/{VERSION}", **post.headers}
        connection.request("POST", target, post.body, headers)
        status = connection.getresponse().status
    except (OSError, HTTPException, UnicodeError) as error:
        if is_late.is_set() or isinstance(error, TimeoutError):
            return f"{host} did not answer within {patience_s:.0f} s"
        if isinstance(error, HTTPException):
            return f"{host} cut off, or answered with no HTTP"
        why = error.strerror if isinstance(error, OSError) else None
        return f"{host} cannot be reached: {why or type(error).__name__}"
    finally:
        timer.cancel()
        connection.close()
    if status in _MOVED:
        return f"{host} answered {status}: it leads elsewhere, and is not followed"
    return None if status in _TAKEN else f"{host} answered {status}"


def _connection(place: SplitResult, patience_s: float) -> HTTPConnection:
    kind = HTTPSConnection if place.scheme == "https" else HTTPConnection
    return kind(place.hostname or "", place.port, timeout=patience_s)


def _cut(connection: HTTPConnection, is_late: threading.Event) -> None:
    """Cut off a slow response: every byte would restart the socket's timeout."""
    is_late.set()
    with suppress(OSError):
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)
