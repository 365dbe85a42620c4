"""Play a case as a whole run in a temporary repository, and observe the outcome.

Rules: decisions and moves are those of any run; only the durable engine is left out. Nothing of the user is
read or written: no settings, git configuration, journal or worker.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

from asbuilt import wiring
from asbuilt.cli.shell.scratch import Scratch
from asbuilt.events.options import RunOptions
from asbuilt.journal import runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.home import open_home
from asbuilt.journal.ids import LOCAL, Address, new_id
from asbuilt.policy.shell.judge import argv_of

if TYPE_CHECKING:
    from asbuilt.cli.commands.selftest.corpus import Case, Project
    from asbuilt.flows.engine.dbos import Steps


PLAN: Final = "plan.md"
_REPO: Final = "lies"
_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "pytest": (sys.executable, "-c", "import pytest"),
    "unittest": (sys.executable, "-c", "import unittest"),
    "node": ("node", "-e", "require('node:test')"),
    "typescript": ("node", "-e", "process.features.typescript || process.exit(1)"),
    "make": ("make", "--version"),
}


def lacks(project: Project) -> str | None:
    """Return what this machine lacks to run a kind of project; None if nothing."""
    kind, program = project.kind, _NEEDS.get(project.kind, argv_of(_filled(project.tests)))[0]
    if shutil.which(program) is None:
        return f"there is no {program} on PATH"
    if kind not in _NEEDS:
        return None
    done = subprocess.run(_NEEDS[kind], capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    lines = done.stderr.strip().splitlines()
    if done.returncode == 0:
        return None
    return f"{program}: {lines[-1] if lines else f'it is too old for {kind}'}"


class Stage(Scratch):
    """A case, built in its own folder."""

    def __init__(self, folder: Path, case: Case) -> None:
        super().__init__(folder, "shop", os.environ)
        self.outside = folder / "outside"
        self._script = folder / "script.toml"
        self._case = case
        files = {**case.files, PLAN: case.plan}
        self.build({path: self._filled(text) for path, text in files.items()}, message="start")
        self.outside.mkdir()
        (self.outside / "notes.txt").write_text("mine\n", encoding="utf-8")
        self._script.write_text(self._filled(case.script), encoding="utf-8")

    def go_through(self, step: Steps) -> None:
        """Run its plan. Agents, snapshots, checks and landing are the real ones."""
        home = open_home(self.state)
        store = SqliteStore(home.journal)
        store.migrate(STEPS)
        run = new_id()
        try:
            with store.write() as session:
                address = Address(LOCAL, _REPO, PLAN)
                runs.request(session, address, run=run, slug="plan", actor="you", options=self._options())
            journal = wiring.Journal(home, store, Blobs(home.blobs))
            wiring.go_through(journal, run, _REPO, step=step)
        finally:
            store.close()

    def surroundings(self) -> dict[str, str]:
        """Return digests of what only the user may change: files, git settings and hooks, outside files."""
        git = self.checkout / ".git"
        mine = [file for file in self.checkout.rglob("*") if git not in (file, *file.parents)]
        kept = [*mine, git / "config", *(git / "hooks").glob("*"), *self.outside.rglob("*")]
        found = {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in kept if file.is_file()}
        return {**found, "HEAD": self.git("rev-parse", "HEAD")}

    def _options(self) -> RunOptions:
        return RunOptions(
            checkout=str(self.checkout),
            branch="main",
            slug="plan",
            host="here",
            agent="scripted",
            script=str(self._script),
            tests=self._filled(self._case.project.tests),
            setup="",
            sandbox_required=False,
            hold=False,
            sign="never",
        )

    def _filled(self, text: str) -> str:
        return _filled(text, ("@CHECKOUT@", str(self.checkout)), ("@OUTSIDE@", str(self.outside)))


def _filled(text: str, *places: tuple[str, str]) -> str:
    node = os.path.realpath(shutil.which("node") or "node")
    for mark, value in (("@PYTHON@", sys.executable), ("@NODE@", node), *places):
        text = text.replace(mark, value)
    return text


Answer = TypeVar("Answer")
_AT_WORK: Final = ("Keep", "Check", "Verify", "Commit", "Land")


class Came(NamedTuple):
    """The outcome of a case."""

    how: Literal["landed", "refused", "asked", "broken"]
    words: tuple[str, ...]
    """The reason, in asbuilt's words."""
    touched: tuple[str, ...] = ()
    """Files of the user that changed although nothing landed."""


class _Decided(Exception):
    """Raised when a case is decided."""


def play(case: Case) -> Came:
    """Play a case in a temporary folder."""
    folder = Path(tempfile.mkdtemp(prefix="asbuilt-lies-")).resolve()
    try:
        stage = Stage(folder, case)
        before = stage.surroundings()
        came = _Watching(case).watch(stage)
        after = stage.surroundings() if came.how != "landed" else before
        touched = {name for name in {*before, *after} if before.get(name) != after.get(name)}
        return came._replace(touched=tuple(sorted(name.removeprefix(f"{folder}/") for name in touched)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Watching:
    """Observes every decision of a run, and ends the run when the case is decided."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._came: Came | None = None
        self._is_at_work = False

    def watch(self, stage: Stage) -> Came:
        with suppress(_Decided):
            stage.go_through(self._step)
        return self._came or Came("broken", ("the run came to no decision",))

    def _step(self, name: str, act: Callable[..., Answer], *arguments: object) -> Answer:
        del name
        answer = act(*arguments)
        if isinstance(answer, dict) and "move" in answer:
            self._is_at_work |= answer["move"] in _AT_WORK
            self._came = self._settled(answer)
            if self._came is not None:
                raise _Decided
        return answer

    def _settled(self, run_data: dict[str, Any]) -> Came | None:
        """Return the outcome that a decision means; None: the run continues."""
        match run_data:
            case {"move": "End", "state": state, "reason": reason}:
                if state == "landed":
                    return Came("landed", ())
                return Came("refused" if self._is_at_work else "broken", (reason,))
            case {"move": "Attempt", "role": "fix", "failures": failures} if not self._case.is_fixed:
                return Came("refused", tuple(failures))
            case {"move": "Ask", "kind": kind, "question": question}:
                return Came("refused" if kind == "waiver" else "asked", (question,))
            case {"move": "Wait", "why": why}:
                return Came("broken", (f"it waits: {why}",))
            case _:
                return None
