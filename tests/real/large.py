"""Large repositories: what asbuilt adds to bare git, both timed in the same run.

`python -m tests.real.large files` has 50,000 small files, `bytes` has 500 MB in 500 files. The journal has
times of whole seconds.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING, Final

from tests.real.desk import Desk, cache_folder, install
from tests.real.page import LARGE
from tests.real.trial import events_of

if TYPE_CHECKING:
    from pathlib import Path

_FILES: Final = 50_000
_BLOCKS: Final = 500
_BLOCK: Final = 1_000_000
_LIMIT_S: Final = 1800
_PLAN: Final = """\
# Greeting

## Phase 1 — Greet

### Work Items

- [ ] `greet.py` greets

### Verification

- `test "$(python3 greet.py)" = hello`
"""
_SCRIPT: Final = """\
[[turn]]
role = "implement"
acts = [{ write = "greet.py", text = "print('hello')\\n" }, { say = "Done." }]

[[turn]]
role = "verify"
acts = [{ verdict = "pass" }]
"""
_SETTINGS: Final = '[checks]\ntests = "none"\n'


def main(kind: str) -> int:
    """Make the repository, time bare git on it, run one phase, and print both."""
    folder = cache_folder() / "work" / f"large-{kind}"
    shutil.rmtree(folder, ignore_errors=True)
    desk = Desk(folder, install(cache_folder()))
    desk.repo.mkdir(parents=True)
    _fill(desk.repo, kind)
    (desk.repo / "plans").mkdir()
    (desk.repo / "plans/greeting.md").write_text(_PLAN, encoding="utf-8")
    (desk.repo / "asbuilt.toml").write_text(_SETTINGS, encoding="utf-8")
    script = folder / "script.toml"
    script.write_text(_SCRIPT, encoding="utf-8")
    for words in ("init -q -b main", "config user.name Ann", "config user.email ann@example.com", "add -A",
                  "commit -q -m Large"):  # fmt: skip
        _git(desk, *words.split())
    bare = _bare(desk)
    try:
        shown = desk.types("asbuilt", "run", "greeting", "--finish", "--auto", "--agent", "scripted",
                           "--script", str(script), limit_s=_LIMIT_S)  # fmt: skip
        time.sleep(5)
        spent = _spent(desk)
    finally:
        desk.leave()
    sys.stdout.write(f"{kind}: {shown.output.strip().splitlines()[-1]}\n")
    for name, seconds in bare.items():
        sys.stdout.write(f"  {name}: asbuilt {spent.get(name, '?')} s, git {seconds:.1f} s\n")
    held = json.loads(LARGE.read_text(encoding="utf-8")) if LARGE.exists() else {}
    held[kind] = {name: [spent.get(name), round(seconds, 1)] for name, seconds in bare.items()}
    LARGE.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
    return 0


def _fill(repo: Path, kind: str) -> None:
    if kind == "files":
        for number in range(_FILES):
            file = repo / f"src/{number // 1000:03}/{number % 1000:03}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"file {number}\n", encoding="utf-8")
        return
    chance = random.Random(1)  # noqa: S311 - content that does not compress, not a secret
    for number in range(_BLOCKS):
        (repo / f"block-{number:03}.bin").write_bytes(chance.randbytes(_BLOCK))


def _bare(desk: Desk) -> dict[str, float]:
    """Time what a script with git alone would do: a work tree, its snapshot, a commit that lands, the end."""
    spent = {}
    tree = desk.folder / "bare"

    def timed(name: str, *commands: tuple[str, ...]) -> None:
        began = time.monotonic()
        for words in commands:
            _git(desk, *words)
        spent[name] = time.monotonic() - began

    inside = ("-C", str(tree))
    timed("request to agent start", ("worktree", "add", "-q", "-b", "bare", str(tree)))
    (tree / "greet.py").write_text("print('hello')\n", encoding="utf-8")
    timed("snapshot", (*inside, "add", "-A"), (*inside, "commit", "-q", "-m", "Greet"))
    timed("landing", ("merge", "-q", "--ff-only", "bare"))
    timed("tidying", ("worktree", "remove", "--force", str(tree)), ("branch", "-q", "-D", "bare"))
    _git(desk, "reset", "-q", "--hard", "HEAD~1")
    return spent


def _spent(desk: Desk) -> dict[str, float]:
    at: dict[str, datetime] = {}
    for event in events_of(desk, "greeting"):
        at.setdefault(event["kind"], datetime.fromisoformat(event["at"]))
    pairs = {
        "request to agent start": ("run.requested", "attempt.begun"),
        "snapshot": ("attempt.ended", "tree.kept"),
        "landing": ("phase.proven", "landing.done"),
        "tidying": ("landing.done", "landing.tidied"),
    }
    return {
        name: (at[end] - at[begin]).total_seconds()
        for name, (begin, end) in pairs.items()
        if begin in at and end in at
    }


def _git(desk: Desk, *words: str) -> None:
    git = shutil.which("git") or "git"
    subprocess.run([git, *words], cwd=desk.repo, env=desk.environ(), check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
