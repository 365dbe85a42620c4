"""Whatever an agent writes into its workspace, git of ours runs none of it."""

from __future__ import annotations

import shlex
import shutil
from typing import TYPE_CHECKING

import pytest

from asbuilt.errors import AsbuiltError, UsageWrong
from asbuilt.git.command import check_branch, check_oid, check_ref_name
from asbuilt.git.commits import advance
from asbuilt.git.landing.candidates import Candidate, Conflict, hold, pick
from asbuilt.git.landing.land import Landed, land, prepare
from asbuilt.git.workspace.checkouts import clean_checkout
from asbuilt.git.workspace.workspaces import leftovers, remove, reset_to
from tests.git.shop import RUN, Shop, user_state

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.ports import Workspace

HOSTILE = [
    "-x", "--upload-pack=touch pwned", "-", "a..b", "a b", "a~b", "a^b", "a:b", "a?b", "a*b", "a[b", "a\\b",
    "@{-1}", "a@{b", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "a/", "/a", "a//b", "", "a\nb", "a\0b",
    "a\x7fb", "HEAD", "../../x", "refs/heads/../x", "x" * 2000,
]  # fmt: skip


def _trap(folder: Path, trace: Path) -> Path:
    """Lay out a git folder in which everything that can be run leaves a trace."""
    (folder / "hooks").mkdir(parents=True)
    program = folder / "trap"
    program.write_text(f"#!/bin/sh\necho ran >>{shlex.quote(str(trace))}\ncat\n")
    program.chmod(0o755)
    for name in (
        "pre-commit",
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "fsmonitor-watchman",
    ):
        shutil.copy(program, folder / "hooks" / name)
    for name in ("objects", "refs/heads"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    run = str(program)
    (folder / "config").write_text(
        f"[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {run}\n\thooksPath = {folder}/hooks\n"
        f"\tpager = {run}\n"
        f"\tsshCommand = {run}\n\talternateRefsCommand = {run}\n\tworktree = {folder}\n"
        f'[filter "x"]\n\tclean = {run}\n\tsmudge = {run}\n\tprocess = {run}\n\trequired = true\n'
        f'[diff]\n\texternal = {run}\n[diff "x"]\n\ttextconv = {run}\n\tcommand = {run}\n'
        f'[merge "x"]\n\tdriver = {run}\n[gpg]\n\tprogram = {run}\n[credential]\n\thelper = {run}\n'
    )
    return folder


def _spring(shop: Shop, workspace: Workspace, number: int) -> None:
    """Do to a workspace all that a run does."""
    shop.write("src/app.py", f"changed {number}\n", at=workspace.path)
    kept = shop.keep(workspace, f"{RUN}.{number}")
    clean_checkout(shop.repository, kept.tree, shop.room / "clean")
    reset_to(shop.repository, workspace, kept.commit, kept=kept)
    shop.workspace()
    leftovers(shop.repository, shop.workspaces)
    prepare(shop.repository, run=RUN, branch="main", old=shop.tip(), new=kept.commit)


@pytest.mark.parametrize("how", ["file", "folder", "link", "bare"])
def test_a_swapped_git_file_runs_nothing(shop: Shop, tmp_path: Path, how: str) -> None:
    trace = tmp_path / "ran"
    workspace = shop.workspace()
    shop.write(".gitattributes", "* filter=x diff=x merge=x\n", at=workspace.path)
    evil = _trap(workspace.path / "evil.git" if how in {"file", "bare"} else tmp_path / "evil.git", trace)
    link = workspace.path / ".git"
    if how != "bare":
        link.unlink()
    if how == "file":
        link.write_text(f"gitdir: {evil}\n")
    elif how == "folder":
        shutil.copytree(evil, link)
    elif how == "link":
        link.symlink_to(evil)
    assert not trace.exists()
    _spring(shop, workspace, 1)
    remove(shop.repository, workspace)
    assert not trace.exists()
    assert shop.fsck() == ""


def test_attributes_of_an_agent_start_no_program_of_the_users_settings(shop: Shop, tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    trap = _trap(tmp_path / "trap.git", trace)
    for place in (shop.root / ".git/config", shop.home / ".gitconfig"):
        lines = (trap / "config").read_text().splitlines()
        kept = [line for line in lines if "worktree" not in line and "repositoryformat" not in line]
        place.write_text(place.read_text() + "\n".join(kept) + "\n")
    workspace = shop.workspace()
    shop.write(".gitattributes", "* filter=x diff=x merge=x\n", at=workspace.path)
    _spring(shop, workspace, 1)
    proven = shop.phase("1", {"src/app.py": "one\nmine\nthree\n", ".gitattributes": "* merge=x\n"})
    onto = shop.phase("0", {"src/app.py": "one\ntheirs\nthree\n", ".gitattributes": "* merge=x\n"})
    trace.unlink(missing_ok=True)
    assert isinstance(pick(shop.repository, onto=onto, commits=[proven], run="another"), Conflict)
    _spring(shop, workspace, 2)
    assert not trace.exists()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_refused_before_git_sees_it(shop: Shop, name: str) -> None:
    before = user_state(shop)
    with pytest.raises(UsageWrong):
        check_branch(name)
    with pytest.raises(AsbuiltError):
        advance(shop.repository, name, new=shop.tip(), old=None)
    with pytest.raises(AsbuiltError):
        prepare(shop.repository, run=RUN, branch=name, old=shop.tip(), new=shop.tip())
    with pytest.raises(UsageWrong):
        check_oid(name)
    assert user_state(shop) == before


def test_our_rules_for_names_are_gits(shop: Shop) -> None:
    names = [
        *HOSTILE,
        "a",
        "a/b",
        "a-b",
        "-a/b",
        "a.b",
        "a@b",
        "@",
        "a{b",
        "ü",
        "a;b",
        "$(x)",
        "a'b",
        'a"b',
        "a,b",
    ]
    tried = [name for name in names if "\0" not in name and len(name) < 1000]
    assert {name: _we_take(name) for name in tried} == {name: _git_takes(shop, name) for name in tried}


def _we_take(name: str) -> bool:
    try:
        check_ref_name(f"refs/heads/{name}")
    except UsageWrong:
        return False
    return True


def _git_takes(shop: Shop, name: str) -> bool:
    try:
        shop.git("check-ref-format", f"refs/heads/{name}")
    except AssertionError:
        return False
    return True


def test_names_that_a_shell_would_run_are_only_names(shop: Shop) -> None:
    branch = "a;touch${IFS}pwned;$(touch${IFS}pwned)`touch${IFS}pwned`'\""
    shop.git("switch", "-q", "-c", branch)
    files: dict[str, str | None] = {"$(touch pwned)": "x\n", "-rf": "x\n", "new\nline; touch pwned": "x\n"}
    new = shop.phase("1", files, onto=shop.tip(branch))
    room = shop.room / "a room; touch pwned '\" $(touch pwned)"
    hold(shop.repository, RUN, Candidate(onto=shop.tip(branch), tip=new, commits=()))
    assert land(shop.repository, shop.intent(new, branch), room) == Landed(
        ref=f"refs/heads/{branch}", new=new, checkout=str(shop.root)
    )
    assert all((shop.root / name).read_text() == "x\n" for name in files)
    assert list(shop.root.parent.rglob("pwned")) == []
    assert shop.git("status", "--porcelain") == ""


def test_the_users_own_filters_serve_the_users_own_checkout(shop: Shop) -> None:
    shop.commit("attributes", {".gitattributes": "*.txt filter=loud\n"})
    shop.git("config", "--global", "filter.loud.smudge", "tr a-z A-Z")
    shop.git("config", "--global", "filter.loud.clean", "tr A-Z a-z")
    new = shop.phase("1", {"note.txt": "quiet\n"})
    assert isinstance(land(shop.repository, shop.intent(new), shop.room), Landed)
    assert (shop.root / "note.txt").read_text() == "QUIET\n"
    assert shop.git("status", "--porcelain") == ""


def test_settings_in_our_own_environment_do_not_reach_git(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", "/nowhere/objects")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.bare")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    workspace = shop.workspace()
    assert shop.keep(workspace).tree == shop.git("rev-parse", "HEAD^{tree}")
