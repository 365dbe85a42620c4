"""Names of new plan files. Creation is atomic, so an existing file is never overwritten."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from asbuilt.errors import NameTaken
from asbuilt.library.atomic_files import create
from asbuilt.plan.names import new_slug, slug_of_name

_WORD_TRIES: Final = 10
ADJECTIVES: Final = (
    "amber", "brave", "bright", "calm", "clear", "crisp", "deft", "eager", "early", "fair",
    "firm", "fleet", "fresh", "gentle", "golden", "grand", "green", "hardy", "honest", "keen",
    "kind", "level", "light", "lively", "loyal", "lucid", "merry", "mild", "neat", "noble",
    "patient", "plain", "proud", "quick", "quiet", "ready", "round", "sharp", "silver", "smooth",
    "solid", "sound", "steady", "still", "sturdy", "sure", "swift", "tidy", "true", "warm",
)  # fmt: skip
NOUNS: Final = (
    "arch", "badger", "beam", "birch", "bridge", "brook", "cairn", "cedar", "column", "crane",
    "dome", "falcon", "fern", "finch", "fox", "gable", "harbor", "hazel", "heron", "hinge",
    "ivy", "joist", "lantern", "larch", "lever", "lintel", "maple", "marten", "mason", "oak",
    "osprey", "otter", "pillar", "pine", "plumb", "quarry", "rafter", "raven", "ridge", "robin",
    "rowan", "sparrow", "spruce", "stone", "thistle", "tower", "truss", "vault", "willow", "wren",
)  # fmt: skip


def put_new(folder: Path, title: str, data: bytes, *, show: Callable[[Path], str] = str) -> Path:
    """Write a new plan named after its title, numbered if the name is taken; `show` names it in errors."""
    slug = new_slug(title)
    names = _numbered(slug) if slug else _words()
    return _first_free(folder, names, data, show)


def put_named(folder: Path, name: str, data: bytes, *, show: Callable[[Path], str] = str) -> Path:
    """Write a new plan under exactly this name; raises `NameTaken`."""
    file = folder / f"{slug_of_name(name)}.md"
    create(file, data, name=show(file))
    return file


def put_for_session(folder: Path, data: bytes, *, show: Callable[[Path], str] = str) -> Path:
    """Write a new plan under two random words, for when there is no title yet."""
    return _first_free(folder, _words(), data, show)


def _first_free(folder: Path, names: Iterator[str], data: bytes, show: Callable[[Path], str]) -> Path:
    for name in names:
        file = folder / f"{name}.md"
        # Only an optimization; another process may take the name right after this check.
        if not os.path.lexists(file):
            with suppress(NameTaken):
                create(file, data, name=show(file))
                return file
    raise AssertionError("the names never end")  # pragma: no cover


def _numbered(slug: str) -> Iterator[str]:
    yield slug
    for number in count(2):
        yield f"{slug}-{number}"


def _words() -> Iterator[str]:
    name = ""
    for _ in range(_WORD_TRIES):
        name = f"{secrets.choice(ADJECTIVES)}-{secrets.choice(NOUNS)}"
        yield name
    yield from (f"{name}-{number}" for number in count(2))
