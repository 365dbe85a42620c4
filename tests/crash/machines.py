"""Machines of a fleet: each has a HOME and a state folder of its own; they share a remote and a database.

The one rule: only the machine that asks has a clone, and it is taken away before a worker starts.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg

from asbuilt.events.options_json import read_options
from asbuilt.events.runs import TroubleMet
from asbuilt.flows.fleet.membership import join, ordered, set_secret
from asbuilt.flows.registration import enrol
from asbuilt.flows.requests import Asker, Declined, request
from asbuilt.git.repository import open_repository
from asbuilt.journal import runs
from asbuilt.journal.engine import fleet
from asbuilt.journal.engine.workers import worker_id
from asbuilt.journal.home import open_home
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.overview import facts_of
from asbuilt.journal.shared_blobs import SharedBlobs
from tests.journal.conftest import open_store
from tests.journeys.shop import ROOT, Shop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from asbuilt.journal.home import Home
    from asbuilt.lifecycle.run.money import Spent

SSH = """\
#!/bin/sh
case " $* " in *" -G "*) exit 0 ;; esac
[ -e {folder}/down ] && {{ echo "ssh: connect to host forge.test: Connection refused" >&2; exit 255; }}
for last; do :; done
cd {folder} && exec env -i PATH="$PATH" HOME={folder} sh -c "$(printf %s "$last" | sed "s#'/#'{folder}/#")"
"""
"""The network: leads every host to one folder, and nothing of the caller's environment gets through."""
URL = "ssh://git@forge.test/shop.git"
OTHER_URL = "git@forge.test:shop.git"


class Machines(Shop):
    """A shop whose clone is on the machine `ada`, and workers on others."""

    def __init__(self, folder: Path, where: str) -> None:
        super().__init__(folder, where)
        self.folder, self.forge = folder, folder / "forge"
        self.forge.mkdir()
        self.ssh = folder / "ssh"
        self.ssh.write_text(SSH.format(folder=self.forge), encoding="utf-8")
        self.ssh.chmod(0o700)
        os.environ["GIT_SSH_COMMAND"] = str(self.ssh)
        self.git("clone", "-q", "--bare", str(self.checkout), str(self.forge / "shop.git"))
        self.git("remote", "add", "origin", URL)
        self.troubles = 1
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self.homes: dict[str, Home] = {}
        self.repo = enrol(self.store, open_repository(self.checkout))
        self.blob_store = open_store(where)
        self.blobs = SharedBlobs(self.home / "blobs", self.blob_store)

    @property
    def address(self) -> Address:
        return Address(LOCAL, self.repo, self.plan)

    def run(self, run: str) -> runs.Run:
        with self.store.read() as session:
            found = runs.find(session, LOCAL, self.repo, run)
        assert found is not None
        return found

    def clone(self, name: str, url: str = OTHER_URL) -> Path:
        """Clone the remote on another machine."""
        place = self.folder / name
        subprocess.run(["git", "clone", "-q", url, str(place)], check=True)  # noqa: S607
        return place

    def ask(self, checkout: Path | None = None, **options: Any) -> str:  # noqa: ANN401
        """Ask for a run from a clone, by its order."""
        place = checkout or self.checkout
        environ = {"GIT_SSH_COMMAND": str(self.ssh), "PATH": os.environ["PATH"]}
        labels = options.pop("labels", ())
        chosen = read_options({
            "checkout": str(place), "branch": "main", "slug": "plan", "host": "here", "mode": "finish",
            "ring_required": False, "agent": "scripted", "script": str(self.script), "auto": True, **options,
        })  # fmt: skip
        order = ordered(
            self.store, self.blobs, open_repository(place), chosen,
            plan=(place / self.plan).read_bytes(), environ=environ, labels=labels,
        )  # fmt: skip
        asker = Asker("ada", "here", environ)
        asked = request(self.store, self.home / "runs", self.address, slug="plan", options=order, asker=asker)
        assert not isinstance(asked, Declined), asked
        return asked.run

    def join(
        self, name: str, *labels: str, secrets: dict[str, str] | None = None, **environment: str
    ) -> None:
        """Start a worker of the fleet on a machine of its own."""
        if name not in self.homes:
            self.homes[name] = open_home(self.folder / f"state-{name}")
            join(self.homes[name], labels)
            for secret, value in (secrets or {}).items():
                set_secret(self.homes[name], secret, value)
        user = self.folder / f"home-{name}"
        user.mkdir(exist_ok=True)
        self.workers[name] = subprocess.Popen(
            [sys.executable, "-m", "tests.journeys.worker", str(self.homes[name].path), self.where],
            cwd=ROOT,
            env={
                **os.environ,
                "HOME": str(user),
                "GIT_SSH_COMMAND": str(self.ssh),
                "ASBUILT_TEST_TIMES": "1 6 8",
                **environment,
            },
        )

    @contextmanager
    def serving(self, name: str, **environment: str) -> Iterator[Path]:
        """Run the product's own worker on a machine of the fleet, with all its jobs; lends its folder."""
        state = open_home(self.folder / f"state-{name}")
        join(state, ())
        user = self.folder / f"home-{name}"
        user.mkdir(exist_ok=True)
        own = {"HOME": str(user), "ASBUILT_HOME": str(state.path), "ASBUILT_STORE_URL": self.where}
        with subprocess.Popen(
            [sys.executable, "-m", "asbuilt", "worker", "--foreground"],
            cwd=self.folder,
            env={**os.environ, **own, **environment},
        ) as process:
            try:
                yield state.path
            finally:
                process.kill()
                for folder in state.path.glob("runs/*/attempts/*"):
                    (folder / "cancel").touch()

    def strike(self, name: str) -> None:
        """Kill a worker, and every process of its machine that works for it; its disk is gone too."""
        self.workers[name].kill()
        self.workers[name].wait()
        state = self.homes[name].path
        for folder in state.glob("runs/*/attempts/*"):
            (folder / "cancel").touch()
        state.rename(state.with_name(f"gone-{name}"))

    def starts(self) -> dict[str, int]:
        """Count the starts of each attempt on all machines, also on those that are gone."""
        found: dict[str, int] = {}
        for state in (*self.folder.glob("state-*"), *self.folder.glob("gone-*")):
            for file in state.glob("runs/*/attempts/*/starts"):
                mine = [line for line in file.read_text().splitlines() if line != "elsewhere"]
                name = file.parent.name.partition(".")[2]
                found[name] = found.get(name, 0) + len(mine)
        return found

    def spent(self, run: str) -> Spent:
        """Return what a run has spent, as every screen folds it from the events."""
        with self.store.read() as session:
            return facts_of(session, self.blobs, self.run(run)).spent

    def shared_refs(self) -> list[str]:
        """Name what the fleet keeps on the remote."""
        return self._remote("for-each-ref", "--format=%(refname)", "refs/asbuilt").splitlines()

    def landed(self) -> list[str]:
        """Return the subjects on the remote's branch, the newest first."""
        return self._remote("log", "--format=%s", "main").splitlines()

    def remote_tip(self) -> str:
        """Return the commit of the remote's branch."""
        return self._remote("rev-parse", "main").strip()

    def protect(self) -> None:
        """Let the remote refuse every push to its branch, as a forge does."""
        hook = self.forge / "shop.git" / "hooks" / "update"
        hook.parent.mkdir(exist_ok=True)
        words = "GH006: Protected branch update failed for refs/heads/main."
        hook.write_text(f"#!/bin/sh\n[ $1 = refs/heads/main ] || exit 0\necho {words}\nexit 1\n", "ascii")
        hook.chmod(0o700)

    def members(self) -> list[str]:
        """Name the workers that have registered what they offer."""
        with self.store.read() as session:
            return [one.worker for one in fleet.members(session, LOCAL, since="") if one.slots]

    def rest(self, name: str, *, seconds: int = 4) -> None:
        """Wait until a worker has had some heartbeats, and so has looked for work several times."""
        worker = worker_id(self.homes[name])

        def heartbeat() -> str:
            with self.store.read() as session:
                found = [one for one in fleet.members(session, LOCAL, since="") if one.worker == worker]
            return found[0].beat_at if found else ""

        for _ in range(seconds):
            before = heartbeat()
            self.until(lambda before=before: heartbeat() != before)  # type: ignore[misc]  # of this round

    def commit_pulled(self) -> None:
        """Bring the clone up to the remote, as the person does."""
        self.git("pull", "-q", "origin", "main")

    def worked(self) -> set[str]:
        """Name the machines on which an agent was started."""
        return {name for name, home in self.homes.items() if [*home.path.glob("runs/*/attempts/*/starts")]}

    def dumped(self) -> str:
        """Return every row of the database as text."""
        with psycopg.connect(self.where) as connection:
            names = connection.execute(
                "SELECT table_schema, table_name FROM information_schema.tables"
                " WHERE table_schema IN ('asbuilt', 'dbos') AND table_type = 'BASE TABLE'"
            ).fetchall()
            rows = [connection.execute(f'SELECT * FROM {a}."{b}"').fetchall() for a, b in names]
        return str(rows)

    def _remote(self, *words: str) -> str:
        told = subprocess.run(
            ["git", *words],  # noqa: S607
            cwd=self.forge / "shop.git",
            check=True,
            capture_output=True,
            text=True,
        )
        return told.stdout

    def until(self, true: Callable[[], object], *, within_s: float = 180) -> None:
        """Wait; a transient error that repeats ends the wait with its words."""
        super().until(lambda: true() or len(self.events(TroubleMet)) > self.troubles, within_s=within_s)
        assert true(), [(one.what, one.next) for one in self.events(TroubleMet)]

    def take_away(self) -> None:
        """Remove the clone that asked: no worker may read it."""
        shutil.rmtree(self.checkout)
        self.before = None

    def close(self) -> None:
        for name, worker in self.workers.items():
            worker.kill()
            worker.wait()
            for state in self.folder.glob(f"*-{name}"):
                for folder in state.glob("runs/*/attempts/*"):
                    (folder / "cancel").touch()
        os.environ.pop("GIT_SSH_COMMAND", None)
        self.blob_store.close()
        super().close()
