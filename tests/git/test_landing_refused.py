"""What stands in the way of a landing refuses it, and nothing moves."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from asbuilt.errors import NotLanded
from asbuilt.git.landing.land import Intent, Landed, Refused, land, prepare
from asbuilt.git.landing.refusal_remedies import Remedy
from tests.git.shop import RUN, Shop, user_state

if TYPE_CHECKING:
    from pathlib import Path


def _refused(shop: Shop, new: str) -> Refused:
    found = prepare(shop.repository, run=RUN, branch="main", old=shop.tip(), new=new)
    assert isinstance(found, Refused)
    return found


@pytest.mark.parametrize(
    ("here", "adds", "named"),
    [
        ("prod.env", "prod.env", "prod.env"),
        ("notes.txt", "notes.txt", "notes.txt"),
        ("build/out.o", "build/out.o", "build/out.o"),
        ("data", "data/rows.csv", "data"),
        ("data.env", "data.env/rows.csv", "data.env"),
        ("tools/my.env", "tools", "tools/my.env"),
    ],
)
def test_whatever_stands_where_the_plan_adds_a_file_is_refused(
    shop: Shop, here: str, adds: str, named: str
) -> None:
    shop.write(here, "mine\n")
    before = user_state(shop)
    new = shop.phase("1", {adds: "theirs\n"})
    refused = _refused(shop, new)
    assert (refused.kind, refused.paths) == ("in_the_way", (named,))
    assert refused.what == f"Not landed: {named} is in the way, and this plan adds it."
    assert land(shop.repository, shop.unprepared(new), shop.room) == refused
    assert user_state(shop) == before


def test_a_link_in_the_place_of_a_folder_is_in_the_way(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (shop.root / "data").symlink_to(tmp_path / "elsewhere")
    refused = _refused(shop, shop.phase("1", {"data/rows.csv": "theirs\n"}))
    assert (refused.kind, refused.paths) == ("in_the_way", ("data",))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_may_become_a_folder_and_a_folder_a_file(shop: Shop) -> None:
    shop.commit("more", {"lib/a.py": "a\n", "lib/b.py": "b\n"})
    new = shop.phase(
        "1", {"README.md": None, "README.md/index": "x\n", "lib/a.py": None, "lib/b.py": None, "lib": "f\n"}
    )
    assert isinstance(land(shop.repository, shop.intent(new), shop.room), Landed)
    assert (shop.root / "README.md/index").read_text() == "x\n"
    assert (shop.root / "lib").read_text() == "f\n"
    assert shop.git("status", "--porcelain") == ""


@pytest.mark.parametrize("how", ["dirty", "staged", "deleted", "staged and undone", "assumed", "skipped"])
def test_a_file_with_changes_of_the_user_that_the_plan_changes_too_is_refused(shop: Shop, how: str) -> None:
    shop.write("src/app.py", "one\ntwo\nthree\nmine\nand mine\n")
    if how.startswith("staged"):
        shop.git("add", "src/app.py")
    if how == "deleted":
        (shop.root / "src/app.py").unlink()
    if how == "staged and undone":
        shop.write("src/app.py", "one\ntwo\nthree\n")
    if how in {"assumed", "skipped"}:
        shop.git(
            "update-index", "--assume-unchanged" if how == "assumed" else "--skip-worktree", "src/app.py"
        )
    before = user_state(shop)
    new = shop.phase("1", {"src/app.py": "theirs\n"})
    refused = land(shop.repository, shop.unprepared(new), shop.room)
    assert isinstance(refused, Refused)
    if how in {"assumed", "skipped"}:
        assert refused.kind == "git"
        assert "src/app.py" in refused.why
    else:
        assert (refused.kind, refused.paths) == ("your_changes", ("src/app.py",))
    if how == "dirty":
        error = refused.error()
        assert isinstance(error, NotLanded)
        assert (error.what, error.why, error.next_step) == (
            "Not landed: you have uncommitted changes in src/app.py, which this plan changes.",
            (
                f"main is checked out in {shop.root}; 2 of your lines would be lost. "
                "Nothing moved: main and your files are unchanged."
            ),
            "Commit or stash them, then land again.",
        )
    assert user_state(shop) == before


def clear(shop: Shop, refused: Refused) -> str:
    """Type the command that a refusal gives, in a folder below the root; return its comment."""
    way = refused.remedy
    assert way is not None
    assert way.clears
    below = shop.root / "below"
    below.mkdir()
    subprocess.run(way.command, shell=True, cwd=below, check=True, capture_output=True)  # noqa: S602 - as a user types it
    return way.comment


@pytest.mark.parametrize(
    ("how", "command"),
    [
        ("dirty", "git stash push -- :/src/app.py"),
        ("deleted", "git stash push -- :/src/app.py"),
        ("staged", "git stash"),
        ("removed", "git stash"),
        ("staged and undone", "git stash"),
        ("another staged", "git stash"),
    ],
)
def test_a_command_clears_changes_out_of_the_way_and_brings_them_back(
    shop: Shop, how: str, command: str
) -> None:
    shop.write("src/app.py", "one\ntwo\nthree\nmine\n")
    if how.startswith("staged"):
        shop.git("add", "src/app.py")
    if how == "staged and undone":
        shop.write("src/app.py", "one\ntwo\nthree\n")
    if how == "deleted":
        (shop.root / "src/app.py").unlink()
    if how == "removed":
        shop.git("rm", "-qf", "src/app.py")
    if how == "another staged":
        shop.write("README.md", "mine\n")
        shop.git("add", "README.md")
    new = shop.phase("1", {"src/app.py": "zero\none\ntwo\nthree\n"})
    refused = _refused(shop, new)
    assert refused.remedy is not None
    assert refused.remedy.command == command
    assert clear(shop, refused) == "then git stash pop brings your changes back; merge what conflicts"
    assert isinstance(land(shop.repository, shop.intent(new), shop.room), Landed)
    if how in {"dirty", "staged", "another staged"}:
        shop.git("stash", "pop")
        assert (shop.root / "src/app.py").read_text() == "zero\none\ntwo\nthree\nmine\n"


@pytest.mark.parametrize("here", ["notes.txt", "prod.env", "it's mine"])
def test_a_command_renames_a_file_that_is_in_the_way(shop: Shop, here: str) -> None:
    shop.write(here, "mine\n")
    shop.write(f"{here}.mine", "an older one\n")
    new = shop.phase("1", {here: "theirs\n"})
    assert clear(shop, _refused(shop, new)) == f"keeps your file as {here}.mine2"
    assert isinstance(land(shop.repository, shop.intent(new), shop.room), Landed)
    assert [(shop.root / name).read_text() for name in (here, f"{here}.mine2")] == ["theirs\n", "mine\n"]


def test_a_folder_in_the_way_and_an_operation_are_left_to_the_user(shop: Shop) -> None:
    shop.write("tools/my.env", "mine\n")
    new = shop.phase("1", {"tools": "theirs\n"})
    first = _refused(shop, new).remedy
    (shop.root / ".git/MERGE_HEAD").write_text(shop.tip() + "\n")
    second = _refused(shop, new).remedy
    assert first == Remedy(command="git status", comment="lists your files", clears=False)
    (shop.root / ".git/MERGE_HEAD").unlink()
    shop.write("odd\nname", "mine\n")
    assert _refused(shop, shop.phase("1", {"odd\nname": "theirs\n"})).remedy == first
    finish = "finish the merge, or end it: git merge --abort"
    assert second == Remedy(command="git status", comment=finish, clears=False)


def test_a_file_that_only_looks_changed_does_not_stop_a_landing(shop: Shop) -> None:
    (shop.root / "src/app.py").touch()
    new = shop.phase("1", {"src/app.py": "theirs\n"})
    assert isinstance(prepare(shop.repository, run=RUN, branch="main", old=shop.tip(), new=new), Intent)
    assert isinstance(land(shop.repository, shop.intent(new), shop.room), Landed)


def test_an_operation_in_progress_or_two_checkouts_stop_a_landing(shop: Shop, tmp_path: Path) -> None:
    new = shop.phase("1", {"src/app.py": "theirs\n"})
    (shop.root / ".git/MERGE_HEAD").write_text(shop.tip() + "\n")
    refused = _refused(shop, new)
    assert (refused.kind, refused.what) == (
        "operation",
        f"Not landed: {shop.root} is in the middle of a merge.",
    )
    (shop.root / ".git/MERGE_HEAD").unlink()
    shop.git("worktree", "add", "-q", "-f", str(tmp_path / "twin"), "main")
    assert _refused(shop, new).kind == "checked_out_twice"
    missing = prepare(shop.repository, run=RUN, branch="nowhere", old=shop.tip(), new=new)
    assert isinstance(missing, Refused)
    assert missing.kind == "no_target"


def test_the_way_out_of_an_operation_is_one_that_git_has(shop: Shop) -> None:
    shop.commit("more", {"src/app.py": "more\n"})
    new = shop.phase("1", {"new.py": "x\n"})
    shop.git("bisect", "start")
    assert "git bisect reset" in _refused(shop, new).next_step
    shop.git("bisect", "reset")
    (shop.root / ".git/MERGE_HEAD").write_text(shop.tip() + "\n")
    assert "git merge --abort" in _refused(shop, new).next_step


def test_a_branch_being_rebased_is_not_moved_under_the_rebase(shop: Shop) -> None:
    shop.git("switch", "-q", "-c", "other")
    shop.commit("other", {"src/app.py": "other\n"})
    shop.git("switch", "-q", "main")
    shop.commit("ours", {"src/app.py": "ours\n"})
    shop.git("rebase", "other", check=False)
    assert shop.git("rev-parse", "--abbrev-ref", "HEAD") == "HEAD"
    assert _refused(shop, shop.phase("1", {"new.py": "x\n"})).kind == "operation"
