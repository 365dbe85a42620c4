"""Which cases of a matrix run where time is short: a few of each, never none.

Many tests are repeated on both databases, with two versions of a program, and with a kill at each of several
points. A slice has one case of a test that is only repeated, and up to three of one that is killed: on
different databases, at different points. `--whole` runs every case.

For CI, `--turn N` takes every other journey that shows a required behaviour, a sixth of the others, and every
other real project: six commits in a row have all.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    import pytest

REPEATED: Final = ("where", "which")
"""Parameters whose values are the same behaviour on other parts."""
STRUCK: Final = ("point", "victim", "name", "at", "later", "engine", "text", "seed", "fsync")
"""Parameters of tests that kill something or put it back in time."""
_ENOUGH: Final = (1, 4, 16)
"""With so many cases of such a test, one more runs."""


def sliced(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Choose the cases that run, the same ones in each run."""
    matrices: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        matrices[_matrix(item)].append(item)
    return [item for cases in matrices.values() for item in _some(cases)]


def in_turn(items: Iterable[pytest.Item], turn: int, required: Container[str]) -> list[pytest.Item]:
    """Choose every other test of a required behaviour, and every sixth one of the others."""
    return [item for item in items if _is_due(_test(item), turn, 2 if _test(item) in required else 6)]


def _is_due(test: str, turn: int, turns: int) -> bool:
    return crc32(test.encode()) % turns == turn % turns


def every_other(items: Iterable[pytest.Item], turn: int) -> list[pytest.Item]:
    """Choose every other item, those at even places or those at odd ones."""
    return [item for place, item in enumerate(items) if place % 2 == turn % 2]


def _test(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _matrix(item: pytest.Item) -> tuple[str, str]:
    """Name the test, with the values of what is no repetition."""
    others = {name: value for name, value in _values(item).items() if name not in (*REPEATED, *STRUCK)}
    return _test(item), repr(sorted(others.items()))


def _some(cases: list[pytest.Item]) -> list[pytest.Item]:
    is_struck = any(name in STRUCK for name in _values(cases[0]))
    wanted = sum(len(cases) >= least for least in _ENOUGH) if is_struck else 1
    kept: list[pytest.Item] = []
    left = sorted(cases, key=lambda item: crc32(item.nodeid.encode()))
    while len(kept) < wanted:
        left.sort(key=lambda one: _alike(one, kept))
        kept.append(left.pop(0))
    return kept


def _alike(one: pytest.Item, kept: list[pytest.Item]) -> int:
    """Count the values that a case has in common with those that are chosen."""
    mine = _values(one)
    return sum(mine.get(name) == value for other in kept for name, value in _values(other).items())


def _values(item: pytest.Item) -> Mapping[str, object]:
    callspec = getattr(item, "callspec", None)
    return {} if callspec is None else {name: repr(value) for name, value in callspec.params.items()}
