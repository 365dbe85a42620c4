"""Whole journeys in a browser: a run from its start to its landing, answers that move runs, a cut stream."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.authoring.desk import say, turn
from tests.authoring.outputs import HEY
from tests.board.conftest import Served
from tests.journeys.shop import SCRIPT
from tests.journeys.test_commands import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.journeys.test_commands import Office

pytestmark = pytest.mark.crash
GATE = '{ run = "while [ ! -e go ]; do sleep 0.1; done; rm go" }'
"""Waits until the test releases the agent."""
VERIFY = '\n[[turn]]\nrole = "verify"\nacts = [{ verdict = "pass" }]\n'
GREET = '{ write = "greet.py", text = "hello\\n" }'
RIGHT_AGAIN_MS = 5_000


@pytest.fixture
def opened(office: Office, browser: Browser) -> Iterator[Callable[[], tuple[Served, Page]]]:
    """Give a function that starts the board of the office and opens it."""
    started: list[Served] = []

    def start() -> tuple[Served, Page]:
        served = Served(office)
        started.append(served)
        page = browser.new_context().new_page()
        page.goto(served.link())
        # A reload would lose it.
        page.evaluate("window.isSame = true")
        return served, page

    yield start
    for one in started:
        one.stop()


def release(office: Office, workspace: str) -> None:
    """Let the agent of a workspace continue."""
    found = f"workspaces/*/*/{workspace}/.git"
    until(lambda: [*office.state.glob(found)])
    for link in office.state.glob(found):
        (link.parent / "go").touch()


def test_a_run_is_followed_from_its_first_agent_over_two_lanes_to_its_landing(
    office: Office, opened: Callable[[], tuple[Served, Page]]
) -> None:
    gated = SCRIPT
    for name in ("greet.py", "part.py", "shout.py"):
        gated = gated.replace(f'[{{ write = "{name}"', f'[{GATE}, {{ write = "{name}"', 1)
    office.script.write_text(gated, encoding="utf-8")
    assert office.run("--finish", "--auto", "--lanes", "2", "--detach").startswith("exit 0")
    _, page = opened()
    expect(page.locator("main")).to_contain_text("implementing", timeout=60_000)
    page.click("main >> text=greet >> nth=0")
    page.evaluate("window.isSame = true")
    first, part, shout, both = (
        page.locator("main tr", has_text=name) for name in ("1 Greet", "2a Part", "2b Shout", "3 Both")
    )
    expect(first).to_contain_text("implementing")
    release(office, "*")
    # Both lanes work at the same time.
    expect(part).to_contain_text("implementing", timeout=60_000)
    expect(shout).to_contain_text("implementing", timeout=60_000)
    expect(first).to_contain_text("proven")
    release(office, "*phase-2a")
    release(office, "*phase-2b")
    expect(both).to_contain_text("landed", timeout=120_000)
    expect(page.locator("header")).to_contain_text("landed")
    for row in (first, part, shout):
        expect(row).to_contain_text("landed")
    assert page.evaluate("window.isSame") is True
    assert "exit 0" in office.asbuilt("status", "greet")


def test_a_plan_that_is_approved_in_the_browser_is_written_to_the_checkout(
    office: Office, opened: Callable[[], tuple[Served, Page]]
) -> None:
    office.script.write_text(turn("draft", say(HEY)), encoding="utf-8")
    assert "exit 5" in office.asbuilt("author", "call out", "--name", "hey", "--script", str(office.script))
    _, page = opened()
    page.click("text=a1")
    expect(page.locator("main")).to_contain_text("calls out to whoever runs it")
    page.click("button:has-text('Approve this plan')")
    expect(page.locator("main")).to_contain_text("answered yes, by ann", timeout=30_000)
    until((office.shop / "plans" / "hey.md").exists)
    assert (office.shop / "plans" / "hey.md").read_text(encoding="utf-8").endswith(HEY)


def test_a_change_that_is_signed_off_in_the_browser_lands(
    office: Office, opened: Callable[[], tuple[Served, Page]]
) -> None:
    ci = '{ write = ".gitlab-ci.yml", text = "test:\\n  script: [pytest]\\n" }'
    head = f'[[turn]]\nphase = "1"\nrole = "implement"\nacts = [{GREET}, {ci}]\n'
    office.script.write_text(head + VERIFY, encoding="utf-8")
    assert office.run("--auto", "--detach").startswith("exit 0")
    _, page = opened()
    expect(page.locator("main")).to_contain_text("sign-off", timeout=60_000)
    page.click("text=a1")
    expect(page.locator("h1")).to_contain_text(".gitlab-ci.yml")
    page.click("button:has-text('Accept this change')")
    expect(page.locator("main")).to_contain_text("answered yes, by ann", timeout=30_000)
    page.click("nav >> text=Now")
    expect(page.locator("main")).to_contain_text("Landed today", timeout=60_000)
    assert "Greet" in office.git("log", "--format=%s", "main")


def test_a_waiver_in_the_browser_needs_a_reason_and_then_the_phase_lands_without_its_item(
    office: Office, opened: Callable[[], tuple[Served, Page]]
) -> None:
    script = f"""\
[[turn]]
phase = "1"
role = "implement"
acts = [{GREET}]
[[turn]]
phase = "1"
role = "fix"
acts = [{{ append = "greet.py", text = "# again\\n" }}]
[[turn]]
role = "verify"
acts = [{{ verdict = "fail", items = [1], why = "it greets nobody" }}]
"""
    office.script.write_text(script, encoding="utf-8")
    assert office.run("1", "--detach").startswith("exit 0")
    _, page = opened()
    expect(page.locator("main")).to_contain_text("waiver", timeout=60_000)
    page.click("text=a1")
    expect(page.locator("h1")).to_contain_text("it greets nobody")
    page.click("button:has-text('Accept without it')")
    expect(page.locator("main")).to_contain_text("A waiver needs a reason; nothing was answered.")
    page.fill("textarea", "greetings come next year")
    page.click("button:has-text('Accept without it')")
    expect(page.locator("main")).to_contain_text("answered yes, by ann", timeout=30_000)
    until(lambda: "greet   held" in office.asbuilt("status", "greet"))
    assert office.asbuilt("land", "greet").startswith("exit 0")
    trailers = office.git("log", "--format=%(trailers:key=Asbuilt-Waived)", "main")
    assert "greetings come next year" in trailers


def test_what_an_agent_writes_is_on_its_page_while_it_works_and_links_are_not_followed(
    office: Office, opened: Callable[[], tuple[Served, Page]], tmp_path: Path
) -> None:
    (tmp_path / "private").write_text("a private key\n", encoding="utf-8")
    link = f'{{ run = "ln -s {tmp_path}/private link" }}'
    head = f'[[turn]]\nphase = "1"\nrole = "implement"\nacts = [{GATE}, {GREET}, {link}, {{ hang = true }}]\n'
    office.script.write_text(head, encoding="utf-8")
    assert office.run("--auto", "--detach").startswith("exit 0")
    _, page = opened()
    page.click("main >> text=greet >> nth=0")
    page.click("text=attempt 1", timeout=60_000)
    expect(page.locator("main")).to_contain_text("No change yet.", timeout=30_000)
    release(office, "*")
    # The agent's file and the name of its link come without a reload.
    expect(page.locator("ins")).to_have_text("+hello\n", timeout=30_000)
    expect(page.locator("main")).to_contain_text("diff --git a/link b/link", timeout=30_000)
    expect(page.locator("main")).not_to_contain_text("a private key")


def test_after_the_network_was_gone_the_page_is_right_within_5_s_without_a_reload(
    board: Served, browser: Browser
) -> None:
    page = browser.new_context().new_page()
    page.goto(board.link())
    page.evaluate("window.isSame = true")
    expect(page.locator("main")).to_contain_text("a1")
    wire = page.context.new_cdp_session(page)
    wire.send("Network.enable")
    cut = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    wire.send("Network.emulateNetworkConditions", cut)
    expect(page.locator("#live")).to_have_text("not connected", timeout=20_000)
    assert "exit 0" in board.office.asbuilt("approve", "no", "a1", "-m", "not today")
    whole = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    wire.send("Network.emulateNetworkConditions", whole)
    expect(page.locator("main")).not_to_contain_text("a1", timeout=RIGHT_AGAIN_MS)
    expect(page.locator("#live")).to_contain_text("updated", timeout=RIGHT_AGAIN_MS)
    assert page.evaluate("window.isSame") is True


def test_after_a_sleep_in_which_no_connection_was_closed_the_page_is_right_within_5_s(
    board: Served, browser: Browser
) -> None:
    page = browser.new_context().new_page()
    page.goto(board.link())
    page.evaluate("window.isSame = true")
    expect(page.locator("#live")).to_contain_text("updated", timeout=10_000)
    assert board.process is not None
    board.process.send_signal(signal.SIGSTOP)
    try:
        expect(page.locator("#live")).to_have_text("not connected", timeout=30_000)
        assert "exit 0" in board.office.asbuilt("approve", "no", "a1", "-m", "not today")
    finally:
        board.process.send_signal(signal.SIGCONT)
    woke_at = time.monotonic()
    expect(page.locator("main")).not_to_contain_text("a1", timeout=RIGHT_AGAIN_MS)
    assert time.monotonic() - woke_at < RIGHT_AGAIN_MS / 1000
    assert page.evaluate("window.isSame") is True
