"""Git is called with bounds, and what it says when it fails reaches a person."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from asbuilt.errors import GitFailed

if TYPE_CHECKING:
    from tests.git.shop import Shop


def test_a_failure_carries_what_git_said(shop: Shop) -> None:
    with pytest.raises(GitFailed) as failed:
        shop.repository.git.run("cat-file", "blob", "0" * 40)
    assert (failed.value.what, failed.value.why, failed.value.next_step) == (
        "git cat-file failed (exit 128)",
        f"git said: fatal: git cat-file {'0' * 40}: bad file",
        "`git status` shows whether git works there; nothing was lost.",
    )


def test_what_git_says_is_bounded(shop: Shop) -> None:
    shop.git("config", "alias.talk", "!yes >&2 & sleep 0.2; kill $!; exit 3")
    with pytest.raises(GitFailed) as failed:
        shop.repository.git.run("talk")
    assert len(failed.value.why) < 3_000
    shop.git("config", "alias.flood", "!yes")
    with pytest.raises(GitFailed, match="git flood was ended by us"):
        replace(shop.repository.git, output_cap=1_000_000).run("flood")


def test_a_git_that_hangs_is_ended(shop: Shop) -> None:
    shop.git("config", "alias.hang", "!exec sleep 20")
    shop.git("config", "alias.close", "!exec >&-; exec sleep 20")
    started = time.monotonic()
    for name in ("hang", "close"):
        with pytest.raises(GitFailed) as failed:
            replace(shop.repository.git, timeout_s=0.5).run(name)
        assert (failed.value.what, failed.value.why) == (
            f"git {name} was ended by us",
            "It did not end within 0.5 seconds.",
        )
    assert time.monotonic() - started < 15


def test_any_amount_goes_in_and_comes_out(shop: Shop) -> None:
    data = bytes(range(256)) * 40_000
    name = shop.repository.git.line("hash-object", "-w", "--stdin", stdin=data)
    assert shop.repository.git.run("cat-file", "blob", name).out == data
