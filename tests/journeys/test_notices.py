"""A run tells a person by the way that they chose: real commands, a real worker, a real receiver."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING

import pytest

from tests.journeys.test_commands import office, until
from tests.notify.receiving import receiving

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.test_commands import Office

__all__ = ["office"]
pytestmark = pytest.mark.crash


def test_a_way_that_hangs_holds_up_no_run_and_hears_of_it_later(office: Office, tmp_path: Path) -> None:
    config = tmp_path / "home" / ".config" / "asbuilt"
    config.mkdir(parents=True)
    office.environ["HOOK_SECRET"] = "of nobody"  # noqa: S105 - as it says
    with receiving() as receiver:
        chosen = f'[notify]\nwebhook = "{receiver.url}/hook"\nsecret = "env:HOOK_SECRET"\n'
        (config / "config.toml").write_text(chosen, encoding="utf-8")
        receiver.answer = "hang"
        assert "greet.1 landed on main" in office.run("--auto")
        until(lambda: receiver.got)
        receiver.answer = 200
        until(lambda: len(receiver.got) > 1)
        first, second = receiver.got[:2]
        until(lambda: "webhook  sent" in office.asbuilt("doctor", "notify", "webhook"))
    assert first.body == second.body
    assert json.loads(first.body)["title"] == "asbuilt: greet.1 in shop landed"
    for got in (first, second):
        signed = dict(part.split("=", 1) for part in got.headers["X-Asbuilt-Signature"].split(","))
        made = hmac.new(b"of nobody", signed["t"].encode() + b"." + got.body, hashlib.sha256)
        assert made.hexdigest() == signed["v1"]
    assert "you, by webhook" in office.asbuilt("log", "greet")
