"""A conversation for every test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hook.calling import Conversation

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    return Conversation(tmp_path.resolve())
