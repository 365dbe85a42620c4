from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.journeys.shop import LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.faults.plant import Plant

pytestmark = pytest.mark.crash


@pytest.fixture
def editor(plant: Plant) -> Iterator[Callable[[], object]]:
    """Let a git of the person's hold the checkout while it waits for their words; gives what ends it."""
    plant.write("mine.txt", "mine, staged")
    plant.git("add", "mine.txt")
    words = plant.home.parent / "words"
    waits = f"while [ ! -e {words} ]; do sleep 0.1; done; false"
    living = subprocess.Popen(
        ["git", "commit", "-a"],  # noqa: S607
        cwd=plant.checkout,
        env={**plant.environ, "GIT_EDITOR": f"sh -c '{waits}'"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def end() -> int:
        words.touch()
        return living.wait()

    yield end
    end()


def _lock(plant: Plant) -> Path:
    return plant.checkout / ".git" / "index.lock"


def _waits_at_the_lock(plant: Plant) -> str:
    plant.lands("greet.py", "plan.md")
    run = plant.request(mode="phase")
    plant.start()
    plant.until(lambda: plant.run(run).state == "waiting")
    said = plant.typed("status", "plan").words
    assert "another git is at work" in said, said
    assert "remove the lock if none runs; asbuilt tries again automatically" in said, said
    assert _lock(plant).exists()
    assert plant.log() == ["start"]
    return run


@pytest.mark.parametrize("owner", ["dead", "living"] if LONG else ["dead"])
def test_a_lock_of_another_git_is_never_removed_and_the_run_lands_by_itself_once_it_is_gone(
    plant: Plant, owner: str, request: pytest.FixtureRequest
) -> None:
    if owner == "living":
        let_go = request.getfixturevalue("editor")
        plant.until(_lock(plant).exists)
    else:
        let_go = _lock(plant).unlink
        _lock(plant).write_bytes(b"left by a git that died")
    held = _lock(plant).read_bytes()
    run = _waits_at_the_lock(plant)
    assert _lock(plant).read_bytes() == held
    let_go()
    plant.before = None  # it was recorded with the lock
    plant.landed(run)
