"""Requests that must not succeed: another site, another name, a crooked path, a forged answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.board.conftest import Reply, Served

pytestmark = pytest.mark.crash
ANSWER = "said=yes&note=x"


def request(method: str, path: str, *headers: str, body: str = "") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Connection: close", *headers]
    lines += [f"Content-Length: {len(body)}"] if body else []
    return ("\r\n".join((*lines, "", "")) + body).encode("utf-8", "surrogateescape")


def attacks(board: Served, question: str) -> Iterator[tuple[str, bytes]]:
    """Name each attack. Those with the cookie are made by a page that the user's browser shows."""
    host, cookie = f"Host: {board.host}", f"Cookie: {board.cookie}"
    ours = f"Origin: http://{board.host}"
    secret = board.cookie.partition("=")
    # Another name for this machine, so that a page of that name would be read as ours.
    for name in (
        "evil.example", f"evil.example:{board.port}", "127.0.0.1", "localhost", f"127.0.0.1:{board.port + 1}",
        f"127.0.0.1.evil.example:{board.port}", f"[::1]:{board.port}", f"0.0.0.0:{board.port}", "",
        f"LOCALHOST:{board.port}", f"127.0.0.1:{board.port}@evil.example", f"127.1:{board.port}",
    ):  # fmt: skip
        yield f"host {name!r}", request("GET", "/", f"Host: {name}", cookie)
    yield "no host", request("GET", "/", cookie)
    yield "two hosts", request("GET", "/", host, "Host: evil.example", cookie)
    # Reading without the cookie, or with a wrong one.
    for path in ("/", "/questions", question, "/stream", "/keys"):
        yield f"no cookie {path}", request("GET", path, host)
    for value in ("", "x", secret[2][:-1], secret[2].upper(), f"{secret[2]}x", "é"):
        yield f"cookie {value!r}", request("GET", "/", host, f"Cookie: {secret[0]}={value}")
    yield "cookie of another port", request("GET", "/", host, f"Cookie: asbuilt_board_1={secret[2]}")
    yield "two cookies", request("GET", "/", host, f"{cookie}; {secret[0]}=x")
    yield "cookie in the query", request("GET", f"/?{board.cookie}", host)
    yield "cookie as a header", request("GET", "/", host, f"Authorization: Bearer {secret[2]}")
    # A page of another site, or of another port of this machine, reads.
    for site in ("cross-site", "same-site", "none, same-origin", "SAME-ORIGIN"):
        yield (
            f"fetch {site}",
            request("GET", question, host, cookie, f"Sec-Fetch-Site: {site}", "Sec-Fetch-Mode: cors"),
        )
        yield (
            f"image {site}",
            request(
                "GET",
                "/",
                host,
                cookie,
                f"Sec-Fetch-Site: {site}",
                "Sec-Fetch-Mode: no-cors",
                "Sec-Fetch-Dest: image",
            ),
        )
    yield (
        "frame",
        request(
            "GET",
            "/",
            host,
            cookie,
            "Sec-Fetch-Site: cross-site",
            "Sec-Fetch-Mode: navigate",
            "Sec-Fetch-Dest: iframe",
        ),
    )
    for origin in (
        "http://evil.example",
        "null",
        f"http://localhost:{board.port + 1}",
        f"https://{board.host}",
        f"http://{board.host}.evil.example",
    ):
        yield f"read from {origin}", request("GET", "/", host, cookie, f"Origin: {origin}")
        yield f"stream from {origin}", request("GET", "/stream?after=0", host, cookie, f"Origin: {origin}")
        yield (
            f"answer from {origin}",
            request("POST", question, host, cookie, f"Origin: {origin}", body=ANSWER),
        )
    # A forged answer.
    yield "answer without origin", request("POST", question, host, cookie, body=ANSWER)
    yield "answer without cookie", request("POST", question, host, ours, body=ANSWER)
    yield (
        "answer cross-site",
        request("POST", question, host, cookie, ours, "Sec-Fetch-Site: cross-site", body=ANSWER),
    )
    yield (
        "answer same-site",
        request("POST", question, host, cookie, ours, "Sec-Fetch-Site: same-site", body=ANSWER),
    )
    yield (
        "two origins",
        request("POST", question, host, cookie, ours, "Origin: http://evil.example", body=ANSWER),
    )
    longer = f"{question.removesuffix('1')}0000000012"
    yield "answer to a number that is cut", request("POST", longer, host, cookie, ours, body=ANSWER)
    yield "answer by GET", request("GET", f"{question}?{ANSWER}", host)
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "post"):
        yield f"method {method}", request(method, question, host, cookie, ours, body=ANSWER)
    yield (
        "answer too long",
        request("POST", question, host, cookie, ours, body="said=yes&note=" + "x" * 70_000),
    )
    # Crooked paths and headers.
    for path in (
        "/static/../keys", "/static/%2e%2e/keys", "/static/..%2fapp.py", "/..", "//", "/run//x", "/.", "/%2e",
        "/\\", "/a%00b", "/static/board.css%00", "/run/x y", "/stati%63/board.css", "/plan/x/%ff",
        "/" + "a" * 3_000, "http://evil.example/", "*", "/enter/..", "/static/app.py", "/static/",
        "/attempt/x/../../etc.passwd", "/question/x/a99999999999",
    ):  # fmt: skip
        yield f"path {path[:30]}", request("GET", path, host, cookie)
    yield "split header", request("GET", "/", f"{host}\r\nX: y\r\n\r\nGET / HTTP/1.1\r\nHost: {board.host}")
    yield "two lengths", request("POST", question, host, ours, "Content-Length: 3", body=ANSWER)
    yield (
        "length and chunks",
        request("POST", question, host, ours, "Transfer-Encoding: chunked", body=ANSWER),
    )
    yield "huge header", request("GET", "/", host, "X: " + "y" * 70_000)
    # A token that is wrong, used, or guessed.
    for token in ("", "x", "A" * 32, "../keys", secret[2]):
        yield f"token {token[:8]!r}", request("GET", f"/enter/{token}", host)


def is_success(reply: Reply) -> bool:
    return reply.status in (200, 303) or "phase 2a" in reply.body or "greet" in reply.body


def test_no_attack_reads_a_page_or_records_an_answer(board: Served) -> None:
    repo = (
        board.get("/questions", f"Cookie: {board.cookie}").body.partition("/question/")[2].partition("/")[0]
    )
    question = f"/question/{repo}/a1"
    assert "phase 2a" in board.get(question, f"Cookie: {board.cookie}").body
    link = board.link().partition(board.host)[2]
    assert board.get(link).status == 303
    tried = [*attacks(board, question), ("used link", request("GET", link, f"Host: {board.host}"))]
    assert len(tried) >= 60
    succeeded = [name for name, data in tried if is_success(board.send(data))]
    assert succeeded == []
    assert "not answered" in board.office.asbuilt("approve", "show", "a1")


def test_a_link_from_another_site_lands_on_a_page_that_reloads_and_shows_nothing(board: Served) -> None:
    sent = ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
    reply = board.get("/questions", *sent)
    assert (reply.status, 'http-equiv="refresh"' in reply.body, "a1" in reply.body) == (200, True, False)


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script>", '" onmouseover=alert(1) x="', "</textarea><img src=x onerror=alert(1)>"],
)
def test_a_text_of_a_plan_or_a_person_is_text_on_every_page(board: Served, text: str) -> None:
    office = board.office
    (office.shop / "plans" / "x.md").write_text(f"# {text}\n\n## Phase 1 — {text}\n\n- [ ] {text}\n")
    office.git("add", ".")
    office.git("commit", "-qm", text)
    office.asbuilt("run", "x", "--script", str(office.script), "--auto")
    pages, seen = ["/"], set()
    while pages:
        path = pages.pop()
        seen.add(path)
        body = board.get(path, f"Cookie: {board.cookie}").body
        assert text not in body, path
        links = {one.partition('"')[0] for one in body.split('href="')[1:]}
        pages += [
            one
            for one in links
            if one.startswith("/") and not one.startswith("/static") and one not in seen | {*pages}
        ]
    assert len(seen) > 5
