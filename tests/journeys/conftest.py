"""A shop for every journey, on both databases; when it closes, the person's checkout is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journal.conftest import postgres, where
from tests.journeys.shop import Shop

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["postgres", "where"]


@pytest.fixture
def shop(tmp_path: Path, where: str) -> Iterator[Shop]:
    made = Shop(tmp_path, where)
    yield made
    made.close()
    made.compare()
