"""A journal that tests of what commands show write their stories into."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.nights import Night

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def quiet(tmp_path: Path, shop: Path) -> Iterator[Night]:
    """A journal with nothing in it yet, and a worker."""
    night = Night(tmp_path, shop)
    night.wake()
    yield night
    night.close()
