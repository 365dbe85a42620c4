"""Every test here has a real repository, and a home that is not the developer's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.git.shop import Shop, make_shop

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    for name in ("XDG_CONFIG_HOME", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "SSH_AUTH_SOCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return make_shop(tmp_path)
