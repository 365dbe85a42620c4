"""Requests that must not succeed: another site, another name, a crooked path, a forged answer."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from shutil import copytree, ignore_patterns, which
from typing import TYPE_CHECKING

import pytest

from tests.board.conftest import Served
from tests.journeys.test_commands import Office

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.board.conftest import Reply

pytestmark = pytest.mark.crash


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One board for all attacks: none of them may change what it shows."""
    office = Office(tmp_path_factory.mktemp("attacked"))
    assert office.run("--finish").startswith("exit 5")
    served = Served(office)
    yield served
    served.stop()
    office.close()


ANSWER = "said=yes&note=x"
FORM = "application/x-www-form-urlencoded"


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
        f"localhost.:{board.port}", f"127.0.0.1.:{board.port}", f"user@{board.host}", "127.0.0.1:0",
        f"127.0.0.1:0{board.port}", f"2130706433:{board.port}", f"{board.host},evil.example",
        f"{board.host}/", f"[::ffff:127.0.0.1]:{board.port}", f"sub.localhost:{board.port}",
    ):  # fmt: skip
        yield f"host {name!r}", request("GET", "/", f"Host: {name}", cookie)
    yield "no host", request("GET", "/", cookie)
    yield "two hosts", request("GET", "/", host, "Host: evil.example", cookie)
    yield "host in a folded line", request("GET", "/", f"Host: evil.example\r\n {board.host}", cookie)
    forwarded = (f"X-Forwarded-Host: {board.host}", f"Forwarded: host={board.host}")
    yield "forwarded host", request("GET", "/", "Host: evil.example", cookie, *forwarded)
    # Reading without the cookie, or with a wrong one.
    for path in ("/", "/questions", question, "/stream", "/keys"):
        yield f"no cookie {path}", request("GET", path, host)
    for value in ("", "x", secret[2][:-1], secret[2].upper(), f"{secret[2]}x", "é"):
        yield f"cookie {value!r}", request("GET", "/", host, f"Cookie: {secret[0]}={value}")
    yield "cookie of another port", request("GET", "/", host, f"Cookie: asbuilt_board_1={secret[2]}")
    yield "cookie inside another", request("GET", "/", host, f"Cookie: x={board.cookie}")
    yield "3,000 cookies", request("GET", "/", host, "Cookie: " + "; ".join(["x=1"] * 3_000))
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
    yield (
        "two sites",
        request("GET", "/", host, cookie, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"),
    )
    upgrade = ("Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: eA==")
    yield (
        "socket from another site",
        request("GET", "/", host, cookie, "Origin: http://evil.example", *upgrade),
    )
    for origin in (
        "http://evil.example",
        f"http://{board.host}/",
        f"HTTP://{board.host}",
        f"http://127.0.0.1:0{board.port}",
        f"http://user@{board.host}",
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
    # Crooked paths and headers.
    for path in (
        "/static/../keys", "/static/%2e%2e/keys", "/static/..%2fapp.py", "/..", "//", "/run//x", "/.", "/%2e",
        "/\\", "/a%00b", "/static/board.css%00", "/run/x y", "/stati%63/board.css", "/plan/x/%ff",
        "/" + "a" * 3_000, "http://evil.example/", "*", "/enter/..", "/static/app.py", "/static/",
        "/attempt/x/../../etc.passwd", "/question/x/a99999999999", "//evil.example/", "/questions;x=1",
        "/static/..;/keys", "/static/....//keys", "/static/%252e%252e/keys", "/%c0%af", "/questions#x",
        "/Questions", "/keys%0d%0aX:%20y", f"{question}'--", "/plan/x/Li4vLi4vLi4vZXRjL3Bhc3N3ZA",
        "/plan/x/=", "/run/x/..", f"{question.removesuffix('1')}-1",
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
    for token in ("", "x", "A" * 32, "A" * 1_900, "../keys", "*", "%41", "tokens", secret[2]):
        yield f"token {token[:8]!r}", request("GET", f"/enter/{token}", host)


def forged(board: Served, question: str) -> Iterator[tuple[str, bytes]]:
    """Name each answer that the user has not given by the question's form."""
    host, cookie = f"Host: {board.host}", f"Cookie: {board.cookie}"
    ours, form = f"Origin: http://{board.host}", f"Content-Type: {FORM}"
    for kind in (
        "text/plain",
        "application/json",
        "multipart/form-data; boundary=x",
        "",
        f"{FORM}, text/plain",
    ):
        yield (
            f"answer as {kind!r}",
            request("POST", question, host, cookie, ours, f"Content-Type: {kind}", body=ANSWER),
        )
    for body in (
        "said=maybe", "said=YES", "said=yes&said=no", "note=x", "said[]=yes", "said=yes%00", "said=%ff",
        "%", "said",
        "said=yes&option=z", "said=yes&a=1&b=1&c=1&d=1&e=1&f=1&g=1&h=1", "\x1f\b", "said=y%E9s",
    ):  # fmt: skip
        yield (
            f"form {body!r}",
            request("POST", question, host, cookie, ours, form, body=body),
        )
    yield "form without a body", request("POST", question, host, cookie, ours, form)
    yield (
        "answer in the query",
        request("POST", f"{question}?{ANSWER}", host, cookie, ours, form),
    )
    for path in ("/stream", "/static/board.js", "/", "/questions"):
        yield (
            f"post to {path}",
            request("POST", path, host, cookie, ours, form, body=ANSWER),
        )
    for framing in (
        "Content-Length: +15", "Content-Length: 0xf", "Content-Length: 15, 8", "Content-Length: -1",
        "Content-Length: " + "9" * 30, "Transfer-Encoding: xchunked", "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding : chunked", "X: a\0b", "X: a\rb", "X Y: z",
    ):  # fmt: skip
        head = request("POST", question, host, cookie, ours, form, framing)
        yield f"framing {framing[:30]!r}", head + ANSWER.encode()
    chunked = request("POST", question, host, cookie, ours, form, "Transfer-Encoding: chunked")
    for chunks in (b"zz\r\n", b"-1\r\n", b"8\r\nsaid=yes\r\nzz\r\n", b"8\r\nsaid=yesXX0\r\n\r\n"):
        yield f"chunks {chunks!r}", chunked + chunks
    smuggled = request("POST", question, host, cookie, ours, form, body=ANSWER)
    yield "answer inside a refused one", request("POST", question, host, body=smuggled.decode())
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
    tried = [*attacks(board, question), *forged(board, question)]
    tried += [("used link", request("GET", link, f"Host: {board.host}"))]
    assert len(tried) >= 170
    succeeded = [name for name, data in tried if is_success(board.send(data))]
    assert succeeded == []
    assert "not answered" in board.office.asbuilt("approve", "show", "a1")


def test_an_answer_that_is_cut_off_is_none(board: Served) -> None:
    repo = (
        board.get("/questions", f"Cookie: {board.cookie}").body.partition("/question/")[2].partition("/")[0]
    )
    ours = (f"Host: {board.host}", f"Cookie: {board.cookie}", f"Origin: http://{board.host}")
    for length in ("Content-Length: 40", "Transfer-Encoding: chunked"):
        head = request("POST", f"/question/{repo}/a1", *ours, f"Content-Type: {FORM}", length)
        with socket.create_connection(("127.0.0.1", board.port)) as line:
            line.sendall(head + b"f\r\nsaid=yes&note=it")
    # The board has closed both before it answers this one.
    assert 'value="yes"' in board.get(f"/question/{repo}/a1", f"Cookie: {board.cookie}").body
    assert "not answered" in board.office.asbuilt("approve", "show", "a1")


def test_a_yes_whose_note_says_no_is_no_answer(board: Served) -> None:
    repo = (
        board.get("/questions", f"Cookie: {board.cookie}").body.partition("/question/")[2].partition("/")[0]
    )
    ours = (f"Host: {board.host}", f"Cookie: {board.cookie}", f"Origin: http://{board.host}")
    body = "said=yes&note=no%2C+bring+the+test+back"
    reply = board.send(request("POST", f"/question/{repo}/a1", *ours, f"Content-Type: {FORM}", body=body))
    assert "The note does not say yes; nothing was answered." in reply.body
    assert "not answered" in board.office.asbuilt("approve", "show", "a1")


def test_a_cookie_that_another_port_has_set_does_not_sign_the_user_out(board: Served) -> None:
    tossed = f"{board.cookie.partition('=')[0]}=x"
    for cookies in (f"{tossed}; {board.cookie}", f"{board.cookie}; {tossed}"):
        assert board.get("/questions", f"Cookie: {cookies}").status == 200


def test_another_user_of_the_machine_is_not_answered_with_a_stolen_cookie_or_link(board: Served) -> None:
    if os.geteuid() != 0 or which("setpriv") is None:
        pytest.skip("NOT RUN: to become another user takes root and setpriv")
    script = (
        "import sys, urllib.request as r\n"
        "print(r.urlopen(r.Request(sys.argv[1], headers={'Cookie': sys.argv[2]}), timeout=10).status)"
    )
    for path in ("/questions", board.link().partition(board.host)[2]):
        command = (sys.executable, "-c", script, f"http://{board.host}{path}", board.cookie)
        other = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
        theirs = subprocess.run([*other, *command], capture_output=True, text=True, check=False)
        assert (theirs.stdout, "reset" in theirs.stderr or "closed" in theirs.stderr) == ("", True)
        assert subprocess.run(command, capture_output=True, text=True, check=False).stdout == "200\n"


def test_no_link_leads_to_another_program_that_has_the_port(board: Served, tmp_path: Path) -> None:
    copytree(board.office.state, tmp_path / "state", ignore=ignore_patterns("board", "*.lock"))
    elsewhere = Office(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as thief:
        port = str(thief.getsockname()[1])
        refused = elsewhere.asbuilt("board", "--no-open", "--port", port)
    assert refused.startswith("exit 2\n")
    assert f"the board cannot listen on 127.0.0.1, port {port}" in refused
    assert "/enter/" not in refused
    assert "no board runs" in elsewhere.asbuilt("board", "--print-link")
    files = ("--certificate", "c.pem", "--key", "k.pem")
    every = elsewhere.asbuilt("board", "--no-open", "--bind", "0.0.0.0", *files)  # noqa: S104 - refused
    assert "the board does not listen on 0.0.0.0" in every


def test_a_second_board_is_refused_and_the_first_keeps_its_cookie(board: Served) -> None:
    refused = board.office.asbuilt("board", "--no-open", "--port", "18643")
    assert f"a board runs already, at http://{board.host}" in refused
    assert board.link().startswith(f"http://{board.host}/enter/")
    assert board.get("/questions", f"Cookie: {board.cookie}").status == 200


def test_a_link_from_another_site_lands_on_a_page_that_reloads_and_shows_nothing(board: Served) -> None:
    sent = ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
    reply = board.get("/questions", *sent)
    assert (reply.status, 'http-equiv="refresh"' in reply.body, "a1" in reply.body) == (200, True, False)


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script>", '" onmouseover=alert(1) x="', "</textarea><img src=x onerror=alert(1)>"],
)
def test_a_text_of_a_plan_or_a_person_is_text_on_every_page(board: Served, text: str) -> None:
    office, name = board.office, f"x{len(text)}"
    plan = f"# {text}\n\n## Phase 1 — {text}\n\n- [ ] {text}\n"
    (office.shop / "plans" / f"{name}.md").write_text(plan, encoding="utf-8")
    office.git("add", ".")
    office.git("commit", "-qm", text)
    office.asbuilt("run", name, "--script", str(office.script), "--auto")
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


HIDDEN = """
[[turn]]
role = "implement"
acts = [ { write = "a\\u202eb\\u001b[2J.py", text = "x = 1\\n" }, { say = "Done." } ]
[[turn]]
role = "verify"
acts = [ { verdict = "pass" } ]
"""


def test_a_sign_off_shows_the_change_of_the_run_that_made_it_and_no_character_hides(board: Served) -> None:
    office = board.office
    (office.shop / "plans" / "hidden.md").write_text(
        "# X\n\n## Phase 1 — X\n\n- [ ] x\n\n### Verification\n\n- `ls *.py`\n"
    )
    office.git("add", ".")
    office.git("commit", "-qm", "x")
    office.script.write_text(HIDDEN, encoding="utf-8")
    office.asbuilt("run", "hidden", "--script", str(office.script))
    assert "sign off" in office.asbuilt("land", "hidden")
    inbox = board.get("/questions", f"Cookie: {board.cookie}").body
    assert "plans/hidden.md, asked" in inbox
    links = re.findall('href="(/question/[^"]+)"', inbox)
    pages = [board.get(link, f"Cookie: {board.cookie}").body for link in links]
    assert [page for page in pages if "\u202e" in page or "\x1b" in page] == []
    asked = next(page for page in pages if "name hides characters" in page)
    assert "<ins>+x = 1" in asked
    assert "No work yet" not in asked
