"""Programs that a repository's own git settings name: none starts before the user has agreed to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.errors import GitFailed
from asbuilt.git.commits import author_of, commit_files, commit_tree, signs
from asbuilt.git.forge.branches import Remote
from asbuilt.git.forge.github import open_forge
from asbuilt.git.landing.candidates import pick
from asbuilt.git.landing.land import Landed, NotMoved, Refused, land, recover
from asbuilt.git.landing.uncommitted_work import between, lines_at_stake, overlapping
from asbuilt.git.refs import patch
from asbuilt.git.repository import checkouts, conflicts, open_repository, path_state
from asbuilt.git.workspace.checkouts import clean_checkout
from asbuilt.git.workspace.unsandboxed_reach import reach, under_way
from asbuilt.git.workspace.workspaces import leftovers, remove, reset_to
from tests.git.planted import KEYS, WITH_MARK, plant, started
from tests.git.shop import ADA, RUN, Shop, user_state

if TYPE_CHECKING:
    from pathlib import Path

ATTRIBUTES = "*.py filter=x diff=x merge=x\n*.md filter=y\n"
HARMLESS = [
    ("filter.lfs.clean", "git-lfs clean -- %f"),
    ("filter.lfs.smudge", "git-lfs smudge -- %f"),
    ("filter.lfs.smudge", "git-lfs smudge --skip -- %f"),
    ("filter.lfs.process", "git-lfs filter-process"),
    ("filter.lfs.process", "git-lfs filter-process --skip"),
    ("core.fsmonitor", "true"),
    ("credential.helper", "cache --timeout=3600"),
    ("credential.helper", "osxkeychain"),
    ("gpg.program", "gpg2"),
    ("merge.ours.driver", "true"),
    ("alias.st", "status"),
    ("submodule.s.update", "rebase"),
    ("remote.origin.url", "https://github.com/a/b"),
    ("url.https://github.com/.insteadof", "gh:"),
]


def _set(shop: Shop, key: str, value: str) -> None:
    shop.git("config", "--local", key, value)


def _agreed(shop: Shop) -> list[str]:
    return [shop.repository.programs.digest]


def test_whatever_asbuilt_does_in_a_repository_starts_none(shop: Shop, tmp_path: Path) -> None:
    tip = shop.commit("attributes", {".gitattributes": ATTRIBUTES, "note.txt": "quiet\n"})
    proven = shop.phase("1", {"note.txt": "louder\n"})
    _set(shop, "remote.origin.url", "https://github.com/a/b")
    trace = plant(shop.root / ".git", tmp_path / "programs")
    repository = shop.repository
    workspace = shop.workspace(commit=tip)
    shop.write("src/app.py", "changed\n", at=workspace.path)
    kept = shop.keep(workspace, parent=tip)
    clean_checkout(repository, kept.tree, shop.room / "clean")
    reset_to(repository, workspace, kept.commit, kept=kept)
    leftovers(repository, shop.workspaces)
    reach(repository, workspace, RUN)
    remove(repository, workspace)
    # Git looks into files that may have changed, and then through their filters.
    shop.write("src/app.py", "mine\n")
    shop.write("README.md", "mine\n")
    (checkout,) = checkouts(repository)
    overlapping(checkout, between(repository, tip, kept.commit), tip)
    lines_at_stake(checkout, "src/app.py", tip)
    under_way(repository)
    conflicts(checkout)
    path_state(checkout, "src/app.py")
    patch(repository, kept.commit)
    pick(repository, onto=tip, commits=[proven], run="another")
    open_forge(repository, {})
    author_of(repository)
    signs(repository)
    assert isinstance(land(repository, shop.unprepared(proven), shop.room), Landed)
    assert (shop.root / "note.txt").read_text() == "louder\n"
    commit_files(repository, ["src/app.py", "README.md"], subject="mine")
    assert started(trace) == []


def test_a_landing_that_was_cut_off_is_put_right_without_them(shop: Shop, tmp_path: Path) -> None:
    tip = shop.commit("attributes", {".gitattributes": ATTRIBUTES})
    new = shop.phase("1", {"src/app.py": "changed\n"})
    trace = plant(shop.root / ".git", tmp_path / "programs")
    (shop.root / ".git/asbuilt-landing").write_text(f"{tip} {new}\n")
    shop.write("src/app.py", "chang")
    settled = recover(shop.repository, shop.unprepared(new))
    assert isinstance(settled, NotMoved)
    assert settled.settled.restored == ("src/app.py",)
    assert (shop.root / "src/app.py").read_text() == "one\ntwo\nthree\n"
    assert started(trace) == []


@pytest.mark.parametrize("how", ["openpgp", "ssh", "x509"])
def test_a_signature_is_made_by_the_users_own_program(shop: Shop, tmp_path: Path, how: str) -> None:
    trace = plant(shop.root / ".git", tmp_path / "programs")
    shop.git("config", "--global", "gpg.format", how)
    tree = shop.repository.git.line("rev-parse", "HEAD^{tree}")
    for key in ("", "me"):
        shop.git("config", "--global", "user.signingKey", key)
        with pytest.raises(GitFailed):
            commit_tree(shop.repository, tree, parents=(), author=ADA, message=b"m\n", sign=True)
    assert started(trace) == []


def test_a_forge_is_asked_with_the_users_own_credential_helper_alone(shop: Shop, tmp_path: Path) -> None:
    trace = plant(shop.root / ".git", tmp_path / "programs")
    shop.git("config", "--global", "credential.https://github.com.helper", f"!echo mine >>{tmp_path}/users #")
    remote = Remote(repository=shop.repository, url="https://github.com/a/b", environment={})
    asked = b"protocol=https\nhost=github.com\n\n"
    assert remote._git().run("credential", "fill", stdin=asked, allowed=(128,)).out == b""  # noqa: SLF001
    assert (tmp_path / "users").read_text() == "mine\n"
    assert started(trace) == []


def test_a_landing_whose_files_need_a_filter_that_is_off_moves_nothing(shop: Shop, tmp_path: Path) -> None:
    shop.commit("attributes", {".gitattributes": ATTRIBUTES})
    new = shop.phase("1", {"src/app.py": "changed\n"})
    before = user_state(shop)
    trace = plant(shop.root / ".git", tmp_path / "programs")
    refused = land(shop.repository, shop.unprepared(new), shop.room)
    assert isinstance(refused, Refused)
    assert (refused.kind, refused.what) == (
        "programs",
        "Not landed: files that this plan changes go through filter.x, to which you have not agreed.",
    )
    assert f"asbuilt config set landing.programs +{shop.repository.programs.digest}" in refused.next_step
    assert started(trace) == []
    (shop.root / ".git/config").write_text("[core]\n\trepositoryformatversion = 0\n")
    assert user_state(shop) == before


def test_a_filter_that_was_agreed_to_serves_the_checkout(shop: Shop) -> None:
    shop.commit("attributes", {".gitattributes": "*.txt filter=loud\n"})
    new = shop.phase("1", {"note.txt": "quiet\n"})
    _set(shop, "filter.loud.smudge", "tr a-z A-Z")
    _set(shop, "filter.loud.clean", "tr A-Z a-z")
    repository = open_repository(shop.root, agreed=_agreed(shop))
    assert isinstance(land(repository, shop.unprepared(new), shop.room), Landed)
    assert (shop.root / "note.txt").read_text() == "QUIET\n"
    assert shop.git("status", "--porcelain") == ""


def test_a_filter_of_the_users_own_outranks_the_repositorys(shop: Shop, tmp_path: Path) -> None:
    shop.commit("attributes", {".gitattributes": "*.txt filter=x\n"})
    new = shop.phase("1", {"note.txt": "quiet\n"})
    _set(shop, "filter.x.smudge", f"touch {tmp_path}/started; cat")
    shop.git("config", "--global", "filter.x.smudge", "tr a-z A-Z")
    assert shop.repository.programs.off == (("filter.x.smudge", "tr a-z A-Z"),)
    assert isinstance(land(shop.repository, shop.unprepared(new), shop.room), Landed)
    assert (shop.root / "note.txt").read_text() == "QUIET\n"
    assert not (tmp_path / "started").exists()


def test_an_ssh_command_of_the_repository_counts_once_it_is_agreed_to(shop: Shop) -> None:
    _set(shop, "core.sshCommand", "ssh -i key")

    def ssh(*agreed: str) -> str:
        repository = open_repository(shop.root, agreed=agreed)
        git = Remote(repository=repository, url="a", environment={})._git()  # noqa: SLF001
        return git.environment["GIT_SSH_COMMAND"]

    assert ssh() == "ssh -oBatchMode=yes"
    assert ssh(*_agreed(shop)) == "ssh -i key"


@pytest.mark.parametrize("how", ["config", "worktree", "linked", "include", "condition", "nested"])
def test_every_key_is_found_wherever_the_repository_sets_it(shop: Shop, tmp_path: Path, how: str) -> None:
    git_dir = shop.root / ".git"
    file = tmp_path / "more"
    if how == "config":
        file = git_dir / "config"
    elif how == "worktree":
        file = git_dir / "config.worktree"
    elif how == "linked":
        shop.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
        file = git_dir / "worktrees/linked/config.worktree"
    elif how == "include":
        _set(shop, "include.path", str(file))
    elif how == "condition":
        _set(shop, "includeIf.onbranch:another.path", "../../more")
    else:
        (git_dir / "between").write_text(f"[include]\n\tpath = {file}\n")
        _set(shop, "include.path", "between")
    plant(git_dir, tmp_path / "programs", config=file)
    named = {key for key, _ in shop.repository.programs.named}
    assert named == {*KEYS, *WITH_MARK, "url.ext::sh -c true.insteadof", "remote.other.url"}


@pytest.mark.parametrize(("key", "value"), HARMLESS)
def test_a_value_that_names_no_program_of_the_repositorys_choosing_is_not_asked_about(
    shop: Shop, key: str, value: str
) -> None:
    _set(shop, key, value)
    assert not shop.repository.programs.are_asked
    _set(shop, key, "!touch started; #")
    assert shop.repository.programs.are_asked is not key.startswith(("remote.", "url."))


def test_the_users_own_settings_are_not_asked_about(shop: Shop, tmp_path: Path) -> None:
    plant(shop.root / ".git", tmp_path / "programs", config=shop.home / ".gitconfig")
    assert not shop.repository.programs.are_asked


def test_an_agreement_holds_for_the_folder_the_settings_and_the_files_that_they_name(
    shop: Shop, tmp_path: Path
) -> None:
    shop.write("tools/clean.sh", "cat\n")
    _set(shop, "filter.x.clean", "sh tools/clean.sh %f")
    agreed = _agreed(shop)

    def is_agreed(at: Path | None = None) -> bool:
        return open_repository(at or shop.root, agreed=agreed).programs.is_agreed

    assert is_agreed()
    shop.write("src/app.py", "other\n")
    assert is_agreed()
    shop.write("tools/clean.sh", "touch started\n")
    assert not is_agreed()
    shop.write("tools/clean.sh", "cat\n")
    assert is_agreed()
    copy = tmp_path / "copy"
    shop.git("clone", "-q", str(shop.root), str(copy))
    (copy / ".git/config").write_text((shop.root / ".git/config").read_text())
    assert not is_agreed(copy)
    _set(shop, "filter.x.clean", "sh tools/clean.sh %f; touch started")
    assert not is_agreed()
