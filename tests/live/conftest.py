"""A scripted model, rooms for agents, and the user's HOME watched over all of it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.live.home import untouched
from tests.live.starting import NODE
from tests.model import Model, serving

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def _home_is_untouched() -> Iterator[None]:
    """Watch the user's HOME from the first agent to the last."""
    with untouched(Path.home()):
        yield


@pytest.fixture
def model() -> Iterator[Model]:
    with serving() as made:
        yield made


@pytest.fixture
def room(_home_is_untouched: None) -> Iterator[Path]:
    """Make a folder that is not below /tmp, and leave nothing of it."""
    rooms = NODE.folder.parent / "rooms"
    rooms.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=rooms))
    yield made
    shutil.rmtree(made, ignore_errors=True)
