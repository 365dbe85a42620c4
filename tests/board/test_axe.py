"""Every page of the board has no violation that axe-core knows, light and dark, and fits every window."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.board.browsing import OVERFLOW
from tests.board.conftest import Served
from tests.board.scene import Scene, links_in
from tests.live.pinned import pinned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.crash
AXE: Final = pinned()["axe-core"]
INSTALLER: Final = Path(__file__).parents[2] / "scripts" / "agents.py"
WIDTHS: Final = (360, 2560, 1280)
PAGES: Final = frozenset({"", "questions", "keys", "plan", "phase", "run", "attempt", "question"})
"""The first parts of the paths of all pages."""


@pytest.fixture
def axe() -> str:
    """Return the script, installed from its lock if it is not there yet."""
    subprocess.run([sys.executable, str(INSTALLER), "--only", "axe-core"], check=True, timeout=300)
    return AXE.path.read_text(encoding="utf-8")


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Served]:
    made = Scene(tmp_path)
    made.ask_every_kind()
    served = Served(made.office)
    yield served
    served.stop()
    made.office.close()


def violations(page: Page, axe: str) -> list[str]:
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{one['id']}: {node['html'][:160]}" for one in found for node in one["nodes"]]


def every_page(page: Page, host: str) -> Iterator[str]:
    """Open each page that the board links to, once."""
    waiting, seen = ["/"], {"/"}
    while waiting:
        path = waiting.pop()
        page.goto(f"http://{host}{path}")
        yield path
        fresh = links_in(page.content()) - seen
        seen |= fresh
        waiting += sorted(fresh)


def test_no_page_has_a_violation_or_an_element_that_overflows(
    scene: Served, browser: Browser, axe: str
) -> None:
    page = browser.new_context(bypass_csp=True).new_page()
    page.goto(scene.link())
    found, kinds = [], set()
    for path in every_page(page, scene.host):
        kinds.add(path.split("/")[1])
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            found += [f"{path} {width}: {one} overflows" for one in page.evaluate(OVERFLOW)]
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found += [f"{path} {scheme}: {one}" for one in violations(page, axe)]
    assert kinds == PAGES
    assert found == []
