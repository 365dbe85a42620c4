"""Objects and refs that are read without a git of their own are what git itself reports."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from asbuilt.errors import GitFailed
from asbuilt.git.files import entries
from asbuilt.git.objects import compare, read_object
from asbuilt.git.refs import listed
from asbuilt.git.repository import checkouts_of, open_repository, tip
from asbuilt.git.workspace.snapshots import is_at

if TYPE_CHECKING:
    from tests.git.shop import Shop


def _readers(of: int) -> list[int]:
    listing = ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(of)]
    said = subprocess.run(listing, capture_output=True, check=True)
    return [int(line.split()[0]) for line in said.stdout.splitlines() if b"--batch-command" in line]


def test_trees_and_their_differences_are_those_that_git_reports(shop: Shop) -> None:
    before = shop.commit("before", {"a": "1", "b/c": "2", "b/d/e": "3", "b-c": "4", "x/y": "5", 'o\n"d': "6"})
    shop.git("rm", "-rq", "b", "x")
    (shop.root / "a").chmod(0o755)
    after = shop.commit("after", {"b": "now a file", "x/y/z": "now a folder", "b-c": "7"})
    for commit in (before, after):
        told = [f"{mode.decode()} {oid} {os.fsdecode(path)}" for path, (mode, oid) in
                entries(shop.repository.git, commit).items()]  # fmt: skip
        rows = shop.git("ls-tree", "-r", "-z", commit).split("\0")[:-1]
        assert sorted(told) == sorted(row.replace(" blob ", " ").replace("\t", " ") for row in rows)
    fields = shop.git("diff-tree", "-r", "-z", "--name-status", "--no-renames", before, after).split("\0")[
        :-1
    ]
    statuses = [
        ("A" if one.old is None else "D" if one.new is None else "M", os.fsdecode(one.path))
        for one in compare(shop.repository.git, before, after)
    ]
    assert statuses == [*zip(fields[::2], fields[1::2], strict=True)]


def test_objects_that_are_added_packed_or_read_after_a_kill_are_found(shop: Shop) -> None:
    git = shop.repository.git
    first = shop.commit("first", {"a": "1"})
    assert b"first" in read_object(git, first, "commit")
    second = shop.commit("second", {"a": "2"})
    shop.git("gc", "-q", "--prune=now")
    assert b"second" in read_object(git, second, "commit")
    for reader in _readers(os.getpid()):
        os.kill(reader, signal.SIGKILL)
    third = shop.commit("third", {"a": "3"})
    assert b"third" in read_object(git, third, "commit")
    with pytest.raises(GitFailed, match="there is no commit 000000000000"):
        read_object(git, "0" * 40, "commit")


def test_a_reader_ends_with_the_process_that_started_it(shop: Shop) -> None:
    commit = shop.commit("first", {"a": "1"})
    program = (
        "import sys, time; from pathlib import Path; from asbuilt.git.objects import read_object;"
        "from asbuilt.git.repository import open_repository;"
        f"read_object(open_repository(Path({str(shop.root)!r})).git, {commit!r}, 'commit');"
        "print('read', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as reading:
        assert reading.stdout is not None
        assert reading.stdout.readline() == b"read\n"
        (reader,) = _readers(reading.pid)
        reading.kill()
    for _ in range(200):
        if not os.path.exists(f"/proc/{reader}/fd/0"):  # noqa: PTH110
            return
        subprocess.run(["sleep", "0.05"], check=True)  # noqa: S607
    pytest.fail(f"git {reader} is still there")


def test_refs_are_those_that_git_lists_loose_packed_and_symbolic(shop: Shop) -> None:
    first = shop.commit("first", {"a": "1"})
    for name in ("v1", "deep/v2", "v3"):
        shop.git("tag", name)
    shop.git("pack-refs", "--all")
    second = shop.commit("second", {"a": "2"})
    shop.git("tag", "-f", "v3")
    shop.git("tag", "v4")
    shop.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    assert listed(shop.repository, "refs/tags/") == [
        ("refs/tags/deep/v2", first), ("refs/tags/v1", first), ("refs/tags/v3", second),
        ("refs/tags/v4", second),
    ]  # fmt: skip
    assert listed(shop.repository, "refs/tags/v*") == [
        (f"refs/tags/{name}", at) for name, at in (("v1", first), ("v3", second), ("v4", second))
    ]
    assert [tip(shop.repository, f"refs/heads/{name}") for name in ("main", "alias", "none")] == [
        second, second, None,
    ]  # fmt: skip


def test_a_branch_is_checked_out_also_while_a_rebase_has_detached_it(shop: Shop) -> None:
    shop.commit("first", {"a": "1"})
    shop.git("branch", "other")
    assert [one.path for one in checkouts_of(shop.repository, "refs/heads/main")] == [shop.root]
    assert checkouts_of(shop.repository, "refs/heads/other") == ()
    shop.git("switch", "-q", "other")
    shop.commit("theirs", {"a": "2"})
    shop.git("switch", "-q", "main")
    shop.commit("ours", {"a": "3"})
    shop.git("rebase", "other", check=False)
    assert [one.path for one in checkouts_of(shop.repository, "refs/heads/main")] == [shop.root]


def test_a_setting_that_changes_is_read_again_at_once(shop: Shop) -> None:
    assert shop.repository.file_mode
    shop.git("config", "core.fileMode", "false")
    assert not open_repository(shop.root).file_mode


def test_files_that_git_does_not_store_are_no_change(shop: Shop) -> None:
    commit = shop.commit("first", {"a": "1"})
    workspace = shop.workspace()
    (workspace.path / ".gitmodules").symlink_to("a")
    tree = shop.git("rev-parse", f"{commit}^{{tree}}")
    assert is_at(shop.repository, workspace.path, tree)
    (workspace.path / "b").write_text("new")
    assert not is_at(shop.repository, workspace.path, tree)
