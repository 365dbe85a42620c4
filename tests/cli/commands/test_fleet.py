"""`asbuilt fleet`, as a user types it: on one machine it refuses, on a database it shows and sets."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import psycopg
import pytest

from asbuilt.flows.fleet.membership import labels_of, secrets
from asbuilt.journal.engine import fleet, workers
from asbuilt.journal.engine.liveness import holder
from asbuilt.journal.home import Home
from tests.cli.test_agents import typed
from tests.crash.machines import SSH
from tests.journal.conftest import open_store, postgres, where

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["postgres", "where"]
on_postgres = pytest.mark.parametrize("where", ["postgres"], indirect=True)


def test_a_machine_with_a_journal_of_its_own_is_in_no_fleet(shop: Path, environ: dict[str, str]) -> None:
    environ["ASBUILT_HOME"] = str(shop.parent / "state")
    code, out, err = typed(shop, environ, "fleet", "workers")
    assert (code, out) == (4, "")
    assert "this machine is in no fleet" in err
    assert "asbuilt fleet join postgresql://USER@HOST/DATABASE" in err


@on_postgres
def test_a_secret_is_in_a_private_file_and_only_its_name_is_shown(
    shop: Path, environ: dict[str, str], where: str
) -> None:
    state = shop.parent / "state"
    environ |= {"ASBUILT_HOME": str(state), "ASBUILT_STORE_URL": where}
    given = subprocess.run(
        [sys.executable, "-m", "asbuilt", "fleet", "secrets", "NPM_TOKEN"],
        cwd=shop, env=environ, input="a value\n", text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert (given.returncode, given.stdout) == (0, "NPM_TOKEN is set on this worker.\n")
    assert typed(shop, environ, "fleet", "secrets")[:2] == (0, "NPM_TOKEN\n")
    assert secrets(Home(state)) == {"NPM_TOKEN": "a value"}
    assert stat.S_IMODE((state / "fleet-secrets.json").stat().st_mode) == 0o600
    with psycopg.connect(where) as connection:
        tables = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'asbuilt'"
        ).fetchall()
        rows = [connection.execute(f'SELECT * FROM asbuilt."{name}"').fetchall() for (name,) in tables]
    assert "a value" not in str(rows)
    assert typed(shop, environ, "fleet", "secrets", "NPM_TOKEN", "--remove")[0] == 0
    assert secrets(Home(state)) == {}
    assert "'1x' is not the name of a variable" in typed(shop, environ, "fleet", "secrets", "1x")[2]
    assert "there is no value on the input" in typed(shop, environ, "fleet", "secrets", "NPM_TOKEN")[2]


@on_postgres
def test_workers_are_listed_with_state_load_version_and_labels(
    shop: Path, environ: dict[str, str], where: str
) -> None:
    environ |= {"ASBUILT_HOME": str(shop.parent / "state"), "ASBUILT_STORE_URL": where}
    assert typed(shop, environ, "fleet", "workers")[:2] == (
        0,
        "No worker sent a heartbeat in the last day.\n",
    )
    store = open_store(where)
    with store.write() as session:
        workers.register(session, "local", "b", host="server", pid=1, build="1.0")
        fleet.offer(session, "local", "b", labels=frozenset({"gpu", "env:TOKEN"}), slots=2)
    store.close()
    code, out, _ = typed(shop, environ, "fleet", "workers")
    assert (code, out.startswith("server   online, 0 of 2 runs, asbuilt 1.0, ")) == (0, True)
    assert out.endswith(", gpu\n")
    (row,) = json.loads(typed(shop, environ, "fleet", "workers", "--json")[1])["workers"]
    assert (row["state"], row["slots"], row["labels"]) == ("online", 2, ["gpu"])


def test_a_fleet_is_joined_only_on_postgres_and_with_words_as_labels(
    shop: Path, environ: dict[str, str]
) -> None:
    state = shop.parent / "state"
    environ["ASBUILT_HOME"] = str(state)
    for arguments in (("sqlite:///x",), ("postgresql://nobody@127.0.0.1:1/none", "--label", "a b")):
        assert typed(shop, environ, "fleet", "join", *arguments)[0] == 2
    assert labels_of(Home(state)) is None


PLAN = """\
---
worker: [gpu, "repo:shop"]
---
# Greet

## Phase 1 — Greet
### Work Items
- [ ] `greet.py` says hello
### Verification
- `grep -q hello greet.py`
"""


@pytest.fixture
def team(shop: Path, environ: dict[str, str], where: str) -> Iterator[Path]:
    """A clone with a plan and a remote that is reached, on a database; a worker that was started ends."""
    state, forge = shop.parent / "state", shop.parent / "forge"
    environ |= {
        "ASBUILT_HOME": str(state), "ASBUILT_STORE_URL": where, "ASBUILT_AGENTS_IMPLEMENT": "scripted",
        "ASBUILT_SANDBOX_REQUIRED": "false", "GIT_SSH_COMMAND": str(shop.parent / "ssh"),
    }  # fmt: skip
    forge.mkdir()
    (shop.parent / "ssh").write_text(SSH.format(folder=forge), encoding="utf-8")
    (shop.parent / "ssh").chmod(0o700)
    (shop.parent / "script.toml").write_text('[[turn]]\nacts = [{ say = "x" }]\n', encoding="utf-8")
    (shop / "plans").mkdir()
    (shop / "plans" / "greet.md").write_text(PLAN, encoding="utf-8")
    for words in (
        "config user.name Ada", "config user.email ada@example.com", "add .", "commit -qm start",
        f"clone -q --bare . {forge}/shop.git", "remote add origin ssh://git@forge.test/shop.git",
    ):  # fmt: skip
        subprocess.run(["git", *words.split()], cwd=shop, check=True, env=environ)  # noqa: S607
    yield shop
    pid = holder(state / "worker.lock")
    if pid:
        os.kill(pid, signal.SIGKILL)


def _row(shop: Path, environ: dict[str, str]) -> tuple[str, str]:
    """Return the state of the fleet and the doctor's words about it."""
    rows = json.loads(typed(shop, environ, "doctor", "--json")[1])["rows"]
    (row,) = [one for one in rows if one["name"] == "fleet"]
    return row["state"], row["said"]


@on_postgres
def test_a_plan_asks_for_labels_of_workers_and_a_label_that_is_none_is_refused(
    team: Path, environ: dict[str, str], where: str
) -> None:
    script = str(team.parent / "script.toml")
    code, _, err = typed(team, environ, "run", "greet", "--detach", "--script", script)
    assert (code, "No worker of the fleet is online; the run waits for one." in err) == (0, True), err
    store = open_store(where)
    with store.read() as session:
        assert [one.place for one in fleet.waiting(session, "local")] == ["fleet gpu repo:shop"]
    store.close()
    assert (
        "1 run waits for a worker; they need gpu, repo:shop." in typed(team, environ, "fleet", "workers")[1]
    )
    assert typed(team, environ, "stop", "greet")[0] == 0
    (team / "plans" / "greet.md").write_text(PLAN.replace("gpu", "a b"), encoding="utf-8")
    code, _, err = typed(team, environ, "run", "greet", "--detach", "--script", script)
    assert (code, "'a b' cannot be a label" in err) == (2, True), err


@on_postgres
def test_a_repository_without_a_remote_stays_on_its_machine_and_the_command_says_so(
    team: Path, environ: dict[str, str]
) -> None:
    subprocess.run(["git", "remote", "remove", "origin"], cwd=team, check=True, env=environ)  # noqa: S607
    script = str(team.parent / "script.toml")
    code, _, err = typed(team, environ, "run", "greet", "--detach", "--script", script)
    assert (code, "the run stays on this machine" in err) == (0, True), err
    assert _row(team, environ) == (
        "note",
        (
            "no remote that other machines reach: runs stay on this machine;"
            " this machine takes no runs of the fleet"
        ),
    )


@on_postgres
def test_the_doctor_is_not_satisfied_before_the_remote_and_the_shared_place_answer(
    team: Path, environ: dict[str, str]
) -> None:
    assert _row(team, environ) == (
        "good",
        (
            "forge.test/shop answers; this machine takes no runs of the fleet;"
            " outputs above 256 kB are in the database"
        ),
    )
    environ["ASBUILT_STORE_BLOBS"] = str(team.parent / "not-mounted")
    state, said = _row(team, environ)
    assert (state, "cannot be used: it is not a folder that you can write to" in said) == ("problem", True)
    code, _, err = typed(team, environ, "fleet", "join", environ["ASBUILT_STORE_URL"])
    assert (code != 0, "cannot be used" in err, labels_of(Home(team.parent / "state"))) == (True, True, None)
    (team.parent / "not-mounted").mkdir()
    assert _row(team, environ)[0] == "good"
    environ["ASBUILT_FLEET_ATTEMPTS"] = "ssh://git@forge.test/none.git"
    assert _row(team, environ)[0] == "problem"
    del environ["ASBUILT_FLEET_ATTEMPTS"]
    (team.parent / "forge" / "down").touch()
    state, said = _row(team, environ)
    assert (state, "cannot be reached by git" in said) == ("problem", True)


def test_an_address_with_a_password_is_read_from_the_input_and_never_shown(
    shop: Path, environ: dict[str, str]
) -> None:
    address = "postgresql://ada:a-password@db.example.com/asbuilt"
    given = subprocess.run(
        [sys.executable, "-m", "asbuilt", "config", "set", "store.url", "-", "--user"],
        cwd=shop, env=environ, input=f"{address}\n", text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert given.stdout.startswith("store.url is now postgresql://ada:[secret]@db.example.com/asbuilt in ")
    shown = typed(shop, environ, "config", "show", "store.url")[1] + typed(shop, environ, "config", "show")[1]
    assert ("a-password" in given.stdout + given.stderr + shown, "[secret]" in shown) == (False, True)
    (file,) = (shop.parent / "home").rglob("config.toml")
    assert (address in file.read_text("utf-8"), stat.S_IMODE(file.stat().st_mode)) == (True, 0o600)
