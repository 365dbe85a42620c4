"""The browser of the tests and the pictures: the system's Chromium, without a window."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Final

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

OVERFLOW: Final = (Path(__file__).parents[2] / "scripts" / "overflow.js").read_text(encoding="utf-8")
"""Returns the elements of a page that stick out of the window."""
PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Browser | None]:
    """Start the browser; None if there is none."""
    program = next((found for name in PROGRAMS if (found := which(name))), None)
    if program is None:
        yield None
        return
    with sync_playwright() as played:
        opened = played.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield opened
        finally:
            opened.close()
