"""Plans of several shapes, and ways to run the command that a text of its output does not cover."""

from __future__ import annotations

import difflib
import os
import pty
import select
import subprocess
import sys
import termios
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

RATE_LIMIT = """\
---
title: Rate limiting for the public API
created: 2026-11-14
status: approved
issue: 42
---

# Rate limiting for the public API

## Goal

No API key can exceed its limit on /v1.

## Scope

src/api/limits/

## Non-Scope

Billing by use.

## Progress Tracker

| Phase | Status | Commit | Notes |
|-------|--------|--------|-------|
| 1 — Token bucket | ✅ Done | `4f1c9a2` | |
| 2a — Redis store | 🟡 | | |
| 2b — Limits per API key | ⬚ | | |
| 3 — Middleware and 429 | ⬚ | | |

## Phase 1 — Token bucket

### Work Items

- [x] A bucket that refills
- [x] A clock that tests can set

### Verification

- `uv run pytest tests/limits -q`

### Dependencies

None.

## Phase 2a — Redis store

### Work Items

- [ ] Store a bucket under its key
- [ ] Refill in one round trip
- [ ] Let keys expire

### Acceptance Criteria

- [ ] At most 5 ms added per request

### Verification

- `uv run pytest tests/limits/test_store.py -q`

### Dependencies

Phase 1.

## Phase 2b — Limits per API key

### Work Items

- [ ] A table of limits
- [ ] A default for keys without one

### Verification

- `uv run pytest tests/limits/test_keys.py -q`

### Dependencies

Phase 1.

## Phase 3 — Middleware and 429

### Work Items

- [ ] Middleware on /v1
- [ ] Retry-After

### Verification

- `uv run pytest -q`

### Dependencies

Phases 2a and 2b.

## Verification

- `uv run pytest -q`

## Risks

Redis is down.

## Open Questions

None.
"""

SECTIONS = """\
# Importer rewrite

Progress is kept in PROGRESS.md.

## Phase 1 — CSV reader
**Status:** ✅ Done (9f8e7d6)

Reads RFC 4180 files.

## Phase 2 — XLSX reader

Depends on Phase 1.

### Verification

- `pytest tests/test_xlsx.py`
"""

PROGRESS = """\
# Progress

| Phase | Status | Commit |
|-------|--------|--------|
| 1 | Done | `9f8e7d6` |
| 2 | | |
"""

CHECKLIST = """\
# Release chores

- [x] Bump the version (c0ffee1)
- [ ] Tag the release
- [ ] Announce it
"""

HEADINGS = """\
# Release chores

## Prepare

- [x] Bump the version
- [x] Write the notes

## Publish

- [ ] Tag the release
- [ ] Announce it
"""

NARRATIVE = """\
# Moving settings to TOML

First the loader accepts `settings.toml` next to the old file.

Then `tools/convert.py` converts what is there.
"""

BRACKETS = """\
# Nightly export

- **Task**: 12
- **Status**: [IMPLEMENTING]

### Phase 1: Writer [COMPLETED]
- [x] Write

### Phase 2: Job [NOT STARTED]
- **Depends on:** 1
- [ ] Run at night
"""


class Ran(NamedTuple):
    """What came out of one run, byte for byte."""

    code: int
    out: bytes
    err: bytes


def put(root: Path, **files: str) -> None:
    """Write plans; `login_page` goes to plans/login-page.md."""
    (root / "plans").mkdir(exist_ok=True)
    for name, text in files.items():
        (root / "plans" / f"{name.replace('_', '-')}.md").write_bytes(text.encode("utf-8", "surrogateescape"))


def run(root: Path, environ: Mapping[str, str], *arguments: str, given: bytes = b"", **more: str) -> Ran:
    """Run the command with something on stdin."""
    done = subprocess.run(
        [sys.executable, "-m", "asbuilt", *arguments],
        cwd=root,
        env={**environ, **more},
        input=given,
        capture_output=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def on_terminal(
    root: Path,
    environ: Mapping[str, str],
    *arguments: str,
    typed: bytes = b"",
    columns: int = 0,
    **more: str,
) -> tuple[int, str]:
    """Run the command on a terminal of its own; return its exit code and all that the terminal received.

    Each line of `typed` answers a question, and is echoed as a terminal does; 0 columns: no size is known.
    """
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    lines = typed.splitlines(keepends=True)
    with subprocess.Popen(
        [sys.executable, "-m", "asbuilt", *arguments],
        cwd=root,
        env={**environ, **more},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        received = b""
        while select.select([ours], [], [], 20)[0]:
            try:
                piece = os.read(ours, 65_536)
            except OSError:  # the last one who had the terminal open is gone
                break
            if not piece:
                break
            received += piece
            if lines and received.endswith((b"] ", b"> ")):
                os.write(ours, lines.pop(0))
    os.close(ours)
    return process.returncode, received.decode().replace("\r\n", "\n")


def tree(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """Describe every file below a folder, git's own included: mode, time of change, content."""
    return {
        path.relative_to(root).as_posix(): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted([root, *root.rglob("*")])
    }


def marked(asbuilt: Callable[..., str], shop: Path, text: str, *arguments: str) -> str:
    """Mark something in a plan; return what was said and which lines differ."""
    put(shop, plan=text)
    said = asbuilt("plan", "mark", "plan", *arguments)
    after = (shop / "plans" / "plan.md").read_bytes().decode()
    rows = difflib.ndiff(text.split("\n"), after.split("\n"))
    return said + "".join(f"{row}\n" for row in rows if row[0] in "+-")
