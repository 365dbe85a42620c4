from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.authoring.desk import Desk
from tests.journal.conftest import postgres, where

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["postgres", "where"]


@pytest.fixture
def desk(tmp_path: Path, where: str) -> Iterator[Desk]:
    made = Desk(tmp_path, where)
    try:
        yield made
        made.compare()
    finally:
        made.close()
