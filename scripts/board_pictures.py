"""Take pictures of every page of the board at three widths, light and dark, and list what overflows.

`just board-pictures [FOLDER]`. They show a run with parallel phases and a refuted claim, open questions and a
failed plan (`tests/board/scene.py`). Without a folder they go to docs/pictures/board.
"""

from __future__ import annotations

import argparse
import base64
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from playwright.sync_api import expect

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.board.browsing import OVERFLOW, PROGRAMS, chromium  # noqa: E402 - the tests' folder is on the path now
from tests.board.conftest import Served  # noqa: E402
from tests.board.scene import Scene, links_in  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

PICTURES: Final = ROOT / "docs/pictures/board"
NOT_RUN: Final = 3
WIDTHS: Final = {360: 780, 1280: 900, 2560: 1200}
"""Width and height of the windows."""
_TALLEST: Final = 1_200
"""Pixels of a page that a picture shows at most."""
_WIDEST: Final = 1_280
"""Pixels of the widest picture; that of a wider window is made smaller."""
_QUALITY: Final = 45
_KINDS: Final = {
    "now": "Now",
    "plan": "rate-limit",
    "run": "Rate limiting",
    "phase": "Phase 2a",
    "attempt": "Phase 2, attempt 1",
    "refuted": "Phase 2a, attempt 1",
    "failure": "Search orders by customer",
    "questions": "Questions",
    "approval": "Approve the plan.*",
    "sign-off": ".*gitlab-ci.*",
    "keys": "Keys",
}
"""The pages, by their titles."""


def pages(page: Page, host: str) -> Iterator[tuple[str, str]]:
    """Open every page that the board links to; return the name and the path of those that are shown."""
    waiting, seen, named = ["/"], {"/"}, dict(_KINDS)
    while waiting:
        path = waiting.pop(0)
        page.goto(f"http://{host}{path}")
        title = page.locator("h1").inner_text()
        for name in [name for name, titled in named.items() if re.fullmatch(titled, title)]:
            del named[name]
            yield name, path
        fresh = sorted(links_in(page.content()) - seen)
        seen.update(fresh)
        waiting += fresh
    if named:
        print(f"no page has the title of {', '.join(named)}")


def take(browser: Browser, served: Served, folder: Path) -> list[str]:
    """Write the pictures, and return what is wrong with the pages."""
    page = browser.new_context().new_page()
    page.goto(served.link())
    troubles = []
    for name, path in [*pages(page, served.host)]:
        page.goto(f"http://{served.host}{path}")
        expect(page.locator("#live")).to_contain_text("updated")
        for width, height in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                troubles += [f"{name} {width} {scheme}: {one} overflows" for one in page.evaluate(OVERFLOW)]
                (folder / f"{name}-{width}-{scheme}.webp").write_bytes(_picture(page, width))
    return troubles


def _picture(page: Page, width: int) -> bytes:
    wire = page.context.new_cdp_session(page)
    height = min(_TALLEST, int(page.evaluate("document.documentElement.scrollHeight")))
    shot = wire.send(
        "Page.captureScreenshot",
        {
            "format": "webp", "quality": _QUALITY, "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": min(1, _WIDEST / width)},
        },
    )  # fmt: skip
    wire.detach()
    return base64.b64decode(shot["data"])


def main() -> int:
    """Take them, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=PICTURES)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with chromium() as browser, tempfile.TemporaryDirectory(prefix="board-") as name:
        if browser is None:
            print(f"NOT RUN: none of {', '.join(PROGRAMS)} is installed")
            return NOT_RUN
        scene = Scene(Path(name))
        served = Served(scene.office)
        try:
            troubles = take(browser, served, folder)
        finally:
            served.stop()
            scene.office.close()
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{len([*folder.iterdir()])} pictures, {size / 1e3:.0f} kB")
    print(*troubles or ["nothing overflows"], sep="\n")
    return bool(troubles)


if __name__ == "__main__":
    sys.exit(main())
