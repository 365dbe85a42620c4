"""Select the pictures that a page can show from the files that a command wrote. Pure.

Rule: the first bytes of a file decide its type; its name does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

MAX_PICTURE: Final = 4 << 20
_MAX_PICTURES: Final = 24
_BEGINNINGS: Final = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
_RIFF, _WEBP = b"RIFF", b"WEBP"


class Picture(NamedTuple):
    """One picture."""

    name: str
    media: str
    content: bytes


class Sorted(NamedTuple):
    """The files of a command that draws, sorted."""

    pictures: tuple[Picture, ...]
    left_out: tuple[str, ...] = ()
    """Names of files that are not pictures, are larger than 4 MiB, or are beyond the first 24 pictures."""


def sorted_out(files: Iterable[tuple[str, bytes]]) -> Sorted:
    """Separate pictures from other files."""
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
    """Return the media type of a picture; None for a format that not every browser shows."""
    if content[:4] == _RIFF and content[8:12] == _WEBP:
        return "image/webp"
    return next((media for start, media in _BEGINNINGS.items() if content.startswith(start)), None)
