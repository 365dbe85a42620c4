from __future__ import annotations

import os
from typing import TYPE_CHECKING

from asbuilt.git.fleet import evict, open_mirror

if TYPE_CHECKING:
    from pathlib import Path


def test_mirrors_that_were_not_used_for_the_longest_time_are_deleted_until_the_rest_fits(
    tmp_path: Path,
) -> None:
    for at, name in enumerate(("old", "busy", "middle", "new")):
        mirror = open_mirror(tmp_path, name, f"https://host/{name}")
        (mirror.root / "objects" / "large").write_bytes(b"x" * 100_000)
        os.utime(mirror.root / "asbuilt-used", (at, at))
    (tmp_path / "busy.git" / "worktrees" / "main").mkdir(parents=True)
    assert evict(tmp_path, budget=250_000) == ["old", "middle"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["busy.git", "new.git"]
    assert evict(tmp_path / "none", budget=0) == []


def test_a_mirror_is_bare_and_knows_its_remote(tmp_path: Path) -> None:
    mirror = open_mirror(tmp_path, "shop", "https://host/shop")
    assert mirror.root == mirror.common == open_mirror(tmp_path, "shop", "https://host/shop").root
    assert mirror.git.line("config", "--local", "remote.origin.url") == "https://host/shop"
