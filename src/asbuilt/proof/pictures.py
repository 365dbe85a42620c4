"""Which of the files that a command left are pictures that a page can show. Pure.

The one rule: what a file is, its first bytes say; its name says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_PICTURE: Final = 4 << 20
_MAX_PICTURES: Final = 24
_BEGINNINGS: Final = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}
_RIFF, _WEBP = b"RIFF", b"WEBP"


class Picture(NamedTuple):
    """One picture of what people see."""

    name: str
    media: str
    """As a browser wants to hear it: `image/png`."""
    content: bytes


class Sorted(NamedTuple):
    """What came of a command that draws."""

    pictures: tuple[Picture, ...]
    left_out: tuple[str, ...] = ()
    """Names of what is none, is too large, or is one too many."""


def sorted_out(files: Iterable[tuple[str, bytes]]) -> Sorted:
    """Tell pictures from everything else that was left."""
    pictures: list[Picture] = []
    left_out = []
    for name, content in files:
        media = media_of(content)
        if media is None or len(content) > MAX_PICTURE or len(pictures) == _MAX_PICTURES:
            left_out.append(name)
        else:
            pictures.append(Picture(name, media, content))
    return Sorted(tuple(pictures), tuple(left_out))


def media_of(content: bytes) -> str | None:
    """Name the kind of a picture; None for what is none that every browser shows."""
    if content[:4] == _RIFF and content[8:12] == _WEBP:
        return "image/webp"
    return next((media for start, media in _BEGINNINGS.items() if content.startswith(start)), None)
