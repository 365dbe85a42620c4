"""A workspace is made once, holds what its commit holds, and goes only when nothing is lost with it."""

from __future__ import annotations

import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from asbuilt.errors import GitFailed, NotLanded, UsageWrong
from asbuilt.git.workspace.checkouts import clean_checkout
from asbuilt.git.workspace.workspaces import Leftover, leftovers, make, put_back, remove, reset_to
from tests.git.shop import ADA, RUN, Shop, killed_once, picture, user_state

if TYPE_CHECKING:
    from pathlib import Path


def test_a_workspace_is_a_detached_locked_worktree_of_its_commit(shop: Shop) -> None:
    before = user_state(shop)
    workspace = shop.workspace()
    assert workspace.path == shop.workspaces / RUN / "main"
    assert workspace.git_dir.parent == shop.root / ".git/worktrees"
    assert picture(workspace.path) == picture(shop.root)
    assert shop.git("status", "--porcelain", "--branch", at=workspace.path) == "## HEAD (no branch)"
    assert (workspace.git_dir / "locked").read_text() == f"asbuilt workspace {RUN}/main\n"
    shop.git("worktree", "prune", "--expire=now")
    assert workspace.git_dir.is_dir()
    assert user_state(shop) == before


def test_making_it_again_leaves_an_agents_work_alone(shop: Shop) -> None:
    workspace = shop.workspace()
    shop.write("src/app.py", "agent's\n", at=workspace.path)
    shop.write("new.py", "agent's\n", at=workspace.path)
    before = picture(workspace.path)
    shop.commit("moved", {"README.md": "moved\n"})
    assert shop.workspace() == workspace
    assert picture(workspace.path) == before


def test_files_come_out_byte_for_byte_whatever_attributes_say(shop: Shop) -> None:
    shop.git("config", "filter.loud.smudge", "tr a-z A-Z")
    shop.git("config", "filter.loud.clean", "tr A-Z a-z")
    shop.git("config", "filter.loud.required", "true")
    shop.commit("plain", {"run.bat": "a\nb\n", "loud.txt": "quiet\n", "id.txt": "$Id$\n"})
    shop.commit("attributes", {".gitattributes": "*.bat eol=crlf\nloud.txt filter=loud\nid.txt ident\n"})
    workspace = shop.workspace()
    assert [(workspace.path / name).read_bytes() for name in ("run.bat", "loud.txt", "id.txt")] == [
        b"a\nb\n",
        b"quiet\n",
        b"$Id$\n",
    ]
    kept = shop.keep(workspace)
    assert kept.tree == shop.git("rev-parse", "HEAD^{tree}")
    clean_checkout(shop.repository, kept.tree, shop.room / "clean")
    assert picture(shop.room / "clean") == picture(workspace.path)


def test_a_workspace_with_anything_unkept_is_not_removed(shop: Shop) -> None:
    workspace = shop.workspace()
    for name in ("src/app.py", "new.py", "nested/deep/new.py"):
        shop.write(name, "agent's\n", at=workspace.path)
        with pytest.raises(NotLanded) as refused:
            remove(shop.repository, workspace)
        assert refused.value.what == f"{workspace.path} has files that are not kept: {name}"
        assert (workspace.path / name).read_text() == "agent's\n"
        shop.git("checkout", "-q", ".", at=workspace.path)
        shop.git("clean", "-qfd", at=workspace.path)
    shop.write("build/ignored.o", "may go\n", at=workspace.path)
    remove(shop.repository, workspace)
    assert not workspace.path.exists()
    assert not workspace.git_dir.exists()
    remove(shop.repository, workspace)
    assert shop.fsck() == ""


def test_a_workspace_with_a_commit_that_no_ref_has_is_not_removed(shop: Shop) -> None:
    workspace = shop.workspace()
    loose = shop.commit("an agent's own", {"agent.py": "x\n"}, at=workspace.path)
    with pytest.raises(NotLanded, match=loose[:12]):
        remove(shop.repository, workspace)
    shop.git("checkout", "-q", "HEAD^", at=workspace.path)
    with pytest.raises(NotLanded, match=loose[:12]):
        remove(shop.repository, workspace)
    shop.git("branch", "keep", loose)
    remove(shop.repository, workspace)
    assert not workspace.path.exists()


def test_a_workspace_is_reset_only_to_when_its_files_are_kept(shop: Shop) -> None:
    workspace = shop.workspace()
    shop.write("src/app.py", "agent's\n", at=workspace.path)
    shop.write("new/one.py", "agent's\n", at=workspace.path)
    shop.write("build/cache.o", "ignored\n", at=workspace.path)
    shop.git("init", "-q", str(workspace.path / "nested"))
    shop.write("nested/file", "agent's\n", at=workspace.path)
    kept = shop.keep(workspace)
    shop.write("late.py", "after the snapshot\n", at=workspace.path)
    with pytest.raises(NotLanded, match=r"late\.py"):
        reset_to(shop.repository, workspace, shop.tip(), kept=kept)
    (workspace.path / "late.py").unlink()

    reset_to(shop.repository, workspace, shop.tip(), kept=kept)
    reset_to(shop.repository, workspace, shop.tip(), kept=kept)
    assert picture(workspace.path) == {
        **picture(shop.root),
        "build/cache.o": picture(workspace.path)["build/cache.o"],
    }
    assert sorted(path.name for path in workspace.path.iterdir() if path.is_dir()) == ["build", "src"]

    reset_to(shop.repository, workspace, kept.commit, kept=shop.keep(workspace, "another"))
    assert (workspace.path / "new/one.py").read_text() == "agent's\n"
    assert shop.git("rev-parse", "HEAD", at=workspace.path) == kept.commit
    assert shop.git("status", "--porcelain", at=workspace.path) == ""
    remove(shop.repository, workspace)


def test_a_reset_that_was_cut_off_is_finished_by_whoever_comes_next(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = shop.tip()
    workspace = shop.workspace()
    shop.write("new.py", "agent's\n", at=workspace.path)
    kept = shop.keep(workspace)
    monkeypatch.setenv("PATH", killed_once(shop.room / "killed", "git", "update-ref"))
    with pytest.raises(GitFailed, match="git update-ref failed") as failed:
        reset_to(shop.repository, workspace, kept.commit, kept=kept)
    assert failed.value.why == "git was ended by signal 9"
    assert shop.workspace(commit=base) == workspace
    reset_to(shop.repository, workspace, kept.commit, kept=kept)
    assert shop.git("rev-parse", "HEAD", at=workspace.path) == kept.commit
    assert shop.git("status", "--porcelain", at=workspace.path) == ""
    shop.write("new.py", "more\n", at=workspace.path)
    shop.workspace(commit=base)
    assert (workspace.path / "new.py").read_text() == "more\n"


def test_a_path_is_put_back_and_what_the_agent_had_there_stays_kept(shop: Shop, tmp_path: Path) -> None:
    shop.commit("a plan", {"plans/plan.md": "plan\n"})
    base = shop.tip()
    workspace = shop.workspace()
    shutil.rmtree(workspace.path / "plans")
    (workspace.path / "plans").symlink_to(tmp_path)
    shop.write("new.py", "agent's\n", at=workspace.path)
    kept = shop.keep(workspace)
    back = put_back(shop.repository, workspace, "plans/plan.md", kept=kept, base=base, author=ADA)
    assert shop.git("diff", "--name-status", base, back.tree) == "A\tnew.py"
    assert shop.git("rev-parse", f"{back.ref}^2") == kept.commit
    assert shop.git("cat-file", "-p", f"{kept.commit}:plans") == str(tmp_path)
    assert (workspace.path / "plans/plan.md").read_text() == "plan\n"
    assert list(tmp_path.glob("plan.md")) == []
    again = shop.keep(workspace)
    assert put_back(shop.repository, workspace, "plans/plan.md", kept=again, base=base, author=ADA) == back


def test_leftovers_are_listed_and_never_removed(shop: Shop, tmp_path: Path) -> None:
    one, two = shop.workspace("one"), shop.workspace("two")
    shop.git("worktree", "add", "-q", "--detach", str(tmp_path / "the-users-own"))
    (two.git_dir / "asbuilt-ready").unlink()
    assert leftovers(shop.repository, shop.workspaces) == (
        Leftover(workspace=one, run=RUN, lane="one", ready=True, here=True),
        Leftover(workspace=two, run=RUN, lane="two", ready=False, here=True),
    )


def test_something_of_somebodys_in_the_place_of_a_workspace_stays(shop: Shop) -> None:
    place = shop.workspaces / RUN / "main"
    shop.write("precious.txt", "mine\n", at=place)
    with pytest.raises(GitFailed, match="is in the way of a workspace"):
        shop.workspace()
    assert (place / "precious.txt").read_text() == "mine\n"


@pytest.mark.parametrize("name", ["", "..", ".", "a/b", "-x", "a\nb", "\0", "/etc", "x" * 300])
def test_a_name_that_could_lead_elsewhere_is_refused(shop: Shop, name: str) -> None:
    for run, lane in ((name, "main"), ("run", name)):
        with pytest.raises(UsageWrong):
            make(shop.repository, shop.workspaces, run, lane, shop.tip())
    assert not shop.workspaces.exists()


def test_a_clean_checkout_is_exactly_the_tree_whatever_was_there(shop: Shop, tmp_path: Path) -> None:
    at = tmp_path / "clean"
    clean_checkout(shop.repository, shop.tip(), at)
    shop.write("deep/stray.py", "stray\n", at=at)
    shop.write("build/out.o", "ignored and stray\n", at=at)
    shop.write(".git/config", "[core]\n\tfsmonitor = touch\n", at=at)
    # Same size and time as before: only the bytes tell.
    times = (at / "src/app.py").stat()
    shop.write("src/app.py", "ONE\nTWO\nTHREE\n", at=at)
    os.utime(at / "src/app.py", ns=(times.st_atime_ns, times.st_mtime_ns))
    (at / "README.md").unlink()
    (at / "README.md").mkdir()
    shop.write("README.md/x", "x\n", at=at)
    clean_checkout(shop.repository, shop.tip(), at)
    assert picture(at) == picture(shop.root)
    assert sorted(path.name for path in at.iterdir()) == [".gitignore", "README.md", "src"]


def test_a_clean_checkout_does_not_write_through_links(shop: Shop, tmp_path: Path) -> None:
    at = tmp_path / "clean"
    outside = tmp_path / "outside"
    outside.mkdir()
    at.mkdir()
    (at / "src").symlink_to(outside)
    clean_checkout(shop.repository, shop.tip(), at)
    assert list(outside.iterdir()) == []
    assert picture(at) == picture(shop.root)
    link = tmp_path / "link"
    link.symlink_to(outside)
    with pytest.raises(GitFailed):
        clean_checkout(shop.repository, shop.tip(), link)


def test_fifty_workspaces_come_and_go_in_parallel_without_a_trace(shop: Shop) -> None:
    before = user_state(shop)
    together = threading.Barrier(8, timeout=30)

    def come_and_go(number: int) -> str:
        if number < 8:
            together.wait()
        workspace = make(shop.repository, shop.workspaces, RUN, f"lane{number}", shop.tip())
        shop.write(f"{number}.txt", "x\n", at=workspace.path)
        kept = shop.keep(workspace, f"{RUN}.{number}")
        reset_to(shop.repository, workspace, shop.tip(), kept=kept)
        remove(shop.repository, workspace)
        return kept.ref

    with ThreadPoolExecutor(8) as pool:
        refs = list(pool.map(come_and_go, range(50)))
    assert len(set(refs)) == 50
    assert leftovers(shop.repository, shop.workspaces) == ()
    assert list((shop.root / ".git/worktrees").iterdir()) == []
    assert [path for path in shop.workspaces.rglob("*") if not path.is_dir()] == []
    assert user_state(shop) == before
    assert shop.fsck() == ""
