"""A shop whose remote `origin` is on the stub of GitHub, and a home that is not the developer's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.forge.server import Stub, serving
from tests.git.shop import Shop, make_shop

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    for name in ("XDG_CONFIG_HOME", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "SSH_AUTH_SOCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return make_shop(tmp_path)


@pytest.fixture
def stub(tmp_path: Path, shop: Shop) -> Iterator[Stub]:
    with serving(tmp_path / "hub") as served:
        served.sign_git_in(shop.home)
        shop.git("remote", "add", "origin", served.url)
        shop.git("push", "-q", str(served.hub.git_dir), "main")
        yield served
