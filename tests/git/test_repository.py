"""A repository is known by its own files, and by an identity that survives a move."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from asbuilt.errors import GitFailed, NotFound
from asbuilt.git.identity import Identity, ensure_identity, identity
from asbuilt.git.landing.land import Landed, land
from asbuilt.git.repository import (
    checkouts,
    checkouts_of,
    conflicts,
    current_branch,
    leftover_stashes,
    open_repository,
    operations,
    path_state,
    resolve,
    tip,
)
from tests.git.shop import Shop, user_state

if TYPE_CHECKING:
    from pathlib import Path


def test_a_repository_opens_from_any_of_its_folders(shop: Shop, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    shop.git("worktree", "add", "-q", "-b", "feature", str(linked))
    shop.git("init", "-q", "--bare", str(tmp_path / "bare.git"))
    seen = [
        (one.root, one.git_dir, one.common, current_branch(one))
        for one in map(
            open_repository, (shop.root, shop.root / "src", linked, linked / "src", tmp_path / "bare.git")
        )
    ]
    common = shop.root / ".git"
    assert seen == [
        (shop.root, common, common, "refs/heads/main"),
        (shop.root, common, common, "refs/heads/main"),
        (linked, common / "worktrees/linked", common, "refs/heads/feature"),
        (linked, common / "worktrees/linked", common, "refs/heads/feature"),
        (tmp_path / "bare.git", tmp_path / "bare.git", tmp_path / "bare.git", "refs/heads/main"),
    ]


def test_what_is_no_repository_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="is not in a git repository"):
        open_repository(tmp_path)
    (tmp_path / ".git").write_text("nonsense\n")
    with pytest.raises(GitFailed, match="does not lead to a git folder"):
        open_repository(tmp_path)


def test_an_identity_is_minted_once_however_many_ask(shop: Shop) -> None:
    before = user_state(shop)
    assert identity(shop.repository) is None
    with ThreadPoolExecutor(8) as pool:
        minted = set(pool.map(lambda _: ensure_identity(shop.repository), range(16)))
    assert len(minted) == 1
    one = minted.pop()
    stat = (shop.root / ".git").stat()
    assert one == Identity(
        uuid=shop.git("config", "--local", "asbuilt.repository"),
        common=shop.root / ".git",
        device=stat.st_dev,
        inode=stat.st_ino,
    )
    assert user_state(shop) == before


def test_a_copy_shows_by_its_folder_and_can_get_an_identity_of_its_own(shop: Shop, tmp_path: Path) -> None:
    one = ensure_identity(shop.repository)
    shutil.copytree(shop.root, tmp_path / "copy", symlinks=True)
    copy = open_repository(tmp_path / "copy")
    found = identity(copy)
    assert found is not None
    assert (found.uuid, found.inode != one.inode) == (one.uuid, True)
    assert ensure_identity(copy, is_copy=True).uuid != one.uuid
    shop.root.rename(tmp_path / "moved")
    moved = identity(open_repository(tmp_path / "moved"))
    assert moved is not None
    assert (moved.uuid, moved.inode) == (one.uuid, one.inode)


def test_checkouts_say_where_a_branch_is(shop: Shop, tmp_path: Path) -> None:
    linked = tmp_path / "with\nnewline"
    shop.git("worktree", "add", "-q", "-b", "feature", str(linked))
    shop.git("worktree", "add", "-q", "--detach", str(tmp_path / "detached"))
    shop.git("worktree", "add", "-q", "-b", "gone", str(tmp_path / "gone"))
    shutil.rmtree(tmp_path / "gone")
    registry = shop.root / ".git/worktrees"
    assert [(one.path, one.git_dir, one.branch) for one in checkouts(shop.repository)] == [
        (shop.root, shop.root / ".git", "refs/heads/main"),
        (tmp_path / "detached", registry / "detached", None),
        (linked, registry / "with-newline", "refs/heads/feature"),
    ]
    assert [one.path for one in checkouts_of(shop.repository, "refs/heads/feature")] == [linked]
    assert checkouts_of(shop.repository, "refs/heads/gone") == ()


def test_operations_and_conflicts_are_seen(shop: Shop) -> None:
    shop.git("switch", "-q", "-c", "other")
    shop.commit("other", {"src/app.py": "other\n"})
    shop.git("switch", "-q", "main")
    shop.commit("mine", {"src/app.py": "mine\n"})
    here = checkouts(shop.repository)[0]
    seen = {"at rest": (operations(here.git_dir), conflicts(here))}
    for name, argv in {
        "merge": ["merge", "other"],
        "cherry-pick": ["cherry-pick", "other"],
        "revert": ["revert", "--no-edit", "HEAD^"],
        "rebase": ["rebase", "other"],
        "bisect": ["bisect", "start"],
    }.items():
        shop.git(*argv, check=False)
        seen[name] = (operations(here.git_dir), conflicts(here))
        shop.git(*(["bisect", "reset"] if name == "bisect" else [name, "--abort"]), check=False)
    assert seen == {
        "at rest": ((), ()),
        "merge": (("merge",), ("src/app.py",)),
        "cherry-pick": (("cherry-pick",), ("src/app.py",)),
        "revert": (("revert",), ("src/app.py",)),
        "rebase": (("rebase",), ("src/app.py",)),
        "bisect": (("bisect",), ()),
    }


def test_only_stashes_of_a_landing_are_leftovers(shop: Shop) -> None:
    assert leftover_stashes(shop.repository) == ()
    for message in ("my own", "auto pre-cherry-pick stash"):
        shop.write("README.md", message)
        shop.git("stash", "push", "-m", message)
    assert leftover_stashes(shop.repository) == ("stash@{0}: On main: auto pre-cherry-pick stash",)


def test_the_state_of_a_plan_file_is_told(shop: Shop) -> None:
    shop.commit(
        "plans", {f"plans/{name}.md": "x\n" for name in ("clean", "dirty", "staged", "deleted", "-odd *[x]")}
    )
    shop.write("plans/dirty.md", "y\n")
    shop.write("plans/staged.md", "y\n")
    shop.git("add", "plans/staged.md")
    (shop.root / "plans/deleted.md").unlink()
    shop.write("plans/new.md", "x\n")
    shop.write("plans/secret.env", "x\n")
    shop.write("build/plan.md", "x\n")
    before = (shop.root / ".git/index").read_bytes()
    here = checkouts(shop.repository)[0]
    names = ["plans/clean.md", "plans/dirty.md", "plans/staged.md", "plans/deleted.md", "plans/new.md"]
    names += ["plans/secret.env", "build/plan.md", "plans/nowhere.md", "plans/-odd *[x].md"]
    assert [path_state(here, name) for name in names] == [
        "clean",
        "dirty",
        "dirty",
        "dirty",
        "untracked",
        "ignored",
        "ignored",
        "missing",
        "clean",
    ]
    assert (shop.root / ".git/index").read_bytes() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_repository_of_another_users_opens_only_when_it_is_trusted(shop: Shop) -> None:
    new = shop.phase("1", {"new.py": "x\n"})
    intent = shop.intent(new)
    for path in (shop.root, shop.root / ".git"):
        os.chown(path, 65534, 65534)
    with pytest.raises(GitFailed, match="belongs to another user"):
        open_repository(shop.root)
    shop.git("config", "--global", "--add", "safe.directory", str(shop.root))
    assert isinstance(land(shop.repository, intent, shop.room), Landed)


def test_names_resolve_to_commits_or_to_nothing(shop: Shop) -> None:
    assert resolve(shop.repository, "main") == shop.tip()
    assert tip(shop.repository, "refs/heads/main") == shop.tip()
    for name in ("nowhere", "--all", "-x", "main..main", ":README.md", "", "HEAD^{tree}"):
        assert resolve(shop.repository, name) is None
    assert tip(shop.repository, "refs/heads/nowhere") is None
