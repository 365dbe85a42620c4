"""List what a browser would load from another host to show a page of the docs site; exit 1 if there is any.

`python scripts/site_hosts.py FOLDER`. Links that a reader follows may lead anywhere.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOADS: Final = {
    "script": ("src",),
    "link": ("href",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
}
"""Attributes that a browser loads without a click."""
_NAMED: Final = ("canonical", "alternate")
"""Links that only name an address."""
_OTHER: Final = re.compile(r"\s*(?:https?:)?//", re.IGNORECASE)
_IN_CSS: Final = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s;]+)""", re.IGNORECASE)


class _Page(HTMLParser):
    """The addresses that a page loads from another host."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._is_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._is_style = tag == "style"
        self.found += _IN_CSS.findall(given.get("style", ""))
        if tag == "link" and given.get("rel") in _NAMED:
            return
        for name in _LOADS.get(tag, ()):
            addresses = given.get(name, "").split(",") if name == "srcset" else [given.get(name, "")]
            self.found += [f"<{tag} {name}> {one.strip()}" for one in addresses if _OTHER.match(one)]

    def handle_data(self, data: str) -> None:
        if self._is_style:
            self.found += _IN_CSS.findall(data)


def others(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file of a site and an address that it loads from another host."""
    for file in sorted(folder.rglob("*")):
        if file.suffix in (".html", ".svg"):
            page = _Page()
            page.feed(file.read_text(encoding="utf-8"))
            yield from ((file, address) for address in page.found)
        elif file.suffix == ".css":
            yield from ((file, address) for address in _IN_CSS.findall(file.read_text(encoding="utf-8")))


def main() -> int:
    """List them."""
    folder = Path(sys.argv[1])
    found = list(others(folder))
    for file, address in found:
        print(f"{file.relative_to(folder)}: {address}")
    print(f"{len(found)} addresses of other hosts in {folder}/")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
