"""A team that follows docs/how-to/fleet.md: a laptop and two servers, each with its own network and HOME.

The one rule: no secret value may be found outside the files that the page puts it into.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from asbuilt.journal.engine.liveness import holder
from tests.crash.network import SSH, GitServer, Network
from tests.journeys.shop import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = ROOT / "docs" / "how-to" / "fleet.md"
MACHINES = ("ada", "bob", "eve")
SERVERS = MACHINES[1:]
PLAN = """\
---
worker: gpu
---
# Rate limit

## Phase 1 — Greet
### Dependencies
None.
### Work Items
- [ ] `greet.py` says hello
### Verification
- `grep -q hello greet.py`
- `test -n "$SHOP_TOKEN"`
"""
SCRIPT = """\
[[turn]]
role = "implement"
acts = [{ write = "greet.py", text = "print('hello')\\n" }, { say = "done" }]
[[turn]]
role = "verify"
acts = [{ verdict = "pass" }]
"""
PRIVATE = (
    "url.txt",
    "key.txt",
    "token.txt",
    "id",
    "config.toml",
    "fleet-secrets.json",
    "given.json",
)
"""Files that have a value because the page, or asbuilt by what the page says, puts it there. Mode 0600."""


def steps() -> dict[str, list[tuple[str, list[str]]]]:
    """Read the page: for each step, its blocks with their language and lines."""
    found: dict[str, list[tuple[str, list[str]]]] = {}
    for part in re.split(r"(?m)^\d+\. (?=\*\*)", PAGE.read_text("utf-8").partition("\n## ")[0])[1:]:
        name = part.partition(".**")[0].strip("*")
        blocks = re.findall(r"(?ms)^ *```(\w+)\n(.*?)^ *```", part)
        found[name] = [(language, [line.strip() for line in text.splitlines()]) for language, text in blocks]
    return found


class Team:
    """Everything that the page needs, and what it says, done."""

    def __init__(self, folder: Path, postgres: str) -> None:
        self.folder = folder
        self.values = {name: f"canary-{name}-{secrets.token_hex(8)}" for name in ("worker", "person", "git")}
        self.values |= {name: f"canary-{secrets.token_hex(8)}" for name in ("key.txt", "token.txt")}
        self.network = Network(MACHINES)
        self.admin = _database(postgres)
        self.door = self.network.database(self.admin)
        (folder / "forge").mkdir()
        (folder / "bin").mkdir()
        (folder / "bin" / "ssh").write_text(SSH.format(python=sys.executable), encoding="ascii")
        (folder / "bin" / "ssh").chmod(0o700)
        self.git_server = GitServer(self.network.address, folder / "forge", self.values["git"])
        self.script = folder / "script.toml"
        self.script.write_text(SCRIPT, encoding="utf-8")
        self.seen: set[str] = set()
        self._over = threading.Event()
        threading.Thread(target=self._watch_processes, daemon=True).start()
        for name in MACHINES:
            self._furnish(name)

    def home(self, name: str) -> Path:
        return self.folder / name

    def address(self, role: str) -> str:
        """Return the database's URL for a role, with its password."""
        return f"postgresql://asbuilt_{role}:{self.values[role]}@{self.door.place}/asbuilt"

    def type(self, name: str, line: str, *, start: str = "", within_s: float = 240) -> tuple[int, str]:
        """Type a line of the page on a machine; return its exit code and all that it shows."""
        shell = subprocess.run(
            [*self.network.enter(name), "sh", "-c", line],
            cwd=self.home(name) / start,
            env=self._environ(name),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=within_s,
        )
        with (self.home(name) / "typed.log").open("a") as log:
            log.write(f"$ {line}\n{shell.stdout}\n")
        return shell.returncode, shell.stdout

    def sql(self, lines: list[str]) -> None:
        """Say something to the database as its owner, who also gives roles their passwords."""
        with psycopg.connect(self.admin, autocommit=True) as connection:
            connection.execute("\n".join(lines).encode())
            for role in ("worker", "person"):
                with suppress(psycopg.errors.UndefinedObject):
                    password = self.values[role]
                    connection.execute(f"ALTER ROLE asbuilt_{role} PASSWORD '{password}'".encode())

    def repository(self) -> Path:
        """Make the laptop's clone, with a plan; nothing of it is pushed."""
        shop = self.home("ada") / "shop"
        (shop / "plans").mkdir(parents=True)
        (shop / "plans" / "rate-limit.md").write_text(PLAN, encoding="utf-8")
        bare = self.folder / "forge" / "shop.git"
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", bare], check=True)  # noqa: S607
        for line in (
            "git init -q -b main",
            "git config user.name Ada",
            "git config user.email ada@example.com",
            f"git remote add origin {self.git_server.url('shop.git')}",
            "git add .",
            "git commit -qm start",
        ):
            assert self.type("ada", line, start="shop")[0] == 0
        shutil.copy(self.home("ada") / "url.txt", shop)
        return shop

    def strike(self, name: str) -> None:
        """Kill the worker of a machine, with every process on it."""
        pids = subprocess.run(
            ["ip", "netns", "pids", self.network.enter(name)[-1]],  # noqa: S607
            capture_output=True,
            check=True,
            text=True,
        )
        for pid in map(int, pids.stdout.split()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def until(self, true: Callable[[], object], *, within_s: float = 120) -> None:
        end = time.monotonic() + within_s
        while not true():
            assert time.monotonic() < end
            time.sleep(0.2)

    def found(self) -> list[str]:
        """List where a value is that may not be there: files, rows, what was shown, and command lines."""
        # The address itself is no secret; with a password it is.
        values = [*self.values.values(), *(self.address(role) for role in ("worker", "person"))]
        places = {f"process {line[:60]}": line for line in self.seen}
        places |= {"database": self._rows()}
        for file in self.folder.rglob("*"):
            if file.is_file() and file.name not in PRIVATE:
                places[str(file)] = file.read_bytes().decode("utf-8", "replace")
        return [place for place, text in places.items() if any(value in text for value in values)]

    def close(self) -> None:
        """End the workers and remove the network."""
        self._over.set()
        for name in MACHINES:
            pid = holder(self.home(name) / ".local/state/asbuilt/worker.lock")
            if pid:
                os.kill(pid, signal.SIGKILL)
            self.strike(name)
        self.git_server.close()
        self.door.close()
        self.network.close()

    def _environ(self, name: str) -> dict[str, str]:
        return {
            "HOME": str(self.home(name)),
            "LOGNAME": name,
            "PATH": f"{self.folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "LC_ALL": "C.UTF-8",
            "ASBUILT_AGENTS_IMPLEMENT": "scripted",
            "ASBUILT_SANDBOX_REQUIRED": "false",
            "ASBUILT_CHECKS_ENV": "SHOP_TOKEN",
        }

    def _furnish(self, name: str) -> None:
        """Give a machine what its owner has there: a git login, and the files that the page reads."""
        role = "worker" if name in SERVERS else "person"
        files = {
            "url.txt": self.address(role),
            ".ssh/id": f"{self.values['git']}\n",
        }
        if name in SERVERS:
            files |= {file: self.values[file] for file in ("key.txt", "token.txt")}
        for file, text in files.items():
            place = self.home(name) / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch(0o600)
            place.write_text(text, encoding="ascii")

    def _rows(self) -> str:
        with psycopg.connect(self.admin) as connection:
            names = connection.execute(
                "SELECT table_schema, table_name FROM information_schema.tables"
                " WHERE table_schema IN ('asbuilt', 'dbos') AND table_type = 'BASE TABLE'"
            ).fetchall()
            return str([connection.execute(f'SELECT * FROM {a}."{b}"'.encode()).fetchall() for a, b in names])

    def _watch_processes(self) -> None:
        """Read every command line again and again, as a list of processes shows them."""
        while not self._over.wait(0.05):
            for entry in Path("/proc").iterdir():
                if entry.name.isdigit():
                    with suppress(OSError):
                        self.seen.add(
                            (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                        )


def _database(postgres: str) -> str:
    """Make the database of the page; its roles need passwords."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE DATABASE asbuilt")
        (file,) = connection.execute("SHOW hba_file").fetchone() or ("",)
        hba = Path(str(file))
        needs = "".join(f"local all asbuilt_{role} scram-sha-256\n" for role in ("worker", "person"))
        hba.write_text(needs + hba.read_text("utf-8"), encoding="utf-8")
        connection.execute("SELECT pg_reload_conf()")
    return postgres.replace("/postgres?", "/asbuilt?")
