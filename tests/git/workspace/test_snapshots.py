"""A snapshot holds every file that an agent made, as it is, and runs nothing of theirs."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from asbuilt.errors import GitFailed, TreeTooLarge, UsageWrong
from asbuilt.git.workspace.checkouts import clean_checkout
from asbuilt.git.workspace.snapshots import kept, let_go
from asbuilt.git.workspace.workspaces import remove, reset_to
from asbuilt.ports import Kept
from tests.git.shop import Shop, picture, user_state

if TYPE_CHECKING:
    from pathlib import Path


def _tree(shop: Shop, ref: str) -> list[str]:
    listed = shop.git("ls-tree", "-r", "-z", ref).split("\0")[:-1]
    return sorted(f"{line.split(' ')[0]} {line.split(chr(9), 1)[1]}" for line in listed)


def _refs(shop: Shop) -> list[str]:
    return shop.git("for-each-ref", "--format=%(refname)", "refs/asbuilt").splitlines()


def test_tracked_untracked_and_removed_files_are_kept_and_ignored_ones_named(shop: Shop) -> None:
    workspace = shop.workspace()
    before = user_state(shop)
    shop.write("src/app.py", "changed\n", at=workspace.path)
    (workspace.path / "README.md").unlink()
    shop.write("new/a.py", "new\n", at=workspace.path)
    (workspace.path / "new/a.py").chmod(0o755)
    (workspace.path / "link").symlink_to("/etc/passwd")
    shop.write("my.env", "SECRET\n", at=workspace.path)
    shop.write("build/a.o", "12345", at=workspace.path)
    shop.write("build/deep/b.o", "678", at=workspace.path)
    files = picture(workspace.path)

    found = shop.keep(workspace)

    assert found == Kept(
        commit=shop.git("rev-parse", "refs/asbuilt/attempts/01hzy.rate-limit.1.1"),
        tree=shop.git("rev-parse", "refs/asbuilt/attempts/01hzy.rate-limit.1.1^{tree}"),
        ref="refs/asbuilt/attempts/01hzy.rate-limit.1.1",
        ignored=(("build/", 8), ("my.env", 7)),
    )
    assert _tree(shop, found.ref) == [
        "100644 .gitignore",
        "100644 src/app.py",
        "100755 new/a.py",
        "120000 link",
    ]
    assert shop.git("log", "--format=%an|%cn|%aI|%cI|%P", found.ref, "-1") == (
        f"asbuilt|asbuilt|2026-01-02T03:04:05Z|2026-01-02T03:04:05Z|{shop.tip()}".replace("Z", "+00:00")
    )
    assert picture(workspace.path) == files
    assert user_state(shop) == before


def test_the_same_files_are_the_same_ref_and_other_files_go_on_top(shop: Shop) -> None:
    workspace = shop.workspace()
    shop.write("a.py", "1\n", at=workspace.path)
    first = shop.keep(workspace)
    assert shop.keep(workspace) == first
    shop.write("a.py", "2\n", at=workspace.path)
    second = shop.keep(workspace)
    assert second.ref == first.ref
    assert shop.git("log", "-1", "--format=%P", second.ref) == f"{shop.tip()} {first.commit}"
    reset_to(shop.repository, workspace, shop.tip(), kept=second)
    remove(shop.repository, workspace)
    assert shop.keep(workspace).commit == second.commit
    with pytest.raises(GitFailed, match="there is no workspace"):
        shop.keep(workspace, "never")
    assert kept(shop.repository, "never") is None
    let_go(shop.repository, "01hzy.rate-limit.1.1", second.commit)
    let_go(shop.repository, "01hzy.rate-limit.1.1", second.commit)
    assert _refs(shop) == []


def test_nested_repositories_are_kept_by_content(shop: Shop) -> None:
    workspace = shop.workspace()
    for name in ("nested", "empty", "src/inner"):
        shop.git("init", "-q", str(workspace.path / name))
    shop.commit("inside", {"lib.py": "x\n", ".gitignore": "out/\n"}, at=workspace.path / "nested")
    shop.write("nested/out/o.bin", "ignored there\n", at=workspace.path)
    shop.write("nested/fresh.env", "ignored from above\n", at=workspace.path)
    shop.write("src/inner/untracked.py", "y\n", at=workspace.path)
    shop.write("linked/file.py", "z\n", at=workspace.path)
    shop.write("linked/.git", "gitdir: /nowhere\n", at=workspace.path)
    found = shop.keep(workspace)
    assert _tree(shop, found.ref) == [
        "100644 .gitignore",
        "100644 README.md",
        "100644 linked/file.py",
        "100644 nested/.gitignore",
        "100644 nested/lib.py",
        "100644 src/app.py",
        "100644 src/inner/untracked.py",
    ]
    assert found.ignored == (("nested/fresh.env", 19), ("nested/out/", 14))


def test_a_submodule_stays_a_link_where_nobody_filled_it(shop: Shop) -> None:
    commit = shop.tip()
    shop.git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
    shop.git("commit", "-q", "-m", "sub")
    workspace = shop.workspace()
    assert (workspace.path / "sub").is_dir()
    assert shop.keep(workspace).tree == shop.git("rev-parse", "HEAD^{tree}")
    shop.write("sub/file", "content\n", at=workspace.path)
    assert "100644 sub/file" in _tree(shop, shop.keep(workspace, "filled").ref)


def test_strange_names_and_kinds_are_kept_or_named(shop: Shop, tmp_path: Path) -> None:
    workspace = shop.workspace()
    root = os.fsencode(workspace.path)
    names = [
        b"new\nline",
        b"-dash",
        b"--force",
        b"\xff\xfe",
        b":(glob)x",
        b"*",
        b"a b",
        b'"q"',
        b"Case",
        b"case",
    ]
    names += [b"\\back", b"git~1", b" ", "ünï".encode(), b"!not", b"#hash", b"$(touch x)", b"a\tb"]
    for name in names:
        with open(os.path.join(root, name), "wb") as file:  # noqa: PTH118, PTH123
            file.write(name)
    os.mkfifo(workspace.path / "pipe")
    (workspace.path / ".GIT").mkdir()
    (workspace.path / ".GIT/x").write_text("no content\n")
    monkey = socket.socket(socket.AF_UNIX)
    here = os.open(workspace.path, os.O_RDONLY)
    monkey.bind(f"/proc/self/fd/{here}/sock")
    monkey.close()
    os.close(here)
    found = shop.keep(workspace)
    listed = {line.split(" ", 1)[1] for line in _tree(shop, found.ref)}
    assert listed - {".gitignore", "README.md", "src/app.py"} == {os.fsdecode(name) for name in names}
    assert [name for name, _ in found.ignored] == ["pipe", "sock"]
    clean_checkout(shop.repository, found.tree, tmp_path / "clean")
    for name in names:
        with open(os.path.join(os.fsencode(tmp_path / "clean"), name), "rb") as file:  # noqa: PTH118, PTH123
            assert file.read() == name


def test_a_tracked_file_counts_even_where_it_is_ignored(shop: Shop) -> None:
    shop.write("build/keep.txt", "tracked\n")
    shop.write("tracked.env", "tracked\n")
    shop.git("add", "-f", "build/keep.txt", "tracked.env")
    shop.git("commit", "-q", "-m", "forced")
    workspace = shop.workspace()
    shop.write("build/keep.txt", "changed\n", at=workspace.path)
    shop.write("build/other.txt", "ignored\n", at=workspace.path)
    (workspace.path / "tracked.env").unlink()
    found = shop.keep(workspace)
    assert [line for line in _tree(shop, found.ref) if "build" in line or "env" in line] == [
        "100644 build/keep.txt"
    ]
    assert shop.git("show", f"{found.ref}:build/keep.txt") == "changed"
    assert found.ignored == (("build/other.txt", 8),)


def test_what_programs_leave_for_their_next_run_is_no_work_even_without_an_ignore_file(shop: Shop) -> None:
    workspace = shop.workspace()
    for left in ("src/__pycache__/app.pyc", "node_modules/left/index.js", ".pytest_cache/README.md"):
        shop.write(left, "made\n", at=workspace.path)
    shop.write("src/new.py", "new\n", at=workspace.path)
    found = shop.keep(workspace)
    assert "100644 src/new.py" in _tree(shop, found.ref)
    assert found.ignored == ((".pytest_cache/", 5), ("node_modules/", 5), ("src/__pycache__/", 5))


def test_the_users_own_ignore_files_count(shop: Shop) -> None:
    (shop.root / ".git/info/exclude").write_text("local-only\n")
    (shop.home / "ignores").write_text(".idea/\n")
    shop.git("config", "--global", "core.excludesFile", "~/ignores")
    workspace = shop.workspace()
    shop.write("local-only", "x\n", at=workspace.path)
    shop.write(".idea/x.xml", "x\n", at=workspace.path)
    assert shop.keep(workspace).ignored == ((".idea/", 2), ("local-only", 2))


def test_files_that_changed_their_kind_are_kept_as_they_are_now(shop: Shop) -> None:
    shop.commit("more", {"folder/a": "a\n", "file": "f\n", "plain": "p\n"})
    workspace = shop.workspace()
    shop.git("rm", "-rq", "folder", at=workspace.path)
    shop.write("folder", "now a file\n", at=workspace.path)
    (workspace.path / "file").unlink()
    shop.write("file/inside", "now a folder\n", at=workspace.path)
    (workspace.path / "plain").unlink()
    (workspace.path / "plain").symlink_to("file")
    (workspace.path / "src/app.py").unlink()
    (workspace.path / "src").rmdir()
    (workspace.path / "src").symlink_to("/etc")
    found = shop.keep(workspace)
    assert _tree(shop, found.ref) == [
        "100644 .gitignore",
        "100644 README.md",
        "100644 file/inside",
        "100644 folder",
        "120000 plain",
        "120000 src",
    ]


def test_a_change_that_hides_behind_an_old_time_is_seen(shop: Shop) -> None:
    workspace = shop.workspace()
    path = workspace.path / "src/app.py"
    times = path.stat()
    path.write_text("ONE\nTWO\nTHREE\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert shop.git("show", f"{shop.keep(workspace).ref}:src/app.py") == "ONE\nTWO\nTHREE"


def test_files_over_the_caps_are_named_and_nothing_is_written(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("asbuilt.git.workspace.snapshots.FILE_CAP", 5_000_000)
    monkeypatch.setattr("asbuilt.git.workspace.snapshots.TREE_CAP", 8_000_000)
    shop.write("tracked.bin", b"0" * 6_000_000)
    shop.commit("a large file of the user's")
    workspace = shop.workspace()
    shop.keep(workspace, "unchanged")
    objects = shop.git("count-objects")
    shop.write("huge.bin", b"1" * 7_000_000, at=workspace.path)
    before = picture(workspace.path)
    with pytest.raises(TreeTooLarge) as one:
        shop.keep(workspace)
    assert (one.value.what, one.value.why) == (
        "the attempt's files are too large to keep: huge.bin (7 MB)",
        (
            "A snapshot takes 5 MB a file and 8 MB in all; new and changed files are 7 MB. "
            "Nothing was written; the workspace stays as is."
        ),
    )
    (workspace.path / "huge.bin").unlink()
    for number in range(3):
        shop.write(f"part{number}.bin", bytes([number]) * 3_000_000, at=workspace.path)
    with pytest.raises(TreeTooLarge, match=r"part0.bin \(3 MB\), part1.bin \(3 MB\), part2.bin \(3 MB\)"):
        shop.keep(workspace)
    assert _refs(shop) == ["refs/asbuilt/attempts/unchanged"]
    assert shop.git("count-objects") == objects
    assert "huge.bin" in before


def test_a_folder_that_cannot_be_read_stops_a_snapshot_with_words(shop: Shop) -> None:
    workspace = shop.workspace()
    at = os.open(workspace.path, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=at)
        deeper = os.open("d" * 200, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = deeper
    os.close(at)
    with pytest.raises(GitFailed, match="cannot be read: file name too long"):
        shop.keep(workspace)
    assert _refs(shop) == []


@pytest.mark.parametrize(
    "attempt", ["", "..", "a..b", "a.lock", "-x/.y", "a b", "a\nb", "a~1", "x/", "@{", "a:b"]
)
def test_an_attempt_with_a_name_that_git_does_not_take_is_refused(shop: Shop, attempt: str) -> None:
    workspace = shop.workspace()
    with pytest.raises(UsageWrong):
        shop.keep(workspace, attempt)
    assert _refs(shop) == []
