"""Files of a page: write them to the run's folder, copy them, and open them in a browser.

Rule: `copy_to` never overwrites a file.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from asbuilt.errors import NameTaken, StoreFailed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from asbuilt.pages.telling import Page

_SETTLED_S: Final = 3.0
"""Seconds after which a browser process that is still alive counts as started."""


def keep(page: Page, folder: Path) -> Path:
    """Write the page into the run's folder, replacing an older one, and return the HTML file."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, text in (("report.md", page.markdown), ("report.html", page.html)):
            fresh = folder / f".{name}.{os.getpid()}"
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(folder / name)
    except OSError as error:
        raise _unwritten(folder, error) from error
    return folder / "report.html"


def copy_to(page: Page, folder: Path, name: str) -> list[Path]:
    """Write the page into a folder that the user named, and return the files."""
    files = {folder / f"{name}.html": page.html, folder / f"{name}.md": page.markdown}
    taken = next((file for file in files if os.path.lexists(file)), None)
    if taken is not None:
        raise NameTaken(
            f"there is a {taken.name} already in {folder}",
            why="An existing report is never overwritten.",
            next_step="Move it away, or name another folder.",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            with file.open("x", encoding="utf-8") as opened:
                opened.write(text)
    except OSError as error:
        raise _unwritten(folder, error) from error
    return [*files]


def show(file: Path, environ: Mapping[str, str]) -> bool:
    """Open a file in a browser. Return False if none could be started."""
    command = _browser(environ)
    if command is None:
        return False
    try:
        started = subprocess.Popen(  # noqa: S603 - what the user has for it
            [*command, str(file)],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return started.wait(_SETTLED_S) == 0
    except subprocess.TimeoutExpired:
        return True
    except OSError:
        return False


def _browser(environ: Mapping[str, str]) -> list[str] | None:
    chosen = environ.get("BROWSER", "").split(os.pathsep)[0].strip()
    if chosen:
        try:
            return shlex.split(chosen)
        except ValueError:
            return None
    has_screen = sys.platform == "darwin" or environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    for name in ("open",) if sys.platform == "darwin" else ("xdg-open", "wslview"):
        found = shutil.which(name, path=environ.get("PATH", ""))
        if found and (has_screen or name == "wslview"):
            return [found]
    return None


def _unwritten(folder: Path, error: OSError) -> StoreFailed:
    return StoreFailed(
        f"the page cannot be written into {folder}: {(error.strerror or 'unknown reason').lower()}",
        why="It is made from the journal each time, so nothing is lost.",
        next_step="Name a folder that you may write to with --to.",
    )
