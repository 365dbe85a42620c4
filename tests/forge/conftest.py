"""A shop and an office whose remote `origin` is on the stub of GitHub; a home that is not the developer's."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.forge.server import Stub, serving
from tests.git.shop import Shop, make_shop
from tests.journeys.test_commands import Office

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.forge.hub import Hub


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


@pytest.fixture
def at_the_forge(tmp_path: Path) -> Iterator[tuple[Office, Hub]]:
    """A person's repository and home, where `github:lead` approves plans."""
    with serving(tmp_path / "hub") as stub:
        office = Office(tmp_path)
        stub.sign_git_in(tmp_path / "home")
        office.environ |= stub.environment(tmp_path / "gh-settings")
        office.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        settings = tmp_path / "home" / ".config" / "asbuilt" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text('[approvals]\nplan = ["github:lead"]\n')
        office.git("remote", "add", "origin", stub.url)
        office.git("push", "-q", str(stub.hub.git_dir), "main")
        yield office, stub.hub
        office.close()
