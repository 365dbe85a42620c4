"""The board's ASGI application: access, routes, pages.

Rule: `access.decide` comes first, for every request, also for files and streams.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import parse_qs, parse_qsl
from weakref import WeakValueDictionary

from asbuilt import wiring
from asbuilt.board import access, keys
from asbuilt.board.access import Place, Verdict
from asbuilt.board.addresses import plan_in
from asbuilt.board.attempt_page import attempt_page
from asbuilt.board.now_page import now_page
from asbuilt.board.plan_page import plan_page
from asbuilt.board.question_page import answer_question, inbox_page, question_page
from asbuilt.board.run_page import phase_page, run_page
from asbuilt.board.stream import Changes, size_of
from asbuilt.errors import AsbuiltError
from asbuilt.pages.document import Code, Document, Paragraph, Table
from asbuilt.pages.html import body, text
from asbuilt.pages.style import STYLE

if TYPE_CHECKING:
    from asbuilt.board.reading import Reading

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MAX_BODY: Final = 64 * 1024
_BODY_S: Final = 10.0
_FORM: Final = "application/x-www-form-urlencoded"
_FRESH_S: Final = 1.0
"""A page is made again after this time: it shows how long ago things were."""
_PAGES: Final = 8
_HTML: Final = "text/html; charset=utf-8"
_FILES: Final = {"board.css": "text/css; charset=utf-8", "board.js": "text/javascript; charset=utf-8"}
_QUESTION: Final = re.compile(r"/question/(?P<repo>[^/]+)/a(?P<number>[0-9]{1,9})")
_SHELL: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · asbuilt</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/board.css">
<script src="/static/board.js" defer></script>
</head>
<body data-cursor="{cursor}"{noted}>
<nav aria-label="Pages"><a href="/">Now</a> <a href="/questions">Questions</a> <a href="/keys">Keys</a>
<span id="live" role="status"></span></nav>
{body}
</body>
</html>
"""
_RELOAD: Final = """\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta http-equiv="refresh" content="0"><title>asbuilt</title></head>
<body><p>Opening the board.</p></body></html>
"""
_KEYS: Final = (
    ("n", "Now"),
    ("q", "Questions"),
    ("j, k", "the next and the previous link of the page"),
    ("Enter", "open the link"),
    ("u", "one page up"),
    ("r", "reload"),
    ("?", "this page"),
)
_REFUSED: Final = {
    Verdict.BAD_PATH: "This is not a page of the board.",
    Verdict.NO_LOGIN: "This browser is not signed in. Run `asbuilt board --print-link` and open the link.",
    Verdict.FOREIGN: "Another page sent this request. The board answers only its own pages.",
    Verdict.BAD_METHOD: "The board answers GET and POST.",
    Verdict.WRONG_HOST: "The board does not answer under this name.",
}


class Kept(NamedTuple):
    """A page that was made, and the state of the journal that it shows."""

    state: tuple[int, int]
    began_at: float
    """A request that came before this moment gets this page."""
    made_at: float
    status: int
    data: bytes


class Board:
    """The application."""

    def __init__(self, reading: Reading, place: Place, folder: Path, changes: Changes) -> None:
        """`folder` holds the one-time tokens."""
        self._reading = reading
        self._place = place
        self._folder = folder
        self._changes = changes
        self._kept: dict[str, Kept] = {}
        self._making: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        verdict = access.decide(self._place, scope["method"], raw.partition(b"?")[0], headers)
        path = raw.partition(b"?")[0].decode("latin-1")
        if verdict is Verdict.RELOAD:
            await _send(send, 200, _RELOAD.encode())
        elif verdict is Verdict.ENTER:
            await self._enter(path, send)
        elif verdict is not Verdict.PASS:
            await _send(send, verdict.value, self._page(_plain("Refused", _REFUSED[verdict])))
        elif scope["method"] == "POST":
            await self._answer(path, headers, receive, send)
        elif path == "/stream":
            await self._stream(scope, headers, receive, send)
        elif path.startswith(access.STATIC):
            await _static(path.removeprefix(access.STATIC), send)
        else:
            await self._show(path, send)

    async def _enter(self, path: str, send: Send) -> None:
        token = path.removeprefix(access.ENTER)
        if not await asyncio.to_thread(keys.take_token, self._folder, token):
            refusal = (
                "This link was used before or is older than 10 minutes. Run `asbuilt board --print-link`."
            )
            await _send(send, 401, self._page(_plain("Refused", refusal)))
            return
        secure = "; Secure" if self._place.scheme == "https" else ""
        cookie = f"{self._place.cookie_name}={self._place.cookie}; Path=/; HttpOnly; SameSite=Strict{secure}"
        await _send(send, 303, b"", ("location", "/"), ("set-cookie", cookie))

    async def _show(self, path: str, send: Send, note: str = "") -> None:
        """Send a page. Tabs that show the same page after a change share what the first one made."""
        came_at = time.monotonic()
        async with self._making.setdefault(path, asyncio.Lock()):
            kept = self._kept.pop(path, None)
            if kept is None or kept.began_at < came_at or note:
                kept = await self._current(path, kept, note)
            if not note:
                self._kept[path] = kept
            if len(self._kept) > _PAGES:
                del self._kept[next(iter(self._kept))]
        await _send(send, kept.status, kept.data)

    async def _current(self, path: str, kept: Kept | None, note: str) -> Kept:
        """Return a page that was made for an earlier request if it is still right, else a new one."""
        began_at = time.monotonic()
        cursor = await asyncio.to_thread(self._changes.read)
        state = cursor, size_of(self._watched(path))
        if kept is not None and kept.state == state and began_at - kept.made_at <= _FRESH_S and not note:
            return kept
        made = await asyncio.to_thread(self._made, path, cursor, note)
        return Kept(state, began_at, time.monotonic(), *made)

    def _made(self, path: str, cursor: int, note: str) -> tuple[int, bytes]:
        document = self._document(path, note)
        missing = _plain("Not found", "The journal has no such page.")
        return 200 if document else 404, self._page(document or missing, cursor, is_noted=bool(note))

    def _document(self, path: str, note: str = "") -> Document | None:
        reading = self._reading
        try:
            match path.strip("/").split("/"):
                case [""]:
                    return now_page(reading)
                case ["questions"]:
                    return inbox_page(reading)
                case ["keys"]:
                    return Document("Keys", (), (), (_keys(),), ())
                case ["plan", repo, plan]:
                    return plan_page(reading, repo, plan_in(plan))
                case ["phase", repo, plan, phase]:
                    return phase_page(reading, repo, plan_in(plan), phase)
                case ["run", repo, run]:
                    return run_page(reading, repo, run)
                case ["attempt", repo, attempt]:
                    return attempt_page(reading, repo, attempt)
                case ["question", *_] if asked := _question_in(path):
                    return question_page(reading, *asked, note)
                case _:
                    return None
        except ValueError:  # a name in the path that is none
            return None
        except AsbuiltError as error:
            return _plain("This page cannot be shown", str(error))

    async def _answer(self, path: str, headers: dict[str, list[str]], receive: Receive, send: Send) -> None:
        asked, fields, note = _question_in(path), await _fields(headers, receive), None
        if asked is not None and fields is not None:
            try:
                note = await asyncio.to_thread(answer_question, self._reading, *asked, fields)
            except AsbuiltError as error:
                note = str(error)
        if note is None:
            await _send(send, 400, self._page(_plain("Refused", "This answer cannot be read.")))
            return
        await self._show(path, send, note)
        # The answer is recorded; a worker that has to be started may take seconds.
        home = self._reading.home
        await asyncio.to_thread(wiring.ensure_worker, home, os.environ)

    async def _stream(
        self, scope: Scope, headers: dict[str, list[str]], receive: Receive, send: Send
    ) -> None:
        query = parse_qs(scope["query_string"].decode("latin-1")[:2_000])
        cursor = (headers.get("last-event-id") or query.get("after") or [""])[0]
        watched = self._watched((query.get("page") or [""])[0])
        await send(_start(200, "text/event-stream", ()))
        gone = asyncio.create_task(_disconnected(receive))
        async for message in self._changes.follow(cursor, watched):
            if gone.done():
                break
            await send({"type": "http.response.body", "body": message.encode(), "more_body": True})
        gone.cancel()
        await send({"type": "http.response.body", "body": b""})

    def _watched(self, page: str) -> Path | None:
        match page.strip("/").split("/"):
            case ["attempt", _, attempt]:
                try:
                    return self._reading.folder(attempt) / "events.jsonl"
                except ValueError:
                    return None
            case _:
                return None

    def _page(self, document: Document, cursor: int = 0, *, is_noted: bool = False) -> bytes:
        noted = ' data-note="first"' if is_noted else ""
        page = _SHELL.format(title=text(document.title), cursor=cursor, noted=noted, body=body(document))
        return page.encode("utf-8", "replace")


async def _body(receive: Receive) -> bytes | None:
    """Return the whole body of a request; None if it is too long, too slow or cut off."""
    data, more = b"", True
    try:
        async with asyncio.timeout(_BODY_S):
            while more:
                message = await receive()
                data += message.get("body", b"")
                more = message.get("more_body", False)
                if message["type"] != "http.request" or len(data) > MAX_BODY:
                    return None
    except TimeoutError:
        return None
    return data


async def _fields(headers: dict[str, list[str]], receive: Receive) -> dict[str, str] | None:
    """Return the fields of a form; None if it is no form, is cut off or has a field twice."""
    data, kind = await _body(receive), ",".join(headers.get("content-type", ()))
    if data is None or kind.partition(";")[0].strip().lower() != _FORM:
        return None
    try:
        pairs = parse_qsl(
            data.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=8,
        )
    except ValueError:
        return None
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else None


def _question_in(path: str) -> tuple[str, int] | None:
    """Return the repository and the number of a question's path; a number is never cut."""
    found = _QUESTION.fullmatch(path)
    return (found["repo"], int(found["number"])) if found else None


def _keys() -> Table:
    return Table(("key", "effect"), tuple(((Code(key),), (effect,)) for key, effect in _KEYS))


def _plain(title: str, text: str) -> Document:
    return Document(title, (), (), (Paragraph((text,)),), ())


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _static(name: str, send: Send) -> None:
    kind = _FILES.get(name)
    if kind is None:
        await _send(send, 404, b"")
        return
    data = resources.files("asbuilt.board").joinpath("static", name).read_bytes()
    lead = STYLE.encode() if name == "board.css" else b""
    await _send(send, 200, lead + data, kind=kind)


async def _send(send: Send, status: int, data: bytes, *more: tuple[str, str], kind: str = _HTML) -> None:
    await send(_start(status, kind, more))
    await send({"type": "http.response.body", "body": data})


def _start(status: int, kind: str, more: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    headers = {**access.HEADERS, "content-type": kind}
    pairs = [*headers.items(), *more]
    return {
        "type": "http.response.start",
        "status": status,
        "headers": [(name.encode(), value.encode()) for name, value in pairs],
    }
