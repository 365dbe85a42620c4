"""`asbuilt fleet`, as a user types it: on one machine it refuses, on a database it shows and sets."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import psycopg
import pytest

from asbuilt.flows.fleet.membership import labels_of, secrets
from asbuilt.journal.engine import fleet, workers
from asbuilt.journal.home import Home
from tests.cli.test_agents import typed
from tests.journal.conftest import open_store, postgres, where

if TYPE_CHECKING:
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
