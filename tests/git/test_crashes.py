"""`kill -9` at any instant is a pause: what was half done is finished or undone, once."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import asdict

from asbuilt.errors import GitFailed
from asbuilt.git.commits import advance
from asbuilt.git.landing.candidates import held
from asbuilt.git.landing.land import Intent, Landed, NotMoved, land, recover
from asbuilt.git.workspace.snapshots import kept
from asbuilt.git.workspace.workspaces import leftovers, make, remove
from asbuilt.ports import Workspace
from tests.git.shop import RUN, Shop, picture, user_state
from tests.git.victim import theatre

if TYPE_CHECKING:
    from tests.git.victim import Task

pytestmark = pytest.mark.crash

ROUNDS = int(os.environ.get("ASBUILT_CRASH_ROUNDS", "12"))
FILES = 150


def _many(shop: Shop, number: int) -> dict[str, str | None]:
    """Change, add and remove many files, so that a landing has an inside."""
    files: dict[str, str | None] = {
        f"lib/part{n:03}.py": f"round {number}\n" + f"line {n}\n" * 400 for n in range(FILES)
    }
    files[f"added/{number}.py"] = f"added in {number}\n"
    if (shop.root / f"added/{number - 1}.py").exists():
        files[f"added/{number - 1}.py"] = None
    return files


def _task(shop: Shop, do: str, **more: str) -> Task:
    return {"do": do, "root": str(shop.root), "room": str(shop.room), "run": RUN, **more}


def test_a_landing_killed_anywhere_happens_exactly_once(shop: Shop) -> None:
    chance = random.Random(4)  # noqa: S311
    shop.commit("many", {name: text or "" for name, text in _many(shop, 0).items()})
    shop.write("README.md", "dirty\n")
    shop.write("staged.txt", "staged\n")
    shop.git("add", "staged.txt")
    shop.write("secret.env", "mine\n")
    with theatre(shop) as stage:
        duration = 0.5
        for number in range(1, ROUNDS + 1):
            old = shop.tip()
            new = shop.phase(str(number), _many(shop, number))
            intent = shop.intent(new)
            task = _task(shop, "land", **{key: value or "" for key, value in asdict(intent).items()})
            if number == 1:
                said, duration = stage.run(task)
                assert said == "Landed"
                continue
            stage.kill(task, chance.uniform(0.2, 1.0) * duration, alone=chance.random() < 0.5)
            settled = recover(shop.repository, intent)
            if isinstance(settled, NotMoved):
                assert settled.settled.left == ()
                assert shop.tip() == old
                _is_at(shop, number - 1)
                assert isinstance(land(shop.repository, intent, shop.room), Landed)
            assert shop.tip() == new
            _is_at(shop, number)
    assert shop.git(
        "log", "--format=%(trailers:key=Asbuilt-Phase,valueonly,separator=%x2C)", f"-{ROUNDS}"
    ).split() == [str(number) for number in range(ROUNDS, 0, -1)]
    assert shop.fsck() == ""


def _is_at(shop: Shop, number: int) -> None:
    """Look whether the checkout is at one landing, with nothing but the user's own changes on top."""
    assert shop.git("status", "--porcelain=v1") == " M README.md\nA  staged.txt"
    assert (shop.root / "secret.env").read_text() == "mine\n"
    assert (shop.root / "lib/part000.py").read_text().startswith(f"round {number}\n")
    state = user_state(shop)
    assert (state["locks"], state["ours"]) == ([], [])


def test_a_snapshot_killed_anywhere_is_kept_once_and_the_workspace_is_untouched(shop: Shop) -> None:
    chance = random.Random(5)  # noqa: S311
    workspace = shop.workspace()
    for n in range(FILES):
        shop.write(f"made/{n}.txt", f"{n}\n" * 500, at=workspace.path)
    before = picture(workspace.path)
    folders = {"path": str(workspace.path), "git_dir": str(workspace.git_dir), "old": shop.tip()}
    with theatre(shop) as stage:
        _, duration = stage.run({**_task(shop, "keep"), **folders, "run": "x.0"})
        for number in range(1, ROUNDS + 1):
            shop.write("made/again.txt", f"{number}\n", at=workspace.path)
            attempt = f"x.{number}"
            stage.kill(
                {**_task(shop, "keep"), **folders, "run": attempt},
                chance.uniform(0, 1.1) * duration,
                alone=chance.random() < 0.5,
            )
            found = kept(shop.repository, attempt)
            now = shop.keep(workspace, attempt)
            assert found in {None, now.commit}
            assert shop.git("show", f"{now.ref}:made/again.txt") == str(number)
            assert shop.keep(workspace, attempt) == now
    (workspace.path / "made/again.txt").unlink()
    assert picture(workspace.path) == before
    assert shop.fsck() == ""


def test_a_workspace_killed_while_it_is_made_or_removed_is_finished_by_the_next_try(shop: Shop) -> None:
    chance = random.Random(6)  # noqa: S311
    shop.commit("many", {name: text or "" for name, text in _many(shop, 0).items()})
    whole = picture(shop.root)
    with theatre(shop) as stage:
        _, making = stage.run(_task(shop, "make", lane="first", new=shop.tip()))
        first = leftovers(shop.repository, shop.workspaces)[0].workspace
        folders = {"path": str(first.path), "git_dir": str(first.git_dir)}
        _, removing = stage.run(_task(shop, "remove", **folders))
        for number in range(ROUNDS):
            lane = f"lane{number}"
            stage.kill(
                _task(shop, "make", lane=lane, new=shop.tip()),
                chance.uniform(0, 1.1) * making,
                alone=chance.random() < 0.5,
            )
            made = make(shop.repository, shop.workspaces, RUN, lane, shop.tip())
            assert picture(made.path) == whole
            assert shop.git("status", "--porcelain", at=made.path) == ""
            folders = {"path": str(made.path), "git_dir": str(made.git_dir)}
            stage.kill(
                _task(shop, "remove", **folders),
                chance.uniform(0, 1.1) * removing,
                alone=chance.random() < 0.5,
            )
            remove(shop.repository, Workspace(path=made.path, git_dir=made.git_dir, common=made.common))
    assert leftovers(shop.repository, shop.workspaces) == ()
    remove(shop.repository, make(shop.repository, shop.workspaces, RUN, "last", shop.tip()))
    assert sorted((shop.root / ".git/worktrees").iterdir()) == []
    assert sorted((shop.root / ".git").glob("*asbuilt*")) == []
    assert [path for path in shop.workspaces.rglob("*") if path.is_file()] == []
    assert shop.fsck() == ""


def test_only_a_lock_that_a_dead_git_of_ours_was_about_to_take_is_removed(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("asbuilt.git.locks._PATIENCE_S", 0.2)
    common = shop.repository.common
    ours, theirs = common / "refs/heads/cp-ours.lock", common / "refs/heads/cp-theirs.lock"
    outside = shop.root / "mine.lock"
    for lock in (ours, theirs, outside):
        lock.touch()
    (common / "asbuilt-locks").write_bytes(
        b"refs/heads/cp-ours.lock\0../mine.lock\0HEAD\0" + bytes(outside) + b"\0"
    )
    advance(shop.repository, "cp-ours", new=shop.tip(), old=None)
    assert shop.tip("cp-ours") == shop.tip()
    with pytest.raises(GitFailed) as held:
        advance(shop.repository, "cp-theirs", new=shop.tip(), old=None)
    assert (held.value.what, held.value.why) == (
        "another git holds refs/heads/cp-theirs.lock",
        "It was there for 0.2 seconds, and asbuilt did not make it.",
    )
    assert (ours.exists(), theirs.exists(), outside.exists(), (common / "HEAD").exists()) == (
        False,
        True,
        True,
        True,
    )
    assert sorted(common.glob("*asbuilt*")) == []


def test_a_workspace_that_was_not_registered_whole_is_not_in_gits_list(shop: Shop) -> None:
    adding = shop.root / ".git/asbuilt-adding"
    adding.mkdir()
    (adding / "gitdir").touch()
    assert shop.git("worktree", "list").count("\n") == 0
    made = shop.workspace("next")
    assert (adding.exists(), made.git_dir.name) == (False, "next")
    assert shop.git("worktree", "list", "--porcelain").splitlines()[-3:] == [
        f"HEAD {shop.tip()}", "detached", f"locked asbuilt workspace {RUN}/next",
    ]  # fmt: skip


def test_git_reads_every_ref_at_any_moment_while_workspaces_are_made(shop: Shop) -> None:
    ended = threading.Event()
    said: list[str] = []

    def read() -> None:
        while not ended.is_set():
            said.append(shop.git("rev-list", "--count", "--all", check=False))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(60):
        shop.workspace(f"run{number}")
    ended.set()
    reader.join()
    assert len(said) > 5
    assert {*said} == {"1"}


def test_a_candidate_killed_while_it_is_built_is_the_same_one_the_next_time(shop: Shop) -> None:
    chance = random.Random(7)  # noqa: S311
    proven = shop.phase("1", {"src/app.py": "one\ntwo\nTHREE\n"})
    onto = shop.commit("a colleague", {"README.md": "moved\n"})
    task = _task(shop, "build", old=onto, new=proven)
    with theatre(shop) as stage:
        _, duration = stage.run(task)
        whole = held(shop.repository, RUN)
        for _ in range(ROUNDS):
            shop.git("update-ref", "-d", f"refs/asbuilt/candidates/{RUN}")
            stage.kill(task, chance.uniform(0, 1.1) * duration, alone=chance.random() < 0.5)
            assert held(shop.repository, RUN) in {None, whole}
            assert stage.run(task)[0] == "Candidate"
            assert held(shop.repository, RUN) == whole
    assert shop.fsck() == ""


def test_a_clean_checkout_killed_anywhere_is_whole_the_next_time(shop: Shop) -> None:
    chance = random.Random(8)  # noqa: S311
    commits = [shop.commit("many", {name: text or "" for name, text in _many(shop, 0).items()})]
    pictures = [picture(shop.root)]
    commits.append(shop.commit("more", {f"lib/part{n:03}.py": f"other {n}\n" for n in range(FILES)}))
    pictures.append(picture(shop.root))
    with theatre(shop) as stage:
        _, duration = stage.run(_task(shop, "checkout", new=commits[0]))
        for number in range(1, ROUNDS):
            task = _task(shop, "checkout", new=commits[number % 2])
            stage.kill(task, chance.uniform(0, 1.1) * duration, alone=chance.random() < 0.5)
            assert stage.run(task)[0] == "done"
            assert picture(shop.room / "clean") == pictures[number % 2]


def test_a_landing_cut_off_after_a_person_edited_keeps_the_persons_bytes(shop: Shop) -> None:
    """The hook has died in the middle: one file new, one cut short, one edited since, one gone."""
    shop.commit("more", {"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n", "d.txt": "d\n"})
    old = shop.tip()
    files: dict[str, str | None] = {
        name: f"new {name}\n" for name in ("a.txt", "b.txt", "c.txt", "d.txt", "e/f.txt")
    }
    new = shop.phase("1", files)
    intent = Intent(run=RUN, ref="refs/heads/main", old=old, new=new, checkout=str(shop.root))
    shop.write("a.txt", "new a.txt\n")
    shop.write("b.txt", "new b")
    shop.write("c.txt", "a person's\n")
    (shop.root / "d.txt").unlink()
    shop.write("e/f.txt", "new e/f.txt\n")
    git_dir = shop.root / ".git"
    (git_dir / "index.lock").write_text("asbuilt landing 4711\n")
    (git_dir / "asbuilt-landing").write_text(f"{old} {new}\n")
    (git_dir / "index.asbuilt").write_bytes((git_dir / "index").read_bytes())

    settled = recover(shop.repository, intent)

    assert isinstance(settled, NotMoved)
    assert (settled.settled.restored, settled.settled.left) == (
        ("a.txt", "b.txt", "d.txt", "e/f.txt"),
        ("c.txt",),
    )
    assert shop.git("status", "--porcelain") == " M c.txt"
    assert (shop.root / "c.txt").read_text() == "a person's\n"
    assert not (shop.root / "e").exists()
    state = user_state(shop)
    assert (state["locks"], state["ours"]) == ([], [])
    assert recover(shop.repository, intent) == NotMoved(settled=type(settled.settled)())
    assert Path(shop.root, "a.txt").read_text() == "a\n"


def test_a_landing_cut_off_while_files_and_folders_changed_places_gives_way_to_nobody(shop: Shop) -> None:
    shop.commit("more", {"file": "f\n", "folder/a": "a\n", "other": "o\n", "place/b": "b\n"})
    old = shop.tip()
    new = shop.phase(
        "1",
        {"file": None, "file/in": "i\n", "folder/a": None, "folder": "f\n", "other": None, "other/in": "i\n",
         "place/b": None, "place": "p\n"},
    )  # fmt: skip
    shop.git("read-tree", "-m", "-u", old, new)
    shop.write("other/persons", "mine\n")
    shop.write("place", "mine too\n")
    (shop.root / ".git/asbuilt-landing").write_text(f"{old} {new}\n")
    intent = Intent(run=RUN, ref="refs/heads/main", old=old, new=new, checkout=str(shop.root))
    settled = recover(shop.repository, intent)
    assert isinstance(settled, NotMoved)
    assert settled.settled.left == ("other", "place", "place/b")
    assert (shop.root / "other/persons").read_text() == "mine\n"
    assert (shop.root / "place").read_text() == "mine too\n"
    assert (shop.root / "file").read_text() == "f\n"
    assert (shop.root / "folder/a").read_text() == "a\n"
    assert shop.git("diff", "--cached", "--name-only") == ""


def test_a_landing_cut_off_between_checkout_and_ref_is_undone_in_the_index_too(shop: Shop) -> None:
    old = shop.tip()
    new = shop.phase("1", {"src/app.py": "new\n", "added.py": "x\n", "README.md": None})
    shop.write("staged.txt", "staged\n")
    shop.git("add", "staged.txt")
    before = user_state(shop)
    shop.git("read-tree", "-m", "-u", old, new)
    (shop.root / ".git/asbuilt-landing").write_text(f"{old} {new}\n")
    intent = Intent(run=RUN, ref="refs/heads/main", old=old, new=new, checkout=str(shop.root))
    assert isinstance(recover(shop.repository, intent), NotMoved)
    assert user_state(shop) == before
