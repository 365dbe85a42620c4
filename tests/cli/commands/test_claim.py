"""The exit codes of `asbuilt claim` are a contract, also where the store does not answer."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.cli.plans import RATE_LIMIT, put
from tests.cli.test_agents import typed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "command", [("acquire", "--owner", "me"), ("release", "--owner", "me"), ("break", "--reason", "gone")]
)
def test_a_claim_on_a_store_that_fails_ends_with_11(
    shop: Path, environ: dict[str, str], command: tuple[str, ...]
) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    name, *options = command
    away = {**environ, "ASBUILT_STORE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    code, out, err = typed(shop, away, "claim", name, "rate-limit", *options)
    assert (code, out, err.splitlines()[0].partition(":")[0]) == (11, "", "error")


def test_the_issues_that_plans_have_are_listed_with_them(shop: Path, environ: dict[str, str]) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    environ["ASBUILT_HOME"] = str(shop.parent / "state")
    assert typed(shop, environ, "claim", "acquire", "rate-limit", "--owner", "me")[0] == 0
    with closing(sqlite3.connect(shop.parent / "state" / "journal.db")) as journal, journal:
        (repo,) = journal.execute("SELECT repo FROM claims").fetchone()
        row = ("local", repo, 7, "plans/rate-limit.md", "2026-01-02T03:04:05.000Z")
        journal.execute("INSERT INTO issue_claims VALUES (?, ?, ?, ?, ?)", row)
    code, out, _ = typed(shop, environ, "claim", "list", "--json")
    assert code == 0
    assert json.loads(out)["issues"] == [
        {"number": 7, "plan": "plans/rate-limit.md", "since": "2026-01-02T03:04:05Z"}
    ]
    assert "issue #7   plans/rate-limit.md, " in typed(shop, environ, "claim", "list")[1]


def test_a_claim_made_in_one_worktree_holds_in_every_other(shop: Path, environ: dict[str, str]) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    environ["ASBUILT_HOME"] = str(shop.parent / "state")
    person = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    for arguments in (("add", "."), (*person, "commit", "-qm", "x"), ("worktree", "add", "-q", "../other")):
        subprocess.run(["git", *arguments], cwd=shop, check=True, env=environ)  # noqa: S607
    other = shop.parent / "other"
    assert typed(shop, environ, "claim", "acquire", "rate-limit", "--owner", "me")[0] == 0
    assert typed(other, environ, "claim", "acquire", "rate-limit", "--owner", "you")[0] == 10
    assert typed(other, environ, "claim", "release", "rate-limit", "--owner", "me")[0] == 0
    assert json.loads(typed(shop, environ, "claim", "list", "--json")[1])["claims"] == []
