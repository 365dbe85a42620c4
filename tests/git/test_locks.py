"""A lock of a dead git of ours goes, whoever finds it; one that might be in use stays."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from asbuilt.git.locks import guarded, heal_left, recorded, set_ref

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

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


def test_a_ref_that_was_set_at_the_second_try_is_set(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = tmp_path / "tried"
    real = shutil.which("git")
    script = f'#!/bin/sh\ncase "$*" in *update-ref*) [ -e {tried} ] || {{ touch {tried}; exit 1; }};; esac\n'
    (tmp_path / "git").write_text(f'{script}exec {real} "$@"\n', encoding="utf-8")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert set_ref(shop.repository, "refs/heads/other", new=shop.tip(), old=None)
    assert tried.exists()
    assert shop.git("rev-parse", "other") == shop.tip()
