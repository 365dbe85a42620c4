"""Curve F: keeping an attempt and landing in a repository that has many refs."""

from __future__ import annotations

import os
import resource
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.git.shop import RUN, make_shop

from asbuilt.git.landing.land import land
from measures.curve import Curve, Point

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.git.shop import Shop

_TURNS: Final = 5


def many_refs(numbers: Sequence[int]) -> Curve:
    """Measure the processor time of the gits that keep and land, with so many attempts kept before."""
    points = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"HOME": folder, "GIT_CONFIG_NOSYSTEM": "1"}
        shop = make_shop(Path(folder))
        workspace = shop.workspace()
        for number in numbers:
            _pack(shop, number)
            keep, move = [], []
            for turn in range(_TURNS):
                (workspace.path / "README.md").write_text(f"{number} {turn}\n", encoding="ascii")
                attempt = f"{RUN}.{number}.{turn}"
                keep.append(_cpu_ms(lambda: shop.keep(workspace, attempt)))  # noqa: B023 - called at once
                intent = shop.intent(shop.phase("1", {"a.txt": f"{number} {turn}\n"}))
                move.append(_cpu_ms(lambda: land(shop.repository, intent, shop.room)))  # noqa: B023
            points.append(Point(number, {"keep ms": min(keep), "land ms": min(move)}))
    accepted = {"keep ms": 2.0, "land ms": 2.0}
    return Curve("F", "Refs of kept attempts", "refs", points, accepted, up_to=10_000)


def _pack(shop: Shop, number: int) -> None:
    tip = shop.tip()
    names = (f"refs/asbuilt/attempts/0{one:07}.1.1" for one in range(number))
    lines = [f"{tip} refs/heads/main", *(f"{tip} {name}" for name in names)]
    head = "# pack-refs with: peeled fully-peeled sorted \n"
    packed = head + "".join(f"{line}\n" for line in sorted(lines, key=lambda line: line.split()[1]))
    (shop.root / ".git/packed-refs").write_text(packed, encoding="ascii")


def _cpu_ms(act: Callable[[], object]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    act()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3
