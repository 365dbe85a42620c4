"""A plant for every fault; when it closes, nothing of it is broken and the person's checkout is as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.plant import Plant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def plant(tmp_path: Path) -> Iterator[Plant]:
    made = Plant(tmp_path)
    yield made
    made.close()
    made.compare()
