"""A temporary repository, journal and script for a case, and surroundings that must not change.

Rule: nothing of the user is read or written: no settings, git configuration, journal or worker.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Final

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
    from pathlib import Path

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
    said = done.stderr.strip().splitlines()
    if done.returncode == 0:
        return None
    return f"{program}: {said[-1] if said else f'it is too old for {kind}'}"


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
            ring_required=False,
            hold=False,
            sign="never",
        )

    def _filled(self, text: str) -> str:
        """Replace the placeholders for this machine's paths."""
        return _filled(text, ("@CHECKOUT@", str(self.checkout)), ("@OUTSIDE@", str(self.outside)))


def _filled(text: str, *places: tuple[str, str]) -> str:
    node = os.path.realpath(shutil.which("node") or "node")
    for mark, value in (("@PYTHON@", sys.executable), ("@NODE@", node), *places):
        text = text.replace(mark, value)
    return text
