from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from asbuilt.git.commits import PHASE, RUN
from tests.git.shop import environment, make_shop
from tests.races.arena import ROUNDS, again, held, race

if TYPE_CHECKING:
    from pathlib import Path

    from tests.git.shop import Shop

pytestmark = pytest.mark.crash
LANDINGS = ROUNDS if ROUNDS > 100 else ROUNDS // 4
"""A landing takes some twenty gits, so CI has fewer of them."""


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return make_shop(tmp_path)


def _prove(shop: Shop, names: list[str]) -> None:
    """Put a proven commit for each name under a ref, all at once and all on the first commit."""
    first = shop.tip()
    script = []
    for name in names:
        message = f"Phase {name}\n\n{RUN}: 01r{name}\n{PHASE}: 1\n"
        script += [
            f"commit refs/proven/{name}", "committer Ada <ada@example.com> 1767322000 +0000",
            f"data {len(message)}", message, f"from {first}",
            f"M 100644 inline {name}.py", f"data {len(name)}", name, "",
        ]  # fmt: skip
    subprocess.run(
        ["git", "fast-import", "--quiet"],  # noqa: S607
        cwd=shop.root,
        env=environment(shop.home),
        input="\n".join(script).encode(),
        check=True,
    )


def _landed(shop: Shop) -> list[str]:
    """List the runs whose phase is on main, the newest first."""
    trailer = f"%(trailers:key={RUN},valueonly,separator=)"
    return [run for run in shop.git("log", f"--format={trailer}", "main").splitlines() if run]


def _at_rest(shop: Shop) -> None:
    assert shop.git("status", "--porcelain") == " M README.md"
    assert [*shop.root.joinpath(".git").rglob("*.lock")] == []
    assert shop.fsck() == ""


def test_two_runs_land_on_one_branch_one_after_the_other(shop: Shop, tmp_path: Path) -> None:
    names = [f"{number}{who}" for number in range(LANDINGS) for who in "ab"]
    _prove(shop, names)
    shop.write("README.md", "dirty\n")
    for one in race("landing", str(tmp_path), str(shop.root), rounds=LANDINGS):
        for said in one.said:
            assert [kind for kind, _ in said["told"]] == ["landing.intended", "landing.done"], again()
            assert len(said["built"]) == 1, again()
    landed = _landed(shop)
    assert sorted(landed) == sorted(f"01r{name}" for name in names), again()
    # Rounds come one after the other; within a round either may be first.
    assert [{*landed[at : at + 2]} for at in range(0, len(landed), 2)] == [
        {f"01r{number}a", f"01r{number}b"} for number in reversed(range(LANDINGS))
    ], again()
    _at_rest(shop)
    held("two landings", "-", LANDINGS)


def test_one_run_landed_by_two_processes_lands_once(shop: Shop, tmp_path: Path) -> None:
    names = [f"{number}a" for number in range(LANDINGS)]
    _prove(shop, names)
    shop.write("README.md", "dirty\n")
    for one in race("same-landing", str(tmp_path), str(shop.root), rounds=LANDINGS):
        first, second = sorted((said["told"] for said in one.said), key=len, reverse=True)
        assert [kind for kind, _ in first] == ["landing.intended", "landing.done"], again()
        assert second == first[1:], again()
    assert _landed(shop) == [f"01r{name}" for name in reversed(names)], again()
    _at_rest(shop)
    held("one landing", "-", LANDINGS)
