"""What is remembered, on each database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from asbuilt.journal import memory
from asbuilt.lifecycle.memory import Kind, Memory, lesson
from tests.journal.conftest import PLAN

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Store

ORG, REPO = PLAN.org, PLAN.repo


def _remember(store: Store, *texts: str, kind: Kind = Kind.LESSON, repo: str = REPO) -> list[str]:
    with store.write() as session:
        told = [lesson(kind, text, plan=PLAN.plan) for text in texts]
        return [one.text for one in memory.remember(session, ORG, repo, told, actor="ada")]


def _texts(store: Store, kind: Kind | None = None) -> list[str]:
    with store.read() as session:
        return [one.text for one in memory.every(session, ORG, REPO, kind=kind)]


def test_what_is_remembered_is_found_again_whole(store: Store) -> None:
    with store.write() as session:
        told = lesson(Kind.FACT, "Redis 6, see deploy/redis.yml", plan=PLAN.plan)
        (kept,) = memory.remember(session, ORG, REPO, [told], actor="ada")
        now = session.now
    assert kept == Memory(
        1, "fact", "Redis 6, see deploy/redis.yml", ("deploy/redis.yml",), PLAN.plan, now, "ada"
    )
    with store.read() as session:
        assert memory.named(session, ORG, REPO, 1) == kept
        assert memory.every(session, ORG, REPO) == [kept]
        assert memory.every(session, ORG, "another") == []
        assert memory.named(session, ORG, REPO, 2) is None


def test_what_is_said_again_is_kept_once(store: Store) -> None:
    assert _remember(store, "b", "a", "b") == ["b", "a"]
    assert _remember(store, "a") == []
    assert _remember(store, "a", repo="another") == ["a"]
    assert _texts(store) == ["a", "b"]


def test_the_oldest_lesson_goes_and_no_fact_does(store: Store) -> None:
    facts = [f"fact {number}" for number in range(memory.KEPT + 5)]
    for text in facts:
        _remember(store, text, kind=Kind.FACT)
    for number in range(memory.KEPT + 5):
        _remember(store, f"lesson {number}")
    assert _texts(store, Kind.FACT) == facts[memory.KEPT - 1 :: -1]
    assert _texts(store, Kind.LESSON) == [f"lesson {number}" for number in range(memory.KEPT + 4, 4, -1)]


def test_what_is_forgotten_is_gone(store: Store) -> None:
    for text in ("a", "b", "c"):
        _remember(store, text)
    with store.write() as session:
        assert memory.forget(session, ORG, REPO, [1, 3, 9]) == 2
        assert memory.forget(session, ORG, "another", [2]) == 0
    assert _texts(store) == ["b"]


def test_many_who_remember_at_once_lose_nothing(store: Store) -> None:
    def learn(worker: int) -> None:
        for number in range(5):
            _remember(store, "all know this", f"{worker} knows {number}")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(learn, range(6)))
    assert sorted(_texts(store)) == sorted(
        ["all know this", *(f"{worker} knows {number}" for worker in range(6) for number in range(5))]
    )
