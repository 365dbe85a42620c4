"""The ways over the network, to real servers on loopback."""

from __future__ import annotations

import hashlib
import json
import socket
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.lifecycle.notify import Message, Notice
from asbuilt.notify.posting import Posting, ntfy, slack, webhook
from tests.notify.receiving import receiving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.notify.receiving import Receiver

SECRET = "correct horse <battery> & staple"  # noqa: S105 - the word that must not get out
ENVIRON = {"HOOK_SECRET": SECRET, "HOME": "/nowhere"}
LANDED = Message(
    "5f0c",
    "2026-11-15T01:10:00.000Z",
    (Notice("asbuilt: grüße.1 landed", "All that was proven <is> & there."),),
)
NIGHT = LANDED._replace(notices=(*LANDED.notices, Notice("asbuilt: login.2 failed", "All work is kept.")))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as lent:
        yield lent


def _signed(secret: bytes, text: bytes) -> str:
    """Sign as RFC 2104 says, without the module that does."""
    key = (secret if len(secret) <= 64 else hashlib.sha256(secret).digest()).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key) + text).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in key) + inner).hexdigest()


def test_a_webhook_is_signed_with_its_time_so_that_its_receiver_can_tell(receiver: Receiver) -> None:
    before = int(time.time())
    way = Posting("webhook", partial(webhook, f"{receiver.url}/hook?x=1", "env:HOOK_SECRET", ENVIRON))
    assert way.call(LANDED) is None
    (got,) = receiver.got
    signed = dict(part.split("=", 1) for part in got.headers["X-Asbuilt-Signature"].split(","))
    assert signed["v1"] == _signed(SECRET.encode(), signed["t"].encode() + b"." + got.body)
    assert before <= int(signed["t"]) <= int(time.time())
    assert (got.path, got.headers["X-Asbuilt-Id"], got.headers["Content-Type"]) == (
        "/hook?x=1", "5f0c", "application/json",
    )  # fmt: skip
    assert json.loads(got.body) == snapshot(
        {
            "schema": "asbuilt.notice/1",
            "id": "5f0c",
            "at": "2026-11-15T01:10:00.000Z",
            "title": "asbuilt: grüße.1 landed",
            "text": "All that was proven <is> & there.",
            "notices": [{"title": "asbuilt: grüße.1 landed", "text": "All that was proven <is> & there."}],
        }
    )


def test_ntfy_gets_a_topic_and_a_token(receiver: Receiver) -> None:
    way = Posting("ntfy", partial(ntfy, f"{receiver.url}/below/my-topic", "env:HOOK_SECRET", ENVIRON))
    assert way.call(NIGHT) is None
    (got,) = receiver.got
    assert (got.path, got.headers["Authorization"], json.loads(got.body)) == snapshot(
        (
            "/below/",
            "Bearer correct horse <battery> & staple",
            {
                "topic": "my-topic",
                "title": "asbuilt: 2 notices",
                "message": """\
grüße.1 landed. All that was proven <is> & there.
login.2 failed. All work is kept.\
""",
            },
        )
    )


def test_slack_gets_a_text_in_which_nothing_is_a_link(receiver: Receiver, tmp_path: Path) -> None:
    (tmp_path / "hook").write_text(f"{receiver.url}/services/T0/B0\n", encoding="utf-8")
    assert Posting("slack", partial(slack, "file:~/hook", {"HOME": str(tmp_path)})).call(NIGHT) is None
    (got,) = receiver.got
    assert (got.path, json.loads(got.body)) == snapshot(
        (
            "/services/T0/B0",
            {
                "text": """\
asbuilt: 2 notices
grüße.1 landed. All that was proven &lt;is&gt; &amp; there.
login.2 failed. All work is kept.\
"""
            },
        )
    )


@pytest.mark.parametrize("answer", [500, 404, 302, "cut", "noise", "hang", "drip"])
def test_what_keeps_a_message_from_being_taken_is_told_without_its_path(
    receiver: Receiver, answer: int | str
) -> None:
    receiver.answer, host = answer, receiver.url.removeprefix("http://")
    patience_s = 1 if answer in ("hang", "drip") else 60
    said = Posting("slack", partial(slack, f"{receiver.url}/T0/secret", {}), patience_s=patience_s).call(
        LANDED
    )
    assert (said or "").replace(host, "HOST") == {
        500: "HOST answered 500",
        404: "HOST answered 404",
        302: "HOST answered 302: it leads elsewhere, and is not followed",
        "cut": "HOST cut off, or answered with no HTTP",
        "noise": "HOST cut off, or answered with no HTTP",
        "hang": "HOST did not answer within 1 s",
        "drip": "HOST did not answer within 1 s",
    }[answer]


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    with receiving() as other:
        for status in (301, 302, 303, 307, 308):
            receiver.answer, receiver.elsewhere = status, f"{other.url}/stolen"
            assert Posting("slack", partial(slack, receiver.url, {})).call(LANDED) is not None
        assert (len(receiver.got), other.got) == (5, [])


def test_a_name_that_nobody_can_look_up_is_told() -> None:
    assert (
        Posting("slack", partial(slack, "http://a..b/x", {})).call(LANDED)
        == "a..b cannot be reached: UnicodeError"
    )


def test_nobody_there_is_told(receiver: Receiver) -> None:
    del receiver
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{held.getsockname()[1]}"
        said = Posting("slack", partial(slack, f"http://{host}/x", {})).call(LANDED)
    assert said == f"{host} cannot be reached: Connection refused"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://x/y",
        "http://",
        "javascript:1",
        "http://[x",
        "http://a b/",
        "http://é/",
        "x",
    ],
)
def test_only_http_leads_anywhere_and_no_address_is_said_again(url: str) -> None:
    said = Posting("webhook", partial(webhook, url, "", {})).call(LANDED)
    assert said in (
        "notify.webhook is no address",
        "notify.webhook points to file:///etc/passwd, and there is no line of plain text",
    )


def test_a_secret_that_is_not_there_sends_nothing(receiver: Receiver, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "two").write_text("a\nb\n", encoding="utf-8")
    for secret in ("env:GONE", f"file:{tmp_path}/gone", f"file:{tmp_path}/empty", f"file:{tmp_path}/two"):
        said = Posting("webhook", partial(webhook, receiver.url, secret, ENVIRON)).call(LANDED)
        assert said == f"notify.secret points to {secret}, and there is no line of plain text"
    said = Posting("webhook", partial(webhook, receiver.url, SECRET, ENVIRON)).call(LANDED)
    assert (said, receiver.got) == ("notify.secret does not point anywhere", [])
