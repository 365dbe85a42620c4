"""The board in a real browser: looking on, answering, and coming back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.journeys.test_commands import until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.board.conftest import Served

pytestmark = pytest.mark.crash


@pytest.fixture
def page(board: Served, browser: Browser) -> Page:
    """A tab that was opened by the printed link."""
    opened = browser.new_context().new_page()
    problems: list[str] = []
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.goto(board.link())
    expect(opened.locator("h1")).to_have_text("Now")
    assert problems == []
    return opened


def test_a_question_is_answered_in_the_browser_and_the_run_is_followed_to_the_next(
    board: Served, page: Page
) -> None:
    page.click("text=a1")
    page.fill("textarea", "looks right")
    page.click("button:has-text('Yes')")
    expect(page.locator("main")).to_contain_text("answered yes, by ann", timeout=30_000)
    assert "answered yes by ann" in board.office.asbuilt("approve", "show", "a1")
    page.click("nav >> text=Questions")
    # The next question comes without a reload.
    expect(page.locator("main")).to_contain_text("a2", timeout=60_000)


def test_of_two_tabs_and_a_terminal_one_answer_counts_and_the_others_are_told(
    board: Served, page: Page
) -> None:
    page.click("text=a1")
    other = page.context.new_page()
    other.goto(page.url)
    # A typed note keeps the page from being replaced under the user's hands.
    for tab in (page, other):
        tab.fill("textarea", "mine")
    assert "exit 0" in board.office.asbuilt("approve", "no", "a1", "-m", "not today")
    for tab in (page, other):
        tab.click("button:has-text('Yes')")
        expect(tab.locator("main")).to_contain_text("no, by ann", timeout=10_000)
    until(lambda: "stopped" in board.office.asbuilt("status", "greet"))


def test_after_the_server_was_killed_the_page_says_so_and_is_right_again_by_itself(
    board: Served, page: Page
) -> None:
    expect(page.locator("#live")).to_contain_text("updated", timeout=10_000)
    board.stop()
    expect(page.locator("#live")).to_have_text("not connected", timeout=20_000)
    assert "exit 0" in board.office.asbuilt("approve", "no", "a1", "-m", "not today")
    board.start()
    expect(page.locator("#live")).to_contain_text("updated", timeout=10_000)
    expect(page.locator("main")).not_to_contain_text("a1", timeout=10_000)


def test_pages_are_read_and_answered_without_scripts(board: Served, browser: Browser) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(board.link())
    page.click("text=a1")
    page.click("button:has-text('No')")
    expect(page.locator("main")).to_contain_text("Recorded: no, by ann.", timeout=30_000)
