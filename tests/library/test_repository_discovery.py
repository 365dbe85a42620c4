"""A repository is known by the folder that all its checkouts share, found by reading alone."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from asbuilt.library.repository_discovery import Repository, branch_of, find_repository, tip_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_checkout_is_found_from_any_folder_below_it(shop: Path) -> None:
    below = shop / "src" / "deep"
    below.mkdir(parents=True)
    expected = Repository(root=shop, common=shop / ".git")
    assert [find_repository(folder) for folder in (shop, below)] == [expected, expected]
    assert (expected.name, branch_of(expected)) == ("shop-api", "main")


def test_outside_of_a_checkout_there_is_none(tmp_path: Path) -> None:
    assert find_repository(tmp_path) is None


def test_linked_worktrees_share_identity_and_name_and_keep_their_own_branch(
    shop: Path, tmp_path: Path, git: Callable[..., None]
) -> None:
    linked = tmp_path.resolve() / "elsewhere"
    git(shop, "worktree", "add", "-q", "-b", "topic/limits", str(linked))
    found = find_repository(linked)
    assert found == Repository(root=linked, common=shop / ".git")
    assert (found.name, branch_of(found)) == ("shop-api", "topic/limits")
    main = find_repository(shop)
    assert main is not None
    assert branch_of(main) == "main"


def test_a_detached_checkout_has_no_branch(shop: Path, git: Callable[..., None]) -> None:
    git(shop, "checkout", "-q", "--detach")
    assert branch_of(Repository(root=shop, common=shop / ".git")) is None


def test_a_branch_that_stands_in_a_reference_table_cannot_be_told(shop: Path) -> None:
    (shop / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n")
    assert branch_of(Repository(root=shop, common=shop / ".git")) is None


def test_the_tip_of_a_branch_is_read_loose_or_packed(shop: Path, git: Callable[..., None]) -> None:
    head = subprocess.check_output(["git", "-C", shop, "rev-parse", "main"], text=True).strip()  # noqa: S607
    repository = Repository(root=shop, common=shop / ".git")
    assert [tip_of(repository, name) for name in ("main", "topic/none")] == [head, ""]
    git(shop, "pack-refs", "--all")
    assert not (shop / ".git/refs/heads/main").exists()
    assert [tip_of(repository, name) for name in ("main", "topic/none")] == [head, ""]
    (shop / ".git/reftable").mkdir()
    assert tip_of(repository, "main") is None


def test_a_copy_is_another_repository(shop: Path, tmp_path: Path) -> None:
    copy = tmp_path.resolve() / "copy"
    shutil.copytree(shop, copy)
    assert find_repository(copy) == Repository(root=copy, common=copy / ".git")


def test_a_submodule_is_a_repository_of_its_own(shop: Path) -> None:
    own = shop / ".git" / "modules" / "lib"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/stable\n")
    lib = shop / "lib"
    lib.mkdir()
    (lib / ".git").write_text("gitdir: ../.git/modules/lib\n")
    found = find_repository(lib)
    assert found == Repository(root=lib, common=own)
    assert (found.name, branch_of(found)) == ("lib", "stable")


def test_a_linked_git_folder_is_the_one_it_leads_to(shop: Path, tmp_path: Path) -> None:
    twin = tmp_path.resolve() / "twin"
    twin.mkdir()
    (twin / ".git").symlink_to(shop / ".git")
    found = find_repository(twin)
    assert found == Repository(root=twin, common=shop / ".git")
    assert branch_of(found) == "main"


def test_a_repository_with_its_git_folder_elsewhere_is_named_by_its_checkout(
    tmp_path: Path, git: Callable[..., None]
) -> None:
    root, apart = tmp_path.resolve() / "checkout", tmp_path.resolve() / "kept.git"
    root.mkdir()
    git(root, "init", "-q", "-b", "main", f"--separate-git-dir={apart}")
    found = find_repository(root)
    assert found == Repository(root=root, common=apart)
    assert (found.name, branch_of(found)) == ("checkout", "main")


def test_inside_a_bare_repository_there_is_no_checkout(tmp_path: Path, git: Callable[..., None]) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    assert find_repository(tmp_path / "bare.git") is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"nonsense",
        b"gitdir:",
        b"gitdir: \0",
        b"gitdir: /not/there/\0\n",
        b"\xff\xfe\x00gitdir: x",
        b"x" * 100_000,
    ],
)
def test_a_garbled_git_file_stands_for_itself(tmp_path: Path, content: bytes) -> None:
    root = tmp_path.resolve()
    (root / ".git").write_bytes(content)
    found = find_repository(root)
    assert found == Repository(root=root, common=root / ".git")
    assert branch_of(found) is None


@pytest.mark.parametrize("target", [b"/not/there", b"\xff\xfe", b"x" * 4000, b"../../../..", b"loop"])
def test_a_git_file_that_leads_nowhere_is_still_a_checkout(tmp_path: Path, target: bytes) -> None:
    root = tmp_path.resolve()
    (root / "loop").symlink_to("loop")
    (root / ".git").write_bytes(b"gitdir: " + target + b"\n")
    found = find_repository(root)
    assert found is not None
    assert (found.root, branch_of(found)) == (root, None)


def test_what_is_only_called_git_is_passed_over(shop: Path) -> None:
    empty, pipe = shop / "empty", shop / "pipe"
    (empty / ".git").mkdir(parents=True)
    pipe.mkdir()
    os.mkfifo(pipe / ".git")
    expected = Repository(root=shop, common=shop / ".git")
    assert [find_repository(folder) for folder in (empty, pipe)] == [expected, expected]


def test_a_folder_reached_through_a_link_is_where_it_really_is(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "short").symlink_to(shop)
    assert find_repository(tmp_path / "short") == Repository(root=shop, common=shop / ".git")
