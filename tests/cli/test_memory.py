"""`asbuilt memory`, as somebody types it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.memory import KEPT, remember
from asbuilt.lifecycle.memory import LONGEST, Kind, lesson
from tests.cli.test_agents import asked, typed

if TYPE_CHECKING:
    from pathlib import Path

REDIS, THREADS = "Redis 6 is what we run", "no threads here"


def _told(shop: Path, environ: dict[str, str]) -> None:
    typed(shop, environ, "memory", "add", REDIS)
    typed(shop, environ, "memory", "add", THREADS, "--file", "src/worker.py", "--kind", "session-note")


def test_looking_at_nothing_makes_nothing(shop: Path, environ: dict[str, str]) -> None:
    before = sorted(shop.parent.rglob("*"))
    assert typed(shop, environ, "memory", "list") == (0, "No memories of this repository.\n", "")
    assert asked(shop, environ, "memory", "search", "redis") == {
        "schema": "asbuilt.memories/1",
        "memories": [],
    }
    assert typed(shop, environ, "memory", "clear", "--yes") == (0, "No memories of this repository.\n", "")
    assert sorted(shop.parent.rglob("*")) == before


def test_what_is_told_is_listed_shown_and_found(shop: Path, environ: dict[str, str]) -> None:
    assert typed(shop, environ, "memory", "add", REDIS) == (0, "Added m1.\n", "")
    assert typed(shop, environ, "memory", "add", f" {REDIS} ") == (0, "m1 has this text already.\n", "")
    _told(shop, environ)
    assert typed(shop, environ, "memory", "list")[1].splitlines() == [
        "m2   session-note  no threads here",
        "m1   fact          Redis 6 is what we run",
    ]
    assert typed(shop, environ, "memory", "list", "--kind", "fact")[1].splitlines() == [
        "m1   fact          Redis 6 is what we run"
    ]
    one = asked(shop, environ, "memory", "show", "m2")
    assert (one["name"], one["kind"], one["text"], one["files"]) == (
        "m2",
        "session-note",
        THREADS,
        ["src/worker.py"],
    )
    shown = typed(shop, environ, "memory", "show", "2")[1].splitlines()
    assert shown[:3] == ["m2     no threads here", "kind   session-note", "files  src/worker.py"]
    found = asked(shop, environ, "memory", "search", "which", "redis", "is", "it")["memories"]
    assert [memory["name"] for memory in found] == ["m1"]
    beside = asked(shop, environ, "memory", "search", "--file", "src/other.py")["memories"]
    assert [memory["name"] for memory in beside] == ["m2"]


def test_what_is_named_is_forgotten_and_all_of_it_only_after_a_yes(
    shop: Path, environ: dict[str, str]
) -> None:
    _told(shop, environ)
    code, said, complained = typed(shop, environ, "memory", "clear")
    assert (code, said) == (2, "")
    assert "deleting 2 memories needs a yes" in complained
    assert typed(shop, environ, "memory", "clear", "m2") == (0, "Deleted 1 memory.\n", "")
    assert asked(shop, environ, "memory", "clear", "--yes") == {
        "schema": "asbuilt.memories/1",
        "forgotten": ["m1"],
    }
    assert asked(shop, environ, "memory", "list")["memories"] == []


def test_no_fact_makes_room_for_another(shop: Path, environ: dict[str, str]) -> None:
    _fill(shop, environ)
    code, _, complained = typed(shop, environ, "memory", "add", "one more")
    told = " ".join(complained.split())
    assert (code, f"{KEPT} facts are stored here, and that is the limit" in told) == (2, True)
    assert len(asked(shop, environ, "memory", "list")["memories"]) == KEPT


def _fill(shop: Path, environ: dict[str, str]) -> None:
    """Fill memory up with facts, without a hundred commands."""
    typed(shop, environ, "memory", "add", REDIS)
    (journal,) = shop.parent.rglob("journal.db")
    store = SqliteStore(journal)
    with store.write() as session:
        (row,) = session.rows("SELECT org, repo FROM memories")
        facts = [lesson(Kind.FACT, f"fact {number}") for number in range(KEPT - 1)]
        remember(session, row["org"], row["repo"], facts, actor="ada")
    store.close()


def test_what_is_too_long_is_not_remembered(shop: Path, environ: dict[str, str]) -> None:
    code, _, complained = typed(shop, environ, "memory", "add", "x" * (LONGEST + 1))
    assert (code, f"this one has {LONGEST + 1}" in complained) == (2, True)
