"""A lock of a dead git of ours goes, whoever finds it; one that might be in use stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.git.locks import guarded, heal_left, recorded

if TYPE_CHECKING:
    from tests.git.shop import Shop


def test_locks_that_were_written_down_go_unless_somebody_is_at_work(shop: Shop) -> None:
    common = shop.repository.common
    heal_left(shop.repository)
    (common / "asbuilt-locks").write_bytes(b"packed-refs.lock\0")
    for name in ("packed-refs.lock", "config.lock"):
        (common / name).touch()
    with guarded(common):
        heal_left(shop.repository)
        assert (common / "packed-refs.lock").exists()
    heal_left(shop.repository)
    assert sorted(path.name for path in common.glob("*lock*")) == ["config.lock"]


def test_a_git_that_lives_on_takes_along_the_locks_of_one_that_it_started_and_lost(shop: Shop) -> None:
    common = shop.repository.common
    with guarded(common), recorded(shop.repository, "refs/heads/main.lock", "HEAD.lock"):
        for name in ("refs/heads/main.lock", "HEAD.lock", "config.lock"):
            (common / name).touch()
    assert sorted(path.name for path in common.rglob("*lock*")) == ["config.lock"]
