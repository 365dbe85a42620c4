"""A project that is proven before and after a change, with its real runner, repository and journal."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from msgspec import structs
from msgspec.structs import replace

from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.events.attempts import ChecksDone
from asbuilt.events.options_json import read_options
from asbuilt.events.phases import SetupDone
from asbuilt.flows.checks import preflight
from asbuilt.flows.checks.prove import Proving
from asbuilt.flows.environments.check_environment import CheckEnvironments
from asbuilt.flows.run.record import Record
from asbuilt.flows.trials.suite import Order
from asbuilt.journal import runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.proof.projects.model import Given, Suite
from asbuilt.proof.projects.recorded import written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from asbuilt.proof.evidence import Evidence
    from tests.git.shop import Shop

PYTEST = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider"
UNITTEST = f"{shlex.quote(sys.executable)} -m unittest discover -s tests -t ."
FOR_NODE = {
    "double.js": "exports.double = (n) => n + n;\n",
    "test/double.test.js": (
        "const test = require('node:test');\nconst assert = require('node:assert');\n"
        "const { double } = require('../double.js');\n"
        "test('two', () => { assert.strictEqual(double(2), 4); });\n"
    ),
}
RUN = "01r"
NO_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}


class Project:
    """One project and the proof of its base; `close` lets go of its journal."""

    def __init__(
        self,
        shop: Shop,
        folder: Path,
        files: dict[str, str],
        tests: str,
        *,
        probe: bool = False,
        depth: str = "normal",
        by_exit: bool = False,
        limit_s: int = 120,
    ) -> None:
        self.shop = shop
        self._store = SqliteStore(folder / "journal.db")
        self._store.migrate(STEPS)
        with self._store.write() as session:
            place = {"checkout": str(shop.root), "branch": "main", "slug": "plan"}
            options = {**place, "probe": probe, "depth": depth}
            address = Address(LOCAL, "6f9c", "plan.md")
            run = runs.request(
                session, address, run=RUN, slug="plan", options=read_options(options), actor="you"
            )
        self._record = Record(run=run, store=self._store, blobs=Blobs(folder / "blobs"))
        suite = Suite("", tests, counts="exit-code" if by_exit else "tests")
        self._record.append(written(Given((suite,))), "tests")
        self._record.append(SetupDone(outcome="PASS", digest="none"), "setup")
        self.base = self._tree(files)
        processes = SandboxProcesses(scratch=folder / "scratch", homes=(folder / "nobody",), level="none")
        self._environments = CheckEnvironments(
            folder / "setups", shop.repository, processes, limit_s=limit_s, environment=NO_PLUGINS
        )
        self.proving = Proving(self._record, shop.repository, self._environments, self.base)
        preflight.run_baseline(self._record, self.proving, PlanFacts(RUN))
        (self.before,) = self._record.shown()

    def after(self, files: dict[str, str | None], text: str = "", *, checks: Sequence[str] = ()) -> Evidence:
        """Prove what a phase with this text, and these checks of its own, has made of it."""
        return self.every(files, text, checks=checks)[0]

    def every(
        self, files: dict[str, str | None], text: str = "", *, checks: Sequence[str] = ()
    ) -> list[Evidence]:
        """Prove the same, and return what each check has shown too."""
        return self.proving.prove(self._tree(files), checks, order=Order(self.base, text))

    def after_another(self, first: dict[str, str | None], files: dict[str, str | None]) -> Evidence:
        """Prove a phase that starts with what an earlier one of the run has made."""
        start = self._tree(first)
        return self.proving.prove(self._tree(files), order=Order(start, "", earlier=(self.base,)))[0]

    def goes_on(self, shown: Sequence[Evidence], *, depth: str) -> None:
        """Keep evidence in the journal, and continue with another depth."""
        checked = ChecksDone(phase="1", number=1, outcome="PASS", evidence=self._record.keep(shown))
        self._record.append(checked, "1/1/checks")
        run = self._record.run
        run = run._replace(options=structs.replace(run.options, depth=depth))
        self._record = replace(self._record, run=run)
        self.proving = Proving(self._record, self.shop.repository, self._environments, self.base)

    def _tree(self, files: dict[str, str | None] | dict[str, str]) -> str:
        for name, content in files.items():
            if content is None:
                (self.shop.root / name).unlink()
            else:
                self.shop.write(name, content)
        self.shop.commit("files")
        return self.shop.git("rev-parse", "main^{tree}")

    def close(self) -> None:
        self._store.close()
