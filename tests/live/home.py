"""See to it that the HOME of whoever runs the tests stays as it is.

The one rule: names and times are compared, nothing in there is read.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AGENTS_OWN: Final = (
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".opencode",
    ".config/opencode",
    ".local/share/opencode",
    ".local/state/opencode",
    ".cache/opencode",
)


def seen_in(home: Path) -> dict[str, int]:
    """List what agents have in a HOME, each with the time of its last change."""
    tops = [home / name for name in AGENTS_OWN]
    return {
        str(path.relative_to(home)): path.lstat().st_mtime_ns
        for top in tops
        if top.exists()
        for path in (top, *(top.rglob("*") if top.is_dir() else ()))
    }


@contextmanager
def untouched(home: Path) -> Iterator[None]:
    """Fail if anything came, went or changed meanwhile."""
    before = seen_in(home)
    yield
    after = seen_in(home)
    changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    assert changed == [], "tests, or an agent of your own, touched your HOME"
