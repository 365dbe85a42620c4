from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journal.conftest import postgres, where
from tests.tasks.bench import Bench

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["postgres", "where"]


@pytest.fixture
def bench(tmp_path: Path, where: str) -> Iterator[Bench]:
    made = Bench(tmp_path, where)
    try:
        yield made
        made.compare()
    finally:
        made.close()
