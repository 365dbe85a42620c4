"""What runs have shown is shown again on another checkout; what does not hold any more is said.

`just replays` stores and replays twenty runs; CI has time for one of each kind that differs most.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from asbuilt.journal.engine.liveness import holder, only_one

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.crash
RUNS = int(os.environ.get("ASBUILT_REPLAYS", "2"))
FILES = {
    "asbuilt.toml": """\
[checks]
tests = "python3 -m unittest discover tests"
setup = "echo yes > made.txt"
""",
    "tests/test_old.py": """\
import unittest


class OldTest(unittest.TestCase):
    def test_old(self):
        self.assertEqual(1 + 1, 2)
""",
}
PLAN = """\
# Part {n}

## Phase 1 — Part {n}
### Work Items
- [ ] `part{n}.py` has the value {n}
- [ ] a test for it
### Verification
- `grep -q yes made.txt`
- `grep -q '= {n}' part{n}.py`
"""
TEST = """\
import unittest

from part{n} import VALUE


class PartTest(unittest.TestCase):
    def test_value(self):
        self.assertEqual(VALUE, {n})
"""
JUDGES = '[[turn]]\nrole = "verify"\nacts = [{ verdict = "pass" }]\n'
TALKS = '[[turn]]\nrole = "verify"\nacts = [{ say = "all of it is there, and good" }]\n'
REFUSES = '[[turn]]\nrole = "verify"\nacts = [{ verdict = "fail", items = [2], why = "it tests nothing" }]\n'
KINDS = ("fixed", "talks", "skips", "red", "landed", "refuses")
"""Mended once, never judged, green by a skipped test, never green, proven at once, never good enough."""
NOTICED = ["remarks about the changes", "0"]
ENDS = {"fixed": 0, "landed": 0, "talks": 1, "skips": 1, "red": 1, "refuses": 5}
"""What `asbuilt run` exits with: where a person could waive what is missing, it waits for one."""
PASSED = [["tests", "PASS"], ["grep -q yes made.txt", "PASS"], ["grep -q '= {n}' part{n}.py", "PASS"]]
SHOWN = {
    "fixed": [NOTICED, *PASSED, ["verdict", "sound"], ["item 1", "PASS"], ["item 2", "PASS"]],
    "landed": [NOTICED, *PASSED, ["verdict", "sound"], ["item 1", "PASS"], ["item 2", "PASS"]],
    "talks": [NOTICED, *PASSED, ["verdict", "void"], ["item 1", "NOT_RUN"], ["item 2", "NOT_RUN"]],
    "refuses": [NOTICED, *PASSED, ["verdict", "sound"], ["item 1", "PASS"], ["item 2", "FAIL"]],
    "skips": [[NOTICED[0], "1"]],
    "red": [NOTICED, ["tests", "FAIL"], PASSED[1], ["grep -q '= {n}' part{n}.py", "FAIL"]],
}


def script(kind: str, n: int) -> str:
    """Write what the agents of a run do."""

    def turn(role: str, value: int) -> str:
        part = json.dumps(f"VALUE = {value}\n")
        test = json.dumps(TEST.format(n=n))
        acts = (
            f'{{ write = "part{n}.py", text = {part} }}, {{ write = "tests/test_part{n}.py", text = {test} }}'
        )
        return f'[[turn]]\nrole = "{role}"\nacts = [{skipping}{acts}, {{ say = "done, all tests pass" }}]\n'

    skips = json.dumps(
        FILES["tests/test_old.py"].replace("    def test", "    @unittest.skip('slow')\n    def test")
    )
    skipping = f'{{ write = "tests/test_old.py", text = {skips} }}, ' if kind == "skips" else ""
    first, fix = {"fixed": (0, n), "red": (0, 0)}.get(kind, (n, n))
    return (
        turn("implement", first) + turn("fix", fix) + {"talks": TALKS, "refuses": REFUSES}.get(kind, JUDGES)
    )


class Archive:
    """A repository in which some runs are over, and a clone of it."""

    def __init__(self, folder: Path) -> None:
        self.shop, self.clone, self.state = folder / "shop", folder / "clone", folder / "state"
        self.environ = {
            "HOME": str(folder), "LOGNAME": "ann", "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8",
            "ASBUILT_HOME": str(self.state), "ASBUILT_SANDBOX_REQUIRED": "false",
            "ASBUILT_AGENTS_IMPLEMENT": "scripted", "ASBUILT_RUN_LANES": "1",
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
        }  # fmt: skip
        self.kinds = {n: KINDS[(n - 1) % len(KINDS)] for n in range(1, RUNS + 1)}
        plans = {f"plans/part{n}.md": PLAN.format(n=n) for n in self.kinds}
        for name, text in {**FILES, **plans}.items():
            (self.shop / name).parent.mkdir(parents=True, exist_ok=True)
            (self.shop / name).write_text(text, encoding="utf-8")
        for arguments in (
            ("init", "-q", "-b", "main"), ("config", "user.name", "Ann"), ("config", "user.email", "a@x.org"),
            ("add", "."), ("commit", "-qm", "start"),
        ):  # fmt: skip
            self.git(self.shop, *arguments)
        self.codes = {n: self.run(folder / "script.toml", n) for n in self.kinds}
        self.git(folder, "clone", "-q", str(self.shop), str(self.clone))

    def run(self, played: Path, n: int) -> int:
        played.write_text(script(self.kinds[n], n), encoding="utf-8")
        arguments = ("run", f"part{n}", "--finish", "--auto", "--script", str(played))
        return self.asbuilt(self.shop, *arguments).returncode

    def git(self, at: Path, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=at, env=self.environ, check=True, capture_output=True)  # noqa: S607

    def asbuilt(self, at: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-m", "asbuilt", *arguments],
            cwd=at, env={**self.environ, **environ}, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False,
        )  # fmt: skip

    def replay(self, at: Path, n: int) -> tuple[int, dict[str, Any]]:
        told = self.asbuilt(at, "verify", "--replay", f"part{n}.1", "--json")
        return told.returncode, json.loads(told.stdout)["phases"][0]

    def close(self) -> None:
        pid = holder(self.state / "worker.lock")
        if pid:
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    made = Archive(tmp_path_factory.mktemp("archive"))
    yield made
    made.close()


def named(rows: list[dict[str, Any]], when: str) -> list[list[str]]:
    return [[row["what"], row[when]] for row in rows]


def test_runs_show_the_same_on_another_checkout(archive: Archive) -> None:
    archive.git(archive.clone, "fetch", "-q", "origin", "refs/asbuilt/*:refs/asbuilt/*")
    assert archive.codes == {n: ENDS[kind] for n, kind in archive.kinds.items()}
    for n, kind in archive.kinds.items():
        wanted = [[what.format(n=n), outcome] for what, outcome in SHOWN[kind]]
        code, phase = archive.replay(archive.clone, n)
        assert (named(phase["outcomes"], "was"), named(phase["outcomes"], "now"), code, phase["holds"]) == (
            wanted, wanted, 0, True,
        ), kind  # fmt: skip


def test_what_landed_is_replayed_in_a_plain_clone_and_what_did_not_is_missing_there(
    archive: Archive, tmp_path: Path
) -> None:
    archive.git(tmp_path, "clone", "-q", "--no-local", str(archive.shop), "plain")
    assert archive.replay(tmp_path / "plain", 1)[0] == 0
    told = archive.asbuilt(tmp_path / "plain", "verify", "--replay", "part2.1")
    assert (told.returncode, told.stderr.split()) == (
        1, ["Next:", "git", "fetch", str(archive.shop), "'refs/asbuilt/*:refs/asbuilt/*'"],
    )  # fmt: skip
    assert "its commits: was here, is not here" in " ".join(told.stdout.split())


def test_a_check_that_has_become_red_is_said_and_nothing_is_written(archive: Archive) -> None:
    (made,) = archive.state.glob("setups/**/results.*/checkout/made.txt")
    blobs = sorted(archive.state.glob("blobs/*/*"))
    log = archive.asbuilt(archive.shop, "log", "part1").stdout
    made.write_text("no\n", encoding="utf-8")
    told = archive.asbuilt(archive.shop, "verify", "--replay", "part1")
    made.write_text("yes\n", encoding="utf-8")
    assert told.returncode == 1
    assert told.stdout.splitlines()[1:] == [
        "✗ 1   Part 1 does not hold any more: 7 outcomes",
        "      grep -q yes made.txt: was PASS, is FAIL: exit 1",
        "0 of 1 part came out as then.",
    ]
    assert archive.asbuilt(archive.shop, "log", "part1").stdout == log
    assert sorted(archive.state.glob("blobs/*/*")) == blobs
    assert not (archive.state / "replay").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("part1.7",), 3, "error: part1.7 has not been run here"),
        (("part1.1", "9"), 3, "error: nothing of part1.1 phase 9 can be replayed"),
    ],
)
def test_what_was_never_shown_is_not_replayed(
    archive: Archive, arguments: tuple[str, ...], code: int, said: str
) -> None:
    told = archive.asbuilt(archive.shop, "verify", "--replay", *arguments)
    assert (told.returncode, told.stderr.splitlines()[0]) == (code, said)


def test_two_replays_at_a_time_are_refused(archive: Archive) -> None:
    with only_one(archive.state / "replay.lock") as mine:
        told = archive.asbuilt(archive.shop, "verify", "--replay", "part1.1")
    assert (mine, told.returncode, told.stderr.splitlines()[0]) == (
        True, 4, "error: another replay is under way",
    )  # fmt: skip


def test_without_a_ring_nothing_that_an_agent_wrote_is_run(archive: Archive, tmp_path: Path) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    (tmp_path / "bwrap").chmod(0o700)
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "ASBUILT_SANDBOX_REQUIRED": "true"}
    told = archive.asbuilt(archive.shop, "verify", "--replay", "part1.1", **environ)
    assert (told.returncode, told.stderr.splitlines()[0]) == (
        4, "error: Sandbox unavailable here, so no check can run",
    )  # fmt: skip
