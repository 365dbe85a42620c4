"""The demo as a person sees it: the real engine, git and checks, in a folder that goes with it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crash


class Visitor:
    """Somebody who has nothing but the command, and choices of their own that must not count."""

    def __init__(self, folder: Path) -> None:
        self.home, self.tmp = folder / "home", folder / "tmp"
        self.programs = folder / "bin"
        for made in (self.home, self.tmp, self.programs):
            made.mkdir()
        (self.home / ".gitconfig").write_text("[commit]\n\tgpgsign = true\n", encoding="utf-8")
        settings = self.home / ".config" / "asbuilt" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text('[landing]\nmode = "pr"\n', encoding="utf-8")
        self.before = self.files()

    def loses_the_sandbox(self) -> None:
        """Put a bubblewrap first on PATH that holds nothing."""
        broken = self.programs / "bwrap"
        broken.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        broken.chmod(0o755)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "asbuilt", "demo", *arguments],
            cwd=self.tmp,
            env={
                "PATH": f"{self.programs}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
                "HOME": str(self.home), "TMPDIR": str(self.tmp),
                "ASBUILT_LANDING_MODE": "pr", "ASBUILT_PLANS_FOLDER": "elsewhere",
                "ASBUILT_ORGANISATION_FILE": str(self.home / "none.toml"), "GIT_DIR": "nowhere",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )  # fmt: skip

    def sees(self, *arguments: str) -> tuple[int, str, str]:
        with self.start(*arguments) as process:
            out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    def files(self) -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in self.home.rglob("*") if file.is_file()}


@pytest.fixture
def visitor(tmp_path: Path) -> Visitor:
    return Visitor(tmp_path)


def _stable(text: str) -> str:
    """Name what differs from run to run; the lines of the run itself are told by its own tests."""
    changes = (
        (r"(?m)^\d\d:\d\d:\d\d .*\n", ""),
        (r"\b[0-9a-f]{7}\b", "[HASH]"),
        (r"It works in .*\n(.*touched\.\n)?", "It works in [FOLDER].\n"),
        (r"\b\d+[sm]\b", "[AGE]"),
        (r".*[Ss]andbox.*\n(.*doctor\n)?", "[SANDBOX]\n"),
    )
    for pattern, stable in changes:
        text = re.sub(pattern, stable, text)
    return text


def test_the_demo_lands_four_phases_and_shows_what_it_caught(visitor: Visitor) -> None:
    code, out, err = visitor.sees("--fast")
    assert (code, _stable(out)) == (
        0,
        snapshot("""\
Rate limiting for the shop   plans/rate-limit.md
  wave 1               wave 2                  wave 3
  ○ 1 Token bucket ─┬─ ○ 2a Refill ─────────┬─ ○ 3 Answer 429
                    └─ ○ 2b Limits per key ─┘
0 of 4 phases marked done (0%), 0 of 7 items. Next 1. 77 lines. No problems.
rate-limit.1 landed on main: 4 phases proven, [AGE].
"""),
    )
    assert _stable(err) == snapshot("""\
A plan of four phases. The agent plays a script; everything else is real.
It works in [FOLDER].
[SANDBOX]

$ asbuilt plan show rate-limit

$ asbuilt run rate-limit --finish --auto --foreground --script ../agent.toml
Agents   scripted implements and verifies, in separate processes
Cost     Estimate: none yet. Limit: $15.00 (API prices) a run
Lands    on main, by cherry-pick, when proven
rate-limit.1

✗ 2a  Refill   NOT PROVEN: the agent says done, another agent disagrees
      scripted says "Buckets refill."
      verifier says item 2, However long the wait, a bucket never holds more
                    than its limit: FAIL, after a wait of an hour a bucket of 1
                    holds 3601
      so            sent back to the agent (attempt 2)

✗ 3   Answer 429   NOT PROVEN: the agent says done, rejected by asbuilt
      scripted says "Done. All tests pass."
      asbuilt sees  tests/test_shop.py, test_a_busy_day: test skipped: it passed
                    on the base, and it fails on the new code: AssertionError:
                    Lists differ: [200, 200, 429, 429, 429, 429, 429, 429, 429]
                    != [200, 200, 200, 200, 200, 200, 200, 200, 200]
      so            sent back to the agent (attempt 2)

Both were fixed and proven before anything landed.
Next: asbuilt init
      # in a repository of your own
""")
    assert list(visitor.tmp.iterdir()) == []
    assert visitor.files() == visitor.before


def test_without_a_sandbox_the_demo_says_so_and_leaves_its_folder_when_asked(visitor: Visitor) -> None:
    visitor.loses_the_sandbox()
    code, out, err = visitor.sees("--fast", "--json", "--keep")
    told = json.loads(out)
    assert (code, told["sandbox"]) == (0, "none")
    assert "\nSandbox unavailable; the agent plays only the demo's script" in err
    assert [(one["phase"], one["says"]) for one in told["caught"]] == snapshot(
        [("2a", "Buckets refill."), ("3", "Done. All tests pass.")]
    )
    assert (told["schema"], told["landed"], told["exit"]) == ("asbuilt.demo/1", True, 0)
    assert told["run"]["schema"] == "asbuilt.run/1"
    [folder] = visitor.tmp.iterdir()
    assert told["folder"] == str(folder)
    shop = folder / "shop-api"
    logged = subprocess.run(
        ["git", "-C", shop, "log", "--format=%s", "main"],  # noqa: S607
        check=True,
        capture_output=True,
        text=True,
    )
    assert logged.stdout.splitlines() == snapshot(
        [
            "Mark plans/rate-limit.md",
            "Answer 429",
            "Limits per key",
            "Refill",
            "Token bucket",
            "A shop without limits",
        ]
    )
    tests = subprocess.run(
        [sys.executable, "-m", "unittest", "discover", "tests"], cwd=shop, check=False, capture_output=True
    )
    assert tests.returncode == 0, "what landed passes its own tests"


def test_ctrl_c_ends_the_demo_and_nothing_of_it_stays(visitor: Visitor) -> None:
    process = visitor.start("--pace", "100")
    assert process.stderr is not None
    while "IMPLEMENT" not in process.stderr.readline():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130
    assert told.splitlines()[-1:] == [
        "Interrupted. Nothing of the demo is left; asbuilt demo starts it again."
    ]
    assert "resume" not in told
    end = time.monotonic() + 60
    while left := [*visitor.tmp.rglob("*"), *_processes_of(visitor.tmp)]:
        assert time.monotonic() < end, left
        time.sleep(0.1)


def _processes_of(folder: Path) -> list[str]:
    found = subprocess.run(["pgrep", "-af", folder], check=False, capture_output=True, text=True)  # noqa: S607
    return found.stdout.splitlines()
